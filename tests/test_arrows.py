"""The plan of the library: which wing may import which."""

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
