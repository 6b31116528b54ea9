"""Mutants drawn at random: from cells, pages, readings and what the built pages show."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from verifiedbook.pytest_plugin.near_claims import ID, claims_near

from . import pages, sites
from .mutant import PARTS, Maker, Mutant
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
    kind: str, name: str, index: int, text: str, claims: tuple[str, ...],
    field: tuple[str, ...] = (), *, prose: bool = False, reach: tuple[int, int] | None = None,
    **options: bool,
) -> Maker:  # fmt: skip
    """What draws a site of a text, or of the part of it that lies within reach."""
    start, end = reach or (0, len(text))

    def make(chance: random.Random) -> Mutant | None:
        every = sites.in_prose(text) if prose else sites.in_code(text, **options)
        site = chosen([s for s in every if start <= s.start and s.end <= end], chance)
        return site and Mutant(kind, name, index, site.way, text, site, claims, field)

    return make


def _code(root: Path) -> Iterator[Maker]:
    return _of_cells("code", root, lambda cell: cell["cell_type"] == "code" and not draws(cell))


def _prose(root: Path) -> Iterator[Maker]:
    yield from _of_cells("prose", root, lambda cell: cell["cell_type"] == "markdown", prose=True)
    yield from _captions(root)
    for path in sorted((root / "book").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        name, place = path.relative_to(root).as_posix(), 0
        for part in re.split(r"(\n\n+)", text):  # by paragraph
            reach = place, place + len(part)
            yield _maker("prose", name, -1, text, tuple(ID.findall(part)), prose=True, reach=reach)
            place += len(part)


def _captions(root: Path) -> Iterator[Maker]:
    """What is said of plots beside their code, in the metadata of the cell."""
    for path, cells in notebooks(root):
        sources = [cell["source"] for cell in cells]
        name = path.relative_to(root).as_posix()
        for index, cell in enumerate(cells):
            for field, text in _fields(cell["metadata"].get("mystnb"), ("metadata", "mystnb")):
                near = claims_near(sources, index)
                yield _maker("prose", name, index, text, near, field, prose=True)


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
                yield _maker(
                    "reading", path.relative_to(root).as_posix(), -1, text, (entry["id"],),
                    (entry["id"], *field), prose=not executable(field),
                )  # fmt: skip


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
    for home, _ in PARTS.values():
        for path in sorted((root / home).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if "/commands/" not in name:
                yield _maker("library", name, -1, path.read_text(encoding="utf-8"), ())


def executable(field: tuple[str, ...]) -> bool:
    """Whether a field of a reading is something that runs, and not a text."""
    return field[-1] not in ("text", "false_if")


UNITS: dict[str, Callable[[Path], Iterator[Maker]]] = {
    "code": _code, "prose": _prose, "reading": _reading, "experiment": _experiment,
    "figure": _figure, "page": pages.units, "library": _library,
}  # fmt: skip
