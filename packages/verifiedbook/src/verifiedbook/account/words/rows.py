"""What decides each own word, in a file beside its text.

``notebooks/3-first-loss/7-remedies.words`` has the sentences of ``7-remedies.ipynb`` by the id of
the cell, in their order; of a page they stand without an id. Under each, indented, stands what
decides it, in which setting, and what would make it false.

    [rem-md-24]
    The twelve layers of a released GPT-2 bury the token.
        by LOSS-52#3f2a9c; cell rem-py-25#b04d11
        in a fresh model of GPT-2's class and sizes
        false if its first loss is as high as that of an identity

A sentence may be cut into several rows, and any other words of a text may have one. Behind ``#``
stands what the evidence said when the words were judged by it; see `support`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

UNKNOWN = "?"
_BY, _IN, _FALSE_IF = "by ", "in ", "false if "


@dataclass(frozen=True)
class Row:
    """An own word.

    Attributes:
        says: the words, in a line.
        by: what decides it, the weightiest first.
        within: the setting for which it is meant.
        false_if: what would make it false; of words that claims alone decide, their pages say it.
    """

    says: str
    by: tuple[str, ...] = (UNKNOWN,)
    within: str = ""
    false_if: str = ""


def read_rows(text: str) -> dict[str, list[Row]]:
    """Return the rows of a file, by the id of the cell; of a page by "".

    Raises:
        ValueError: a line under a row is none of the three.

    Example:
        >>> read_rows("So.\\n    by we think: it is likely\\n")[""][0].by
        ('we think: it is likely',)
    """
    found, cell = dict[str, list[Row]](), ""
    for line in filter(str.strip, text.splitlines()):
        bare = line.strip()
        if line[0] == "[" and bare[-1] == "]" and " " not in bare:
            cell = bare[1:-1]
        elif not line[0].isspace():
            found.setdefault(cell, []).append(Row(bare, ()))
        else:
            rows = found.get(cell) or [Row("")]
            rows[-1] = _with(rows[-1], bare)
    return found


def _with(row: Row, line: str) -> Row:
    if row.says and line.startswith(_BY):
        by = tuple(part.strip() for part in line.removeprefix(_BY).split(";"))
        return Row(row.says, by, row.within, row.false_if)
    if row.says and line.startswith(_FALSE_IF):
        return Row(row.says, row.by, row.within, line.removeprefix(_FALSE_IF))
    if row.says and line.startswith(_IN):
        return Row(row.says, row.by, line.removeprefix(_IN), row.false_if)
    raise ValueError(f"own words: {line!r}; accepted under a row: by …, in …, false if …")


def rows_text(rows: Mapping[str, Sequence[Row]]) -> str:
    """Return the text of a file of rows; what `read_rows` gives of it is the same."""
    made = list[str]()
    for cell, found in rows.items():
        made += [f"[{cell}]"] if cell and found else []
        for row in found:
            under = [_BY + "; ".join(row.by)]
            under += [_IN + row.within] if row.within else []
            under += [_FALSE_IF + row.false_if] if row.false_if else []
            made += [row.says, *(f"    {line}" for line in under)]
        made += [""] if found else []
    return "\n".join(made)
