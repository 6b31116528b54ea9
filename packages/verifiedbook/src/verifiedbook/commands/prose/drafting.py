"""`make owners`: the owners beside a text in its order, what can be found filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...account import registry
from ...writing import write_whole
from . import needless, pages
from .owners import DEFINITION, FREE, Owned, Page, matched, owner_fault, owners_text, shown_as
from .tokens import Token, tokens

_LONGEST_LABEL = 40
UNKNOWN = "?"


def draft(path: Path) -> int:
    """Write the owners beside a notebook or page, known ones filled in and needless ones left out.

    What is not found in a printed line or in a claim of the notebook gets the owner ``?``, which
    no gate accepts: a person says what it is. One that has changed its place keeps its owner
    behind a ``?``: two numbers that change places may each be true, and their sentences false.

    Returns:
        How many tokens were left to a person.
    """
    owned = pages.owners_of(path)
    if path.suffix == ".md":
        text = path.read_text(encoding="utf-8")
        made = {"": _tidy(text, owned[""], pages.page_of_text(path, text), ())}
    else:
        book = pages.read_notebook(path)
        known, claims = pages.page(book), [*_claims(book)]
        made = {
            cell.id: _tidy(
                cell.source, owned.get(cell.id, Owned()), known, claims,
                pages.following(book, index),
            )
            for index, cell in enumerate(book.cells)
            if cell.cell_type == "markdown"
        }  # fmt: skip
    beside = path.with_suffix(pages.SUFFIX)
    if said := owners_text(made):
        write_whole(beside, said)
    else:
        beside.unlink(missing_ok=True)
    return sum(
        any(owner.startswith(UNKNOWN) for owner in owners)
        for own in made.values() for _, owners in own.rows
    )  # fmt: skip


def draft_all(paths: Sequence[Path], root: Path) -> int:
    """Draft the owners of notebooks and pages, and say how many tokens they leave to a person."""
    for path in paths:
        if left := draft(path):
            print(f"{path.with_suffix(pages.SUFFIX).relative_to(root)}: {left} left to a person: ?")
    return 0


def _tidy(
    text: str, own: Owned, known: Page, claims: Sequence[str], following: Iterable[str] = ()
) -> Owned:
    """The owners of a text in its order: those that it has, those that it needs, and no other."""
    said = [*tokens(text)]
    shown = shown_as(said)
    names = {display: name for name, display in shown.items()}
    pairs, unowned = matched(said, own, known, following)
    rows = {id(token): own.rows[row][1] for token, row in pairs}
    taken = {row for _, row in pairs}
    pool: dict[str, list[str]] = {}
    moved: dict[str, list[str]] = {}  # of rows that own nothing where they stand
    for row, (name, owners) in enumerate(own.rows):
        display = shown.get(name, name)
        pool.setdefault(display, []).extend(owners)
        if row not in taken:
            moved.setdefault(display, []).extend(owners)
        if name.startswith("$$"):
            names[display] = name  # as a whole, which asks for less than by its name
    free = needless.unasked(said, known.around, following)
    made = Owned(lets=own.lets, compared=own.compared)
    for token, unasked in zip(said, free, strict=True):
        owners = rows.get(id(token)) or _asked_again(
            (moved if unasked else pool).get(token.text, ())
        )
        if len(owners) > 1:  # an owner that asks for nothing adds nothing
            owners = [owner for owner in owners if not owner.startswith(FREE)] or owners[:1]
        if not owners and any(token is one for one in unowned):
            owners = [_owner(token, known, claims)]
        adds_nothing = unasked and all(_says_no_more(owner, unasked) for owner in owners)
        if owners and not adds_nothing:
            made.rows.append((names.get(token.text, token.text), owners))
    return made


def _asked_again(owners: Iterable[str]) -> list[str]:
    """Owners of what stands elsewhere now, marked for a person where they ask for anything."""
    nothing = FREE, DEFINITION, UNKNOWN
    return [o if o.startswith(nothing) else f"{UNKNOWN} {o}" for o in dict.fromkeys(owners)]


def _says_no_more(owner: str, unasked: str) -> bool:
    """Whether an owner asks for nothing, or for what the next output asks by itself."""
    return (
        owner == DEFINITION
        or owner.startswith(FREE)
        or (unasked == needless.NEXT_OUTPUT and owner.startswith("printed"))
    )


def _claims(book: Any) -> Iterator[str]:
    """The claims that a notebook decides and their cases, as owners of formulas."""
    code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    known = registry.load()[1]
    for id in dict.fromkeys(pages.ID.findall(code)):
        reading = known[id].reading if id in known else None
        for case in reading.parts if reading else ():
            name = f"{id}[{case}]" if case else id
            yield from (f"{name}.truth", name)


def _owner(token: Token, known: Page, claims: Sequence[str]) -> str:
    """The first claim or printed line that owns a token; a person's matter where none does."""
    candidates = claims
    if token.kind == "number":
        labels = (re.match(r"\D*", line)[0].strip() for line in known.printed)  # type: ignore[index]
        candidates = [f'printed "{label[:_LONGEST_LABEL].strip()}"' for label in labels if label]
    return next((owner for owner in candidates if not owner_fault(token, owner, known)), UNKNOWN)
