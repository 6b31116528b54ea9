"""Which book is served: where its claims stand, how its articles follow each other, who imports it.

A book that is a package says so when it is imported (`serve`). Any other says it in a table
``[tool.verifiedbook]`` of its ``pyproject.toml``, looked for from the working folder upwards:

- ``claims``: the folder of its claims files and of its lock;
- ``recordings``, ``experiments``: the folder of what long runs gave, and the package that has them;
- ``words``: patterns of files, beside notebooks and claims, whose words are locked;
- ``symbols``: names that formulas may use beside those of the notation, each with its kind:
  ``symbols = {L = "size"}``, accepted being ``size``, ``positive`` and ``real``;
- ``package``: of a book that is one, its name alone; it is imported then.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

OWN = "book"  # key of the statements that a book adds to the articles'
LOCK, PUBLISHED = "verdicts.lock", "published.lock"
_NOTEBOOKS = ("notebooks/*/*.ipynb", "notebooks/*/*.owners")
_KEYS = {"package", "claims", "recordings", "experiments", "words", "symbols"}
_IN_MAKE = {"refresh": "NOTEBOOK", "verify": "CLAIM", "lock": "REASON"}
SYMBOL_KINDS = ("size", "positive", "real")


class NoBook(ValueError):
    """No book is served; the message says how one is."""


@dataclass(frozen=True)
class Book:
    """A book that is served.

    Attributes:
        claims: the folder of its claims files, with ``exercises`` and the locks.
        place: where that folder lies in the repository.
        chapters: the number of the chapter that mirrors an article, by the article's key.
        recordings: the folder of what long experiments gave.
        experiments: the package that has them, as an import has it; empty where there is none.
        package: the folder of the package that notebooks import, where there is one.
        command: how its commands are called.
        makefile: whether a Makefile calls them, which sets up what they need.
        note: what else stands below their help.
        words: patterns of the files whose words are locked, beneath the repository.
        symbols: by name, the kind of a symbol that the notation lacks.
    """

    claims: Path
    place: str
    chapters: Mapping[str, int]
    recordings: Path
    experiments: str = ""
    package: Path | None = None
    command: str = "python -m verifiedbook"
    makefile: bool = False
    note: str = ""
    words: tuple[str, ...] = _NOTEBOOKS
    symbols: Mapping[str, str] = field(default_factory=dict)

    def to_run(self, command: str, of: str) -> str:
        """Return what to type for one of its commands: ``refresh``, ``verify`` or ``lock``.

        Args:
            command: which.
            of: the notebook, the claim's id or the reason.

        Example:
            >>> Book(Path("claims"), "claims", {}, Path("runs")).to_run("verify", "LOSS-14")
            'python -m verifiedbook verify LOSS-14'
        """
        if self.makefile:
            return f"make {command} {_IN_MAKE[command]}={of}"
        return f"{self.command} {command} {'--reason ' if command == 'lock' else ''}{of}"

    @property
    def lock(self) -> Path:
        """The lock on what is said and decided."""
        return self.claims / LOCK

    @property
    def published(self) -> Path:
        """The lock of the last release."""
        return self.claims / PUBLISHED


_served: list[Book] = []


def serve(book: Book) -> Book:
    """Serve a book in this process, instead of any before, and return it."""
    _served[:] = [book]
    return book


def served() -> Book:
    """Return the book that is served.

    Raises:
        NoBook: none is, and no ``pyproject.toml`` from the working folder upwards names one.
    """
    if not _served:
        for folder in (Path.cwd(), *Path.cwd().parents):
            if said := _said(folder / "pyproject.toml"):
                _found(folder, said)
                break
        else:
            raise NoBook(
                f"no book is served: no pyproject.toml from {Path.cwd()} upwards has a table "
                '[tool.verifiedbook]; accepted: one with claims = "…", the folder of claims files'
            )
    return _served[0]


def _said(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    found: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    return dict(found.get("tool", {}).get("verifiedbook", {}))


def _found(root: Path, said: Mapping[str, Any]) -> None:
    """Serve the book that a table names."""
    if unknown := {*said} - _KEYS or not {"package", "claims"} & {*said}:
        raise NoBook(
            f"{root / 'pyproject.toml'}: [tool.verifiedbook] has {sorted(said)}, of which "
            f"{unknown if unknown is not True else 'none says where the claims are'} cannot be; "
            f"accepted: claims or package, and of {sorted(_KEYS)} what else there is"
        )
    if "package" in said:
        try:
            importlib.import_module(said["package"])
        except ModuleNotFoundError as error:
            raise NoBook(
                f"{root / 'pyproject.toml'}: [tool.verifiedbook] has package {said['package']!r}, "
                f"and there is no module {error.name!r}; accepted: a package that is installed"
            ) from error
        if not _served:
            raise NoBook(f"package {said['package']!r} serves no book when it is imported")
        return
    symbols = said.get("symbols", {})
    if not isinstance(symbols, dict) or not all(
        name.isidentifier() and kind in SYMBOL_KINDS for name, kind in symbols.items()
    ):
        raise NoBook(
            f"{root / 'pyproject.toml'}: [tool.verifiedbook] has symbols {symbols!r}; accepted: "
            f"names, each with its kind, of {', '.join(SYMBOL_KINDS)}"
        )
    place = str(said["claims"])
    claims = root / place
    articles = sorted(file.stem for file in claims.glob("*.yaml") if file.stem != OWN)
    serve(
        Book(
            claims, place,
            MappingProxyType({key: number for number, key in enumerate(articles, 1)}),
            root / said.get("recordings", f"{place}/recordings"), said.get("experiments", ""),
            words=(*_NOTEBOOKS, f"{place}/**/*.yaml", *said.get("words", ())),
            symbols=MappingProxyType(symbols),
        )
    )  # fmt: skip
