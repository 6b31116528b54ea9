"""The texts of a notebook or page, and what they may refer to."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from ...account import registry
from ..notebooks import cell_kinds
from ..notebooks.comparing import lines
from . import meanings, needless
from .owners import Owned, Page, faults, read_owners
from .tokens import MATHS

_NO_SOURCES: Mapping[str, str] = {}
SUFFIX = ".owners"  # of the file beside a notebook or page
_LISTING = re.compile(r"```.*?```", re.DOTALL)
ID = re.compile(r"\b[A-Z]{3,5}-\d{2,}\b")


def read_notebook(notebook: Path) -> Any:
    """Return a notebook."""
    import nbformat

    return nbformat.read(notebook, as_version=4)


def page(book: Any, sources: Mapping[str, str] = _NO_SOURCES) -> Page:
    """Return what the texts of a notebook may refer to: what its cells print and charts tell, and
    what its code and the claims that it names give."""
    code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    prose = [cell.source for cell in book.cells if cell.cell_type == "markdown"]
    printed = tuple(line for cell in book.cells for line in printed_by(cell))
    return Page(printed, sources, around=_around("\n\n".join(prose), code, printed))


def page_of_text(path: Path, text: str, sources: Mapping[str, str] = _NO_SOURCES) -> Page:
    """Return what a Markdown page may refer to, which prints nothing.

    Args:
        path: of the page, in a folder beside ``notebooks``, whose outputs it may say.
        text: what it says.
    """
    listed = "\n".join(_LISTING.findall(text))
    elsewhere = partial(_elsewhere, path.parents[1])
    return Page((), sources, around=_around(text, listed), elsewhere=elsewhere)


def _around(prose: str, code: str = "", printed: Iterable[str] = ()) -> needless.Around:
    """What a text may say unasked: of its own displays, its code, and the claims of both."""
    named = sorted({*ID.findall(prose), *ID.findall(code)})
    known = registry.load()[1]
    read = [text for id in named if id in known for text in needless.texts(known[id])]
    given, sets = _of_all_readings()
    maths = [*MATHS.finditer(prose)]
    shown = [found["display"] for found in maths if found["display"]]
    formulas = [found.group().strip("$") for text in read for found in MATHS.finditer(text)]
    coded = meanings.parts_of_code(code).union(*map(meanings.parts, formulas))
    inline = Counter(one for m in maths for one in needless.settings(m["inline"] or ""))
    said = Counter(needless.unspaced(m["inline"]) for m in maths if m["inline"])
    twice = (one for one, times in inline.items() if times > 1)
    return needless.Around(
        given=given.union(needless.numbers(code), *map(needless.numbers, read)),
        sets=sets.union(twice, *map(needless.settings, [code, *printed, *read, *shown])),
        displayed=[*map(needless.unspaced, shown), *(f for f, times in said.items() if times > 1)],
        coded=coded,
        meant=coded.union(*map(meanings.parts, shown)),
    )


@cache
def _of_all_readings() -> tuple[frozenset[float], frozenset[tuple[str, float]]]:
    """The numbers from a hundred on in the readings, such as sizes of models, and their names."""
    read = [text for known in registry.load()[1].values() for text in needless.texts(known)]
    given = {number for text in read for number in needless.numbers(text) if number >= 100}
    sets = {one for text in read for one in needless.settings(text) if one[1] >= 100}
    return frozenset(given), frozenset(sets)


def printed_by(cell: Any) -> list[str]:
    """Return the lines that a cell prints, or that its charts tell.

    A line with digits that stands in the cell as it is printed was typed, and owns nothing.
    """
    return [
        line
        for output in cell.get("outputs", [])
        for line in _told(output)
        if not (any(map(str.isdigit, line)) and line.strip() in typed(cell.source))
    ]


def following(book: Any, index: int) -> list[str]:
    """Return the lines that the next output behind a cell prints."""
    return next(filter(None, map(printed_by, book.cells[index + 1 :])), [])


def owners_of(path: Path) -> dict[str, Owned]:
    """Return the owners that stand beside a notebook or page."""
    beside = path.with_suffix(SUFFIX)
    return read_owners(beside.read_text(encoding="utf-8") if beside.exists() else "")


@cache
def typed(code: str) -> str:
    """Return a cell's code, and as texts what it prints or formats of nothing but constants.

    Example:
        >>> typed('print("n", 44)').splitlines()
        ['print("n", 44)', 'n 44']
    """
    try:
        tree = cell_kinds.parsed(code)
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
        return lines({"outputs": [output]})
    told = str(output.get("data", {}).get("text/plain", ""))
    return told.splitlines() if told.startswith("[chart]") else []


def notebook_faults(notebook: Path, sources: Mapping[str, str] = _NO_SOURCES) -> Iterator[str]:
    """Yield what in the prose of a notebook has no owner, or one that does not own it."""
    book, owned = read_notebook(notebook), owners_of(notebook)
    known = page(book, sources)
    for index, cell in enumerate(book.cells):
        if cell.cell_type == "markdown":
            own = owned.pop(cell.id, Owned())
            for fault in faults(cell.source, own, known, following(book, index)):
                near = _near([cell.source for cell in book.cells], index)
                yield f"{notebook.name}, cell {index}{near}: {fault}"
    for id, own in owned.items():
        if own != Owned():
            yield f"{notebook.stem}{SUFFIX}: no text of {notebook.name} has the id {id!r}"


def _near(sources: list[str], index: int) -> str:
    """The claims of a cell: those that it names, or else the next one that names any."""
    for source in sources[index:]:
        if named := dict.fromkeys(ID.findall(source)):
            return f" ({', '.join(named)})"
    return ""


def text_faults(page: Path, sources: Mapping[str, str] = _NO_SOURCES) -> Iterator[str]:
    """Yield the same of a Markdown page, which prints nothing, but may say what a notebook prints.

    Args:
        page: path of the ``.md`` file, in a folder beside ``notebooks``.
    """
    text, own = page.read_text(encoding="utf-8"), owners_of(page)[""]
    known = page_of_text(page, text, sources)
    for fault in faults(text, own, known):
        yield f"{page.name}: {fault}"


def _elsewhere(root: Path, notebook: str) -> tuple[str, ...]:
    if not (root / notebook).is_file():
        raise ValueError(f"there is no notebook {notebook}")
    return tuple(page(read_notebook(root / notebook)).printed)
