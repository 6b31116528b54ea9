"""`make owners`: the owners beside a text in its order, what can be found filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...account import registry
from ...account.rendering.formulas import latex
from . import bound, pages
from .bound import normalised
from .owners import DEFINITION, FREE, Owned, Page, matched, parsed, shown_as, written
from .tokens import Token, tokens, value

_COMMENT = re.compile(r"\s*<!-- owners\n(.*?)-->", re.DOTALL)
_LONGEST_LABEL = 40
UNKNOWN = "?"


def draft(path: Path) -> int:
    """Write the owners beside a notebook or page, known ones filled in and needless ones left out.

    What is not found in a printed line or in a claim of the notebook gets the owner ``?``, which
    no gate accepts: a person says what it is. Owners in comments of the text are taken from there.

    Returns:
        How many tokens were left to a person.
    """
    owned = pages.owners_of(path)
    if path.suffix == ".md":
        text = path.read_text(encoding="utf-8")
        plain, own = _apart(text, owned[""])
        made = {"": _tidy(plain, own, pages.page_of_text(path, plain), {})}
        if plain != text:
            path.write_text(plain, encoding="utf-8")
    else:
        made = _of_notebook(path, owned)
    beside = path.with_suffix(pages.SUFFIX)
    if text := written(made):
        beside.write_text(text, encoding="utf-8")
    else:
        beside.unlink(missing_ok=True)
    return sum(UNKNOWN in owners for own in made.values() for _, owners in own.rows)


def draft_all(paths: Sequence[Path], root: Path) -> int:
    """Draft the owners of notebooks and pages, and say how many tokens they leave to a person."""
    for path in paths:
        if left := draft(path):
            print(f"{path.with_suffix(pages.SUFFIX).relative_to(root)}: {left} left to a person: ?")
    return 0


def _of_notebook(path: Path, owned: dict[str, Owned]) -> dict[str, Owned]:
    import nbformat

    book = pages.read(path)
    commented = False
    for cell in book.cells:
        if cell.cell_type == "markdown":
            plain, owned[cell.id] = _apart(cell.source, owned.get(cell.id, Owned()))
            commented |= plain != cell.source
            cell.source = plain
    if commented:
        nbformat.write(book, path)
    known, formulas = pages.page(book), _formulas(book)
    return {
        cell.id: _tidy(cell.source, owned[cell.id], known, formulas, pages.following(book, index))
        for index, cell in enumerate(book.cells)
        if cell.cell_type == "markdown"
    }


def _apart(text: str, own: Owned) -> tuple[str, Owned]:
    """A text without its comments of owners, and its owners with theirs."""
    lets, rows = [*own.lets], [*own.rows]
    owners_of: dict[str, list[str]] = {}
    for comment in _COMMENT.findall(text):
        found = parsed(comment)[""]
        lets += found.lets
        for said, owners in found.rows:
            for one in [said] if "$" in said else said.split(";"):
                owners_of.setdefault(one.strip(), []).extend(owners)
    plain = _COMMENT.sub("", text)
    end = "\n" if plain != text and text.endswith("\n") else ""
    return plain.rstrip("\n") + end if plain != text else text, Owned(
        [*rows, *owners_of.items()], lets
    )


def _tidy(
    text: str, own: Owned, known: Page, formulas: dict[str, str], following: Iterable[str] = ()
) -> Owned:
    """The owners of a text in its order: those that it has, those that it needs, and no other."""
    said = [*tokens(text)]
    shown = shown_as(said)
    names = {display: name for name, display in shown.items()}
    pool: dict[str, list[str]] = {}
    for name, owners in own.rows:
        display = shown.get(name, name)
        pool.setdefault(display, []).extend(owners)
        if name.startswith("$$"):
            names[display] = name  # as a whole, which asks for less than by its name
    pairs, unowned = matched(said, own, known, following)
    rows = {id(token): own.rows[row][1] for token, row in pairs}
    free = bound.unasked(said, known.given, known.displayed, known.readings, following)
    made = Owned(lets=own.lets)
    for token, unasked in zip(said, free, strict=True):
        owners = rows.get(id(token)) or [*dict.fromkeys(pool.get(token.text, ()))]
        if len(owners) > 1:  # an owner that asks for nothing adds nothing
            owners = [owner for owner in owners if not owner.startswith(FREE)] or owners[:1]
        if not owners and token in unowned:
            owners = [_owner(token, known, formulas)]
        needless = unasked and all(_says_no_more(owner, unasked) for owner in owners)
        if owners and not needless:
            made.rows.append((names.get(token.text, token.text), owners))
    return made


def _says_no_more(owner: str, unasked: str) -> bool:
    """Whether an owner asks for nothing, or for what the next output asks by itself."""
    return (
        owner == DEFINITION
        or owner.startswith(FREE)
        or (unasked == bound.PRINTED and owner.startswith("printed"))
    )


def _formulas(book: Any) -> dict[str, str]:
    """Owners by formula: the claims that the notebook names."""
    named = dict.fromkeys(
        id
        for cell in book.cells
        if cell.cell_type == "code"
        for id in pages.ID.findall(cell.source)
    )
    found: dict[str, str] = {}
    for id in named:
        statement = registry.load()[1].get(id)
        reading = statement.reading if statement else None
        for case, of in reading.parts.items() if reading else ():
            name = f"{id}[{case}]" if case else id
            for part, text in ((".truth", of.truth_formula), ("", of.formula)):
                if text:
                    found.setdefault(normalised(latex(text)), name + part)
    return found


def _owner(token: Token, known: Page, formulas: dict[str, str]) -> str:
    if token.kind == "formula":
        sides = [normalised(side) for side in re.split(r"=|\\approx", token.text.strip("$"))]
        unknown = UNKNOWN if bound.RELATION.search(token.text) else DEFINITION
        return next((formulas[side] for side in sides if side in formulas), unknown)
    said = value(token)
    for line in known.printed if said and token.kind == "number" else ():
        for other in tokens(line.replace("$", "")):
            found = value(other)
            if found and said and abs(found[0] - said[0]) <= said[1]:
                label = line.partition(other.text)[0].strip()[:_LONGEST_LABEL].strip()
                if label:
                    return f'printed "{label}"'
    return UNKNOWN
