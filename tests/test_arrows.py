"""The plan of our packages: which part, and in the engine which wing, may import which."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from verified_transformer.engine.account.code import library

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "verified_transformer"
ROOTS = {path.parent.name: path.parent for path in ROOT.glob("packages/*/src/*/__init__.py")}
PERMITTED = {
    "weightwise": set(),
    "models": {"weightwise"},  # hands it on
    "engine": set(),  # its own file, which names the book's folder
    "engine/account": {"engine"},
    "engine/exact": set(),
    "engine/sampling": {"engine/exact"},
    "engine/checks": {"engine", "engine/account", "engine/exact", "engine/sampling"},
    "engine/commands": {"engine", "engine/account", "engine/exact"},
    # account for the parts of a recorded experiment
    "book": {"engine/account", "engine/exact", "engine/sampling", "weightwise"},
}
BASE = {"verified_transformer": {"moved", "seeds", "writing"}}  # which all of its parts import


def forbidden(package: Path) -> list[str]:
    """Say which imports of a package run where no arrow does."""
    return [
        f"{path.relative_to(package)}: {wing} imports {other}"
        for path in modules_of(package)
        for wing in [
            package.name if package.name in ROOTS else wing_of(path.relative_to(package).parts[:-1])
        ]
        for other in imported(path, package)
        if other not in {*PERMITTED[wing], wing, *BASE.get(package.name, ())}
    ]


def modules_of(package: Path) -> list[Path]:
    """The modules that have arrows: of ours in parts, not the face, which shows names of all."""
    inside = "**/*.py*" if package.name in ROOTS else "*/**/*.py*"
    return sorted(path for path in package.glob(inside) if path.suffix in (".py", ".pyi"))


def wing_of(parts: Sequence[str]) -> str:
    """Return the part of the package, in the engine its wing, that a path or a name lies in."""
    return "/".join(parts[:2]) if parts[0] == "engine" else parts[0]


def imported(path: Path, package: Path) -> Iterator[str]:
    """Yield the wing (or room) of the package that each import of a file reaches."""
    home = path.relative_to(package.parent).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            start = home[: len(home) - node.level + 1] if node.level else ()
            reached = (*start, *(node.module or "").split("."))
            names = [(*reached, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        else:
            continue
        for name in names:
            parts = [part for part in name if part]
            if parts[0] in ROOTS:
                yield parts[0]
            elif parts[0] == PACKAGE.name and len(parts) > 1:
                yield wing_of([part for part in parts[1:] if part[0].islower()])


def test_every_import_follows_a_permitted_arrow() -> None:
    assert [fault for root in (PACKAGE, *ROOTS.values()) for fault in forbidden(root)] == []


def test_every_package_is_sealed_and_found() -> None:
    assert {name: library().root(name) for name in ROOTS} == ROOTS


def test_no_wing_is_left_out() -> None:
    rooms = [path.parent.relative_to(PACKAGE).parts for path in PACKAGE.glob("*/**/__init__.py")]
    assert {wing_of(parts) for parts in rooms} | {*ROOTS} == set(PERMITTED)


@pytest.mark.canary
def test_an_arrow_that_runs_back_up_is_found(tmp_path: Path) -> None:
    package = tmp_path / "verified_transformer"
    for wing in PERMITTED.keys() - ROOTS.keys():
        (package / wing).mkdir(parents=True, exist_ok=True)
    text = "from ..sampling.design import Design\nfrom verified_transformer.book import drawings\n"
    text += "from weightwise import grow\n"
    (package / "engine" / "account" / "ledger.py").write_text(text, encoding="utf-8")
    assert forbidden(package) == [
        "engine/account/ledger.py: engine/account imports engine/sampling",
        "engine/account/ledger.py: engine/account imports book",
        "engine/account/ledger.py: engine/account imports weightwise",
    ]
    package = tmp_path / "weightwise"
    package.mkdir()
    text = "from verified_transformer.engine.exact.laws import Normal\n"
    (package / "heads.py").write_text(text, encoding="utf-8")
    assert forbidden(package) == ["heads.py: weightwise imports engine/exact"]
