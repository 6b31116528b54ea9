"""A mutant: one change of one file of the book, described so that it can be found again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from verified_transformer.served import BOOK

from .sites import Site

KINDS = ("code", "prose", "reading", "experiment", "figure", "page", "library")
LIBRARY = "src/verified_transformer"
PARTS = {  # of the library, by the folder of each, and of its tests
    "models": ("packages/weightwise/src/weightwise", "packages/weightwise/tests"),
    "engine": ("packages/verifiedbook/src/verifiedbook", "packages/verifiedbook/tests"),
    "book": (f"{LIBRARY}/book", "tests/book"),
    "experiments": ("experiments/long_runs", "tests/experiments"),
}
CHAPTERS = dict(BOOK.chapters)


@dataclass(frozen=True)
class Mutant:
    """A change of one file.

    Attributes:
        kind: one of `KINDS`.
        path: of the file, from the root.
        cell: index of the notebook's cell, or -1.
        way: the kind of change.
        text: what is changed, whole: a cell's source, a caption, a page, a field of a reading.
        site: where in it, and what stands there then.
        claims: the claims that the place is about, as far as the file says.
        field: of a reading or a caption: the keys that lead to the text.
    """

    kind: str
    path: str
    cell: int
    way: str
    text: str
    site: Site
    claims: tuple[str, ...] = ()
    field: tuple[str, ...] = ()

    @property
    def chapter(self) -> str:
        """The chapter by its number, "book" for the pages around them; of the library, the part."""
        if self.kind == "library":
            return next(p for p, (home, _) in PARTS.items() if self.path.startswith(f"{home}/"))
        found = re.search(r"notebooks/(\d)|chapter-(\d)", self.path)
        number = found and (found[1] or found[2])
        return number or str(CHAPTERS.get(Path(self.path).stem, "book"))

    @property
    def changed(self) -> str:
        """The text after the change."""
        return self.site.apply(self.text)

    @property
    def description(self) -> str:
        """Where and what, in a line that does not hang on the rest of the file."""
        before = self.text[max(0, self.site.start - 25) : self.site.start]
        old = self.text[self.site.start : self.site.end]
        after = self.text[self.site.end : self.site.end + 25]
        line = f"{before}[{_short(old)} -> {_short(self.site.new)}]{after}"
        where = " ".join((self.path, *self.field))
        return f"{self.kind} {where}: {' '.join(line.split())}"


def _short(text: str) -> str:
    return text if len(text) < 80 else f"{text[:40]} … {text[-25:]}"


Maker = Callable[[random.Random], Mutant | None]
