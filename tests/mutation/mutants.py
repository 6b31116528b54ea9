"""Mutants drawn at random: from cells, pages, readings and what the built pages show."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from near_claims import ID, claims_near

from . import pages, sites
from .mutant import LIBRARY, PARTS, Maker, Mutant
from .sites import chosen

DRAWS = re.compile(r"\bdrawings\.\w+\(|\b(?:live|Drawing)\(")
ROUNDS = 30  # of all places, where there are fewer than mutants are wanted


def draw(kind: str, root: Path, n: int, salt: str, chapter: str = "") -> list[Mutant]:
    """Draw mutants of a kind, every cell, reading or box as likely as another.

    Args:
        kind: one of `KINDS`.
        root: the repository; for "page" the folder of the built pages.
        n: how many; fewer where the chapter has not so many.
        salt: what the draw hangs on, beside the kind.
        chapter: its number, or all.
    """
    chance = random.Random(f"{salt} {kind} {chapter}")
    waiting = list(UNITS[kind](root))
    chance.shuffle(waiting)
    found: dict[str, Mutant] = {}
    for make in waiting * ROUNDS:
        mutant = make(chance)
        if mutant and mutant.changed != mutant.text and chapter in ("", mutant.chapter):
            found.setdefault(mutant.description, mutant)
        if len(found) == n:
            break
    return list(found.values())


def notebooks(root: Path) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """The notebooks with their cells, sources joined."""
    for path in sorted((root / "notebooks").glob("*/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for cell in cells:
            cell["source"] = "".join(cell["source"])
        yield path, cells


def _of_cells(
    kind: str, root: Path, wanted: Callable[[dict[str, Any]], bool], **options: bool
) -> Iterator[Maker]:
    for path, cells in notebooks(root):
        first = next(i for i, cell in enumerate(cells) if cell["cell_type"] == "code")
        sources = [cell["source"] for cell in cells]
        for index, cell in enumerate(cells):
            if index != first and wanted(cell):
                yield _maker(
                    kind, path.relative_to(root).as_posix(), index, cell["source"],
                    claims_near(sources, index), **options,
                )  # fmt: skip


def _maker(
    kind: str, name: str, index: int, text: str, claims: tuple[str, ...], **options: bool
) -> Maker:
    def make(chance: random.Random) -> Mutant | None:
        prose = kind == "prose"
        found = list(sites.in_prose(text) if prose else sites.in_code(text, **options))
        site = chosen(found, chance)
        return site and Mutant(kind, name, index, site.way, text, site, claims)

    return make


def _code(root: Path) -> Iterator[Maker]:
    return _of_cells("code", root, lambda cell: cell["cell_type"] == "code" and not draws(cell))


def _prose(root: Path) -> Iterator[Maker]:
    yield from _of_cells("prose", root, lambda cell: cell["cell_type"] == "markdown")
    yield from _captions(root)
    for path in sorted((root / "book").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        whole = re.split(r"(\n\n+)", text)
        place = 0
        for part in whole:
            yield _paragraph(path.relative_to(root).as_posix(), text, place, part)
            place += len(part)


def _captions(root: Path) -> Iterator[Maker]:
    """What is said of plots beside their code, in the metadata of the cell."""
    for path, cells in notebooks(root):
        sources = [cell["source"] for cell in cells]
        for index, cell in enumerate(cells):
            for field, text in _fields(cell["metadata"].get("mystnb"), ("metadata", "mystnb")):
                yield _caption(
                    path.relative_to(root).as_posix(), index, field, text,
                    claims_near(sources, index),
                )  # fmt: skip


def _caption(
    name: str, index: int, field: tuple[str, ...], text: str, claims: tuple[str, ...]
) -> Maker:
    def make(chance: random.Random) -> Mutant | None:
        site = chosen(list(sites.in_prose(text)), chance)
        return site and Mutant("prose", name, index, site.way, text, site, claims, field)

    return make


def _paragraph(name: str, text: str, place: int, part: str) -> Maker:
    def make(chance: random.Random) -> Mutant | None:
        inside = [
            s for s in sites.in_prose(text) if place <= s.start and s.end <= place + len(part)
        ]
        site = chosen(inside, chance)
        return site and Mutant("prose", name, -1, site.way, text, site, tuple(ID.findall(part)))

    return make


def _experiment(root: Path) -> Iterator[Maker]:
    return _of_cells("experiment", root, lambda cell: ".experiment(" in cell["source"])


def draws(cell: dict[str, Any]) -> bool:
    """Whether a cell shows a picture: a plot, a drawing or a live figure."""
    return bool(DRAWS.search(cell["source"])) or any(
        kind.startswith("image/")
        for output in cell.get("outputs", ())
        for kind in output.get("data", {})
    )


def _figure(root: Path) -> Iterator[Maker]:
    return _of_cells("figure", root, draws, words=True)


def _reading(root: Path) -> Iterator[Maker]:
    for path in sorted((root / "src/verified_transformer/book/claims").glob("*.yaml")):
        data = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for entry in data["claims"]:
            for field, text in _fields(entry.get("reading"), ("reading",)):
                yield _field(path.relative_to(root).as_posix(), entry["id"], field, text)


def _fields(data: Any, trail: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(data, str):
        yield trail, data
    elif isinstance(data, dict):
        for key, value in data.items():
            if key != "uses":
                yield from _fields(value, (*trail, str(key)))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _fields(value, (*trail, str(index)))


def _library(root: Path) -> Iterator[Maker]:
    """Modules that a check reaches: all but the commands, which run beside the notebooks."""
    for part in PARTS:
        for path in sorted((root / LIBRARY / part).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if "/commands/" not in name:
                yield _maker("library", name, -1, path.read_text(encoding="utf-8"), ())


def _field(name: str, claim: str, field: tuple[str, ...], text: str) -> Maker:
    def make(chance: random.Random) -> Mutant | None:
        found = list(sites.in_code(text) if executable(field) else sites.in_prose(text))
        site = chosen(found, chance)
        return site and Mutant("reading", name, -1, site.way, text, site, (claim,), (claim, *field))

    return make


def executable(field: tuple[str, ...]) -> bool:
    """Whether a field of a reading is something that runs, and not a text."""
    return field[-1] not in ("text", "false_if")


UNITS: dict[str, Callable[[Path], Iterator[Maker]]] = {
    "code": _code, "prose": _prose, "reading": _reading, "experiment": _experiment,
    "figure": _figure, "page": pages.units, "library": _library,
}  # fmt: skip
