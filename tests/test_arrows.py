"""The plan of the library: which part, and in the engine which wing, may import which."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "verified_transformer"
PERMITTED = {
    "models": set(),
    "engine": set(),  # its own file, which names the book's folder
    "engine/account": {"engine"},
    "engine/exact": set(),
    "engine/sampling": {"engine/exact"},
    "engine/checks": {"engine", "engine/account", "engine/exact", "engine/sampling"},
    # models for `initial-loss` and `widen`
    "engine/commands": {"engine", "engine/account", "engine/exact", "models"},
    # account for the parts of a recorded experiment
    "book": {"engine/account", "engine/exact", "engine/sampling", "models"},
}


def forbidden(package: Path) -> list[str]:
    """Say which imports of a package run where no arrow does."""
    return [
        f"{path.relative_to(package)}: {wing} imports {other}"
        for path in sorted([*package.glob("*/**/*.py"), *package.glob("*/**/*.pyi")])
        for wing in [wing_of(path.relative_to(package).parts[:-1])]
        for other in imported(path, package)
        if other not in {*PERMITTED[wing], wing, "seeds", "writing"}
    ]


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
            if parts[0] == package.name and len(parts) > 1:
                yield wing_of([part for part in parts[1:] if part[0].islower()])


def test_every_import_follows_a_permitted_arrow() -> None:
    assert forbidden(PACKAGE) == []


def test_no_wing_is_left_out() -> None:
    rooms = [path.parent.relative_to(PACKAGE).parts for path in PACKAGE.glob("*/**/__init__.py")]
    assert {wing_of(parts) for parts in rooms} == set(PERMITTED)


@pytest.mark.canary
def test_an_arrow_that_runs_back_up_is_found(tmp_path: Path) -> None:
    package = tmp_path / "verified_transformer"
    for wing in PERMITTED:
        (package / wing).mkdir(parents=True, exist_ok=True)
    text = "from ..sampling.design import Design\nfrom verified_transformer.book import drawings\n"
    (package / "engine" / "account" / "ledger.py").write_text(text, encoding="utf-8")
    assert forbidden(package) == [
        "engine/account/ledger.py: engine/account imports engine/sampling",
        "engine/account/ledger.py: engine/account imports book",
    ]
