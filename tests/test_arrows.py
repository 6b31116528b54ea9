"""The plan of our packages: which part, and in the engine which wing, may import which."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from verifiedbook.account.code import library

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "verified_transformer"
FACES = (*ROOT.glob("packages/*/src/*/__init__.py"), *ROOT.glob("experiments/*/__init__.py"))
ROOTS = {path.parent.name: path.parent for path in FACES}
ENGINE = "verifiedbook"  # whose wings are told apart
PERMITTED = {
    "weightwise": set(),
    "models": {"weightwise"},  # hands it on
    "engine": set(),  # hands verifiedbook on, of which it names all
    "verifiedbook": set(),  # its face
    "verifiedbook/account": set(),
    "verifiedbook/exact": set(),
    "verifiedbook/sampling": {"verifiedbook/exact"},
    "verifiedbook/checks": {f"verifiedbook/{wing}" for wing in ("account", "exact", "sampling")},
    "verifiedbook/commands": {"verifiedbook/account", "verifiedbook/exact"},
    "verifiedbook/pytest_plugin": {"verifiedbook/account", "verifiedbook/commands"},
    "verifiedbook/sphinx": {"verifiedbook/account"},
    "verifiedbook/drawings": set(),
    "verifiedbook/live_figures": {"verifiedbook/drawings", "verifiedbook/exact"},
    # account for the parts of a recorded experiment
    "long_runs": {"verifiedbook/account", "verifiedbook/sampling", "weightwise"},
    "book": {
        *(f"verifiedbook/{wing}" for wing in ("account", "exact", "sampling")),
        *(f"verifiedbook/{wing}" for wing in ("drawings", "live_figures", "figures")),
        "weightwise",
        "long_runs",
    },
}
BASE = {"moved", *(f"verifiedbook/{name}" for name in ("seeds", "writing", "serving"))}
LOOSE = {  # modules that are no wing
    "verifiedbook/figures": {"verifiedbook/account"},
    "verifiedbook/__main__": {"verifiedbook/commands"},
}


def forbidden(package: Path) -> list[str]:
    """Say which imports of a package run where no arrow does."""
    return [
        f"{path.relative_to(package)}: {wing} imports {other}"
        for path in modules_of(package)
        for wing in [wing_of(path.relative_to(package.parent).with_suffix("").parts)]
        for other in imported(path, package)
        if other not in {*(PERMITTED | LOOSE).get(wing, ()), wing, *BASE, package.name}
    ]


def modules_of(package: Path) -> list[Path]:
    """The modules that have arrows: of ours in parts, not the faces, which show names of all."""
    inside = "**/*.py*" if package.name in ROOTS else "*/**/*.py*"
    faces = {package, package / "engine"}
    found = (path for path in package.glob(inside) if path.suffix in (".py", ".pyi"))
    return sorted(path for path in found if path.parent not in faces or path.stem != "__init__")


def wing_of(parts: Sequence[str]) -> str:
    """Return the part of the library that a dotted name lies in, of the engine its wing."""
    if parts[0] == PACKAGE.name:
        return parts[1]
    return "/".join(parts[:2]) if parts[0] == ENGINE else parts[0]


def imported(path: Path, package: Path) -> Iterator[str]:
    """Yield the part that each import of a file reaches."""
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
            parts = [part for part in name if part and not part[0].isupper()]
            if parts[0] in ROOTS or (parts[0] == PACKAGE.name and len(parts) > 1):
                yield wing_of(parts)


def test_every_import_follows_a_permitted_arrow() -> None:
    assert [fault for root in (PACKAGE, *ROOTS.values()) for fault in forbidden(root)] == []


def test_every_package_is_sealed_and_found() -> None:
    assert {name: library().root(name) for name in ROOTS} == ROOTS


def test_no_wing_is_left_out() -> None:
    rooms = [
        path.parent.relative_to(home.parent).parts
        for home in (PACKAGE, ROOTS[ENGINE]) for path in home.glob("*/**/__init__.py")
    ]  # fmt: skip
    assert {wing_of(parts) for parts in rooms} | {*ROOTS} == set(PERMITTED)


@pytest.mark.canary
def test_an_arrow_that_runs_back_up_is_found(tmp_path: Path) -> None:
    package = tmp_path / "verifiedbook"
    (package / "account").mkdir(parents=True)
    text = "from ..sampling.design import Design\nfrom verified_transformer.book import layers\n"
    (package / "account" / "ledger.py").write_text(f"{text}from weightwise import grow\n", "utf-8")
    assert forbidden(package) == [
        "account/ledger.py: verifiedbook/account imports verifiedbook/sampling",
        "account/ledger.py: verifiedbook/account imports book",
        "account/ledger.py: verifiedbook/account imports weightwise",
    ]
    package = tmp_path / "weightwise"
    package.mkdir()
    text = "from verifiedbook.exact.laws import Normal\n"
    (package / "heads.py").write_text(text, encoding="utf-8")
    assert forbidden(package) == ["heads.py: weightwise imports verifiedbook/exact"]
    package = tmp_path / "verified_transformer"
    (package / "book").mkdir(parents=True)
    text = "from verifiedbook.commands import claims\n"
    (package / "book" / "layers.py").write_text(text, encoding="utf-8")
    assert forbidden(package) == ["book/layers.py: book imports verifiedbook/commands"]
