"""A draft of the owners of a notebook's prose: what can be found is filled in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...account import registry
from ...account.rendering.formulas import latex
from .owners import Page, normalised, owners
from .pages import page, read
from .tokens import Token, tokens, value

_CLAIM = re.compile(r"[A-Z]+-\d{2}")
_LONGEST_LABEL = 40
UNKNOWN = "?"


def draft(notebook: Path) -> int:
    """Write a comment of owners into every text cell that needs one, known owners filled in.

    What is not found in a printed line or in a claim of the notebook gets the owner ``?``, which
    no gate accepts: a person says what it is.

    Returns:
        How many tokens were left to a person.
    """
    import nbformat

    book = read(notebook)
    known, formulas = page(book), _formulas(book)
    left = 0
    for cell in book.cells:
        if cell.cell_type != "markdown":
            continue
        owned = {text for text, _ in owners(cell.source)}
        missing = {t.text: t for t in tokens(cell.source) if t.text not in owned}
        if not missing:
            continue
        found = {text: _owner(token, known, formulas) for text, token in missing.items()}
        left += sum(owner == UNKNOWN for owner in found.values())
        entries = "".join(f"{text} <- {owner}\n" for text, owner in found.items())
        if "<!-- owners\n" in cell.source:
            head, _, rest = cell.source.rpartition("-->")
            cell.source = f"{head}{entries}-->{rest}"
        else:
            cell.source = f"{cell.source.rstrip()}\n\n<!-- owners\n{entries}-->"
    nbformat.write(book, notebook)
    return left


def draft_all(notebooks: Sequence[Path], root: Path) -> int:
    """Draft the owners of notebooks, and say how many tokens each leaves to a person."""
    for notebook in notebooks:
        print(f"{notebook.relative_to(root)}: {draft(notebook)} left to a person")
    return 0


def _formulas(book: Any) -> dict[str, str]:
    """Owners by formula: the claims that the notebook names."""
    named = dict.fromkeys(
        id for cell in book.cells if cell.cell_type == "code" for id in _CLAIM.findall(cell.source)
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
        return next((formulas[side] for side in sides if side in formulas), UNKNOWN)
    said = value(token)
    for line in known.printed if said and token.kind == "number" else ():
        for other in tokens(line.replace("$", "")):
            found = value(other)
            if found and said and abs(found[0] - said[0]) <= said[1]:
                label = line.partition(other.text)[0].strip()[:_LONGEST_LABEL].strip()
                if label:
                    return f'printed "{label}"'
    return UNKNOWN
