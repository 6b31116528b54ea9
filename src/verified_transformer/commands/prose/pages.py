"""The texts of a notebook or page, and what they may refer to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..notebooks.comparing import lines
from .owners import Page, faults


def read(notebook: Path) -> Any:
    """Return a notebook."""
    import nbformat

    return nbformat.read(notebook, as_version=4)


def page(book: Any, sources: frozenset[str] = frozenset()) -> Page:
    """Return what the texts of a notebook may refer to: lines that cells print or charts tell.

    A line with digits that stands in its cell as it is printed was typed, and owns nothing.
    """
    printed = [
        line
        for cell in book.cells
        for output in cell.get("outputs", [])
        for line in _told(output)
        if not (any(map(str.isdigit, line)) and line.strip() in cell.source)
    ]
    return Page(tuple(printed), sources)


def _told(output: Any) -> list[str]:
    """The lines that an output prints, or that a chart tells."""
    if output.get("output_type") == "stream":
        return lines({"outputs": [output]}, ())
    told = str(output.get("data", {}).get("text/plain", ""))
    return told.splitlines() if told.startswith("[chart]") else []


def notebook_faults(notebook: Path, sources: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield what in the prose of a notebook has no owner, or one that does not own it.

    Args:
        notebook: path of the ``.ipynb`` file.
        sources: keys of the bibliography.
    """
    book = read(notebook)
    known = page(book, sources)
    for index, cell in enumerate(book.cells):
        if cell.cell_type == "markdown":
            for fault in faults(cell.source, known):
                yield f"{notebook.name}, cell {index}: {fault}"


def text_faults(page: Path, sources: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the same of a Markdown page, which prints nothing, but may say what a notebook prints.

    Args:
        page: path of the ``.md`` file, in a folder beside ``notebooks``.
        sources: keys of the bibliography.
    """
    known = Page((), sources, elsewhere=partial(_elsewhere, page.parents[1]))
    for fault in faults(page.read_text(encoding="utf-8"), known):
        yield f"{page.name}: {fault}"


def _elsewhere(root: Path, notebook: str) -> tuple[str, ...]:
    if not (root / notebook).is_file():
        raise ValueError(f"there is no notebook {notebook}")
    return tuple(page(read(root / notebook)).printed)
