"""The texts of a notebook or page, and what they may refer to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..notebooks.comparing import lines
from ..notebooks.sorts import parsed
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
        if not (any(map(str.isdigit, line)) and line.strip() in typed(cell.source))
    ]
    return Page(tuple(printed), sources)


@cache
def typed(code: str) -> str:
    """Return a cell's code, and as texts what it prints or formats of nothing but constants.

    Example:
        >>> typed('print("n", 44)').splitlines()
        ['print("n", 44)', 'n 44']
    """
    try:
        tree = parsed(code)
    except SyntaxError:
        return code
    found = [code]
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found.append(_constant(node) or "")
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            parts = [_constant(argument) for argument in node.args]
            found += [" ".join(map(str, parts))] if None not in parts else []
    return "\n".join(found)


def _constant(node: ast.expr) -> str | None:
    """The text of a constant, or of an f-string of constants; None where it computes."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.FormattedValue) and not node.format_spec:
        return _constant(node.value)
    parts = [_constant(part) for part in node.values] if isinstance(node, ast.JoinedStr) else [None]
    return None if None in parts else "".join(map(str, parts))


def _told(output: Any) -> list[str]:
    """The lines that an output prints, or that a chart tells."""
    if output.get("output_type") == "stream":
        return lines({"outputs": [output]}, ())
    told = str(output.get("data", {}).get("text/plain", ""))
    return told.splitlines() if told.startswith("[chart]") else []


def notebook_faults(notebook: Path, sources: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield what in the prose of a notebook has no owner, or one that does not own it."""
    book = read(notebook)
    known = page(book, sources)
    for index, cell in enumerate(book.cells):
        if cell.cell_type == "markdown":
            for fault in faults(cell.source, known):
                near = _near([cell.source for cell in book.cells], index)
                yield f"{notebook.name}, cell {index}{near}: {fault}"


def _near(sources: list[str], index: int) -> str:
    """The claims of a cell: those that it names, or else the next one that names any."""
    for source in sources[index:]:
        if named := dict.fromkeys(re.findall(r"\b[A-Z]{3,5}-\d\d\b", source)):
            return f" ({', '.join(named)})"
    return ""


def text_faults(page: Path, sources: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the same of a Markdown page, which prints nothing, but may say what a notebook prints.

    Args:
        page: path of the ``.md`` file, in a folder beside ``notebooks``.
    """
    known = Page((), sources, elsewhere=partial(_elsewhere, page.parents[1]))
    for fault in faults(page.read_text(encoding="utf-8"), known):
        yield f"{page.name}: {fault}"


def _elsewhere(root: Path, notebook: str) -> tuple[str, ...]:
    if not (root / notebook).is_file():
        raise ValueError(f"there is no notebook {notebook}")
    return tuple(page(read(root / notebook)).printed)
