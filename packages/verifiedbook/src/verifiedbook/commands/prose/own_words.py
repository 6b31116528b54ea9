"""`make own-words`: what decides the book's own words, beside their texts in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...account import ledger
from ...account.words.rows import UNKNOWN, Row, rows_text
from ...account.words.support import SUFFIX, Text, sealed
from ...writing import write_whole


def draft(text: Text) -> int:
    """Write the rows beside a notebook or page: a new sentence gets one by ``?``.

    What is known is kept, with a seal on what it points to. A row whose words have changed stays
    too, behind the new one, until a person has moved what still decides it, or taken it away.

    Returns:
        How many words are left to a person.
    """
    made = {
        name: [sealed(text, row) for row in _in_order(text.wanted.get(name, ()), rows)]
        for name in [*text.sources, *(n for n in text.rows if n not in text.sources)]
        if (rows := text.rows.get(name, [])) or name in text.wanted
    }
    write_whole(text.path.with_suffix(SUFFIX), rows_text(made))
    return sum(UNKNOWN in row.by for rows in made.values() for row in rows)


def _in_order(wanted: Iterable[str], rows: Sequence[Row]) -> list[Row]:
    """The rows of a text, and new ones where a sentence has none."""
    made, left = list[Row](), [*rows]
    for sentence in wanted:
        own = next((n for n, row in enumerate(left) if sentence.startswith(row.says)), None)
        if own is None:
            made.append(Row(sentence))
            continue
        made += left[:own]
        left, rest = left[own:], sentence
        while left and rest and rest.startswith(left[0].says):
            rest = rest[len(left[0].says) :].lstrip()
            made.append(left.pop(0))
    return made + left


def draft_all(paths: Sequence[Path], root: Path) -> int:
    """Draft the rows of notebooks and pages, and say how many words they leave to a person."""
    found = ledger.collect(root)
    for path in paths:
        if left := draft(Text(path, root, found)):
            print(f"{path.with_suffix(SUFFIX).relative_to(root)}: {left} left to a person: ?")
    return 0
