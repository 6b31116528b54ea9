"""Once: owners that stand in comments of the texts are put beside them; then `make owners`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat

from ...account import ledger
from . import pages
from .owners import Owned, parsed, written

_COMMENT = re.compile(r"\s*<!-- owners\n(.*?)-->", re.DOTALL)


def _apart(text: str, own: Owned) -> tuple[str, Owned]:
    """A text without its comments of owners, and its owners with theirs."""
    lets = [*own.lets]
    owners_of: dict[str, list[str]] = {}
    for comment in _COMMENT.findall(text):
        found = parsed(comment)[""]
        lets += found.lets
        for said, owners in found.rows:
            for one in [said] if "$" in said else said.split(";"):
                owners_of.setdefault(one.strip(), []).extend(owners)
    plain = _COMMENT.sub("", text)
    if plain == text:
        return text, own
    return plain.rstrip("\n") + "\n" * text.endswith("\n"), Owned(
        [*own.rows, *owners_of.items()], lets
    )


def main(root: Path) -> None:
    """Put the owners of every notebook and page beside it."""
    for path in [*ledger.notebooks(root), *sorted((root / "book").glob("*.md"))]:
        owned = pages.owners_of(path)
        if path.suffix == ".md":
            text, owned[""] = _apart(path.read_text(encoding="utf-8"), owned[""])
            path.write_text(text, encoding="utf-8")
        else:
            book = pages.read(path)
            before = [cell.source for cell in book.cells]
            for cell in book.cells:
                if cell.cell_type == "markdown":
                    own = owned.get(cell.id, Owned())
                    cell.source, owned[cell.id] = _apart(cell.source, own)
            if before != [cell.source for cell in book.cells]:
                nbformat.write(book, path)
        if said := written(owned):
            path.with_suffix(pages.SUFFIX).write_text(said, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
