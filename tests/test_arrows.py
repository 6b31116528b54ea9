"""The plan of the library: which wing may import which, how full a floor is, how long a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "verified_transformer"
PERMITTED = {
    "account": set(),
    "exact": set(),
    "models": set(),
    "sampling": {"exact"},
    "checks": {"account", "exact", "sampling"},
    "lab": {"exact", "models", "sampling"},
    "experiments": {"exact", "models", "sampling"},
    "commands": {"account", "exact", "experiments", "models"},
}

MOST_LINES = 300
MOST_ROOMS = 9  # modules and packages in one folder; folders of data are no rooms
CROWDED = {  # waiting to be sorted; the numbers only shrink
    "checks": 11,
    "exact/moments": 10,
    "experiments": 10,  # a module for each one that is recorded, named by its file
    "lab": 11,
    "lab/live_figures": 10,
}


def too_long(package: Path) -> list[str]:
    """Say which files no longer fit in a head."""
    lengths = {p: len(p.read_text("utf-8").splitlines()) for p in sorted(package.rglob("*.py"))}
    return [
        f"{path.relative_to(package)}: {lines} lines, of {MOST_LINES}"
        for path, lines in lengths.items()
        if lines > MOST_LINES
    ]


def crowded(package: Path) -> list[str]:
    """Say which floors have too many rooms."""
    found = []
    for floor in sorted({init.parent for init in package.rglob("__init__.py")}):
        name = floor.relative_to(package).as_posix()
        modules = [p for p in floor.glob("*.py") if not p.stem.startswith("__")]
        rooms = len(modules) + len([*floor.glob("*/__init__.py")])
        if rooms != CROWDED.get(name, min(rooms, MOST_ROOMS)):
            found.append(f"{name}: {rooms} rooms, of {CROWDED.get(name, MOST_ROOMS)}")
    return found


def forbidden(package: Path) -> list[str]:
    """Say which imports of a package run where no arrow does."""
    return [
        f"{path.relative_to(package)}: {wing} imports {other}"
        for wing, allowed in PERMITTED.items()
        for path in sorted([*(package / wing).rglob("*.py"), *(package / wing).rglob("*.pyi")])
        for other in imported(path, package)
        if other not in allowed | {wing, "seeds"}
    ]


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
                yield parts[1]


def test_every_import_follows_a_permitted_arrow() -> None:
    assert forbidden(PACKAGE) == []


def test_no_wing_is_left_out() -> None:
    wings = {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()}
    assert wings == set(PERMITTED)


@pytest.mark.canary
def test_an_arrow_that_runs_back_up_is_found(tmp_path: Path) -> None:
    package = tmp_path / "verified_transformer"
    for wing in PERMITTED:
        (package / wing).mkdir(parents=True)
    text = "from ..sampling.design import Design\nfrom verified_transformer.exact import laws\n"
    (package / "account" / "ledger.py").write_text(text, encoding="utf-8")
    assert forbidden(package) == [
        "account/ledger.py: account imports sampling",
        "account/ledger.py: account imports exact",
    ]


def test_files_and_floors_are_small() -> None:
    assert too_long(PACKAGE) == [] and crowded(PACKAGE) == []


@pytest.mark.canary
def test_a_long_file_on_a_crowded_floor_is_found(tmp_path: Path) -> None:
    floor = tmp_path / "sampling"
    (floor / "data").mkdir(parents=True)
    for number in range(MOST_ROOMS + 1):
        text = "x = 1\n" * (MOST_LINES + (number == 3))
        (floor / f"room_{number}.py").write_text(text, encoding="utf-8")
    (floor / "__init__.py").touch()
    assert crowded(tmp_path) == ["sampling: 10 rooms, of 9"]
    assert too_long(tmp_path) == ["sampling/room_3.py: 301 lines, of 300"]
