"""A table as a grid of cells: numbers as shades, answers as signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..drawing import Panel
from ..labels import as_text, text
from ..marks import box, line
from ..palette import role_of, short
from .chart import Chart, chart, finite, label_width, refuse_empty, roomy, rounded, written

_WIDE, _LETTERS = 320.0, 14.0


def heat(
    rows: Mapping[str, Sequence[float]], caption: str, *, columns: Sequence[str],
    form: str = "{:.2g}", role: str = "output", across: str = "",
) -> Chart:  # fmt: skip
    """Return a matrix of numbers, each in a cell that is the darker the larger it is.

    Args:
        rows: a label and its numbers.
        caption: one or two sentences that say what to look at.
        columns: what stands above each column.
        form: how a number is written.
        role: the colour.
        across: what the columns are, above their names.

    Returns:
        The chart.

    Raises:
        ValueError: there is no row, a row has not one number for each column, or one is not finite.

    Example:
        >>> heat({"Q": (0.9, 0.1)}, "Who looks at whom.", columns=("it", "us"))
        [chart] Who looks at whom.
        Q: it 0.9, us 0.1
    """
    table = _table(rows, columns)
    found = {label: [finite("rows", v) for v in values] for label, values in table.items()}
    every = [rounded(v) for values in found.values() for v in values]
    low, high = min(every), max(every)
    cells = {
        label: [(written(form, v), (rounded(v) - low) / ((high - low) or 1.0)) for v in values]
        for label, values in found.items()
    }
    left, wide, y, marks = _frame(table, columns, across)
    for values in cells.values():
        for k, (said, share) in enumerate(values):
            x = left + k * wide
            marks.append(_shaded(x, y, wide, share, role) + text(x + wide / 2, y + 12, said,
                         size=13 if roomy(said, 13) < wide else 12))  # fmt: skip
        y += 26
    told = _told(columns, {label: [said for said, _ in v] for label, v in cells.items()})
    return chart([Panel(_WIDE, y + 4, *marks)], caption, "A grid of numbers:", told)


def answers(
    rows: Mapping[str, Sequence[bool | None]], caption: str, *, columns: Sequence[str]
) -> Chart:
    """Return a table of yes and no as signs: a filled cell, an empty crossed one, a dash.

    Args:
        rows: a label and its answers; ``None`` where the question does not arise.
        caption: one or two sentences that say what to look at.
        columns: what is asked.

    Returns:
        The chart.

    Raises:
        ValueError: there is no row, or a row has not one answer for each column.

    Example:
        >>> answers({".half()": (True, False)}, "What is kept of it.", columns=("object", "memory"))
        [chart] What is kept of it.
        .half(): object yes, memory no
    """
    table = _table(rows, columns)
    left, wide, y, marks = _frame(table, columns)
    for values in table.values():
        for k, answer in enumerate(values):
            x = left + k * wide + wide / 2
            if answer is None:
                marks.append(text(x, y + 12, "–", size=13))
            elif answer:
                marks.append(box(x - 9, y + 3, 18, 18, role="output", fill="plain", rounded=9)
                             + line((x - 5, y + 12), (x - 1, y + 16), (x + 5, y + 8), role="output",
                                    width=2))  # fmt: skip
            else:
                marks.append(_cross(x, y + 12))
        y += 26
    told = _told(columns, {
        label: ["–" if a is None else "yes" if a else "no" for a in values]
        for label, values in table.items()
    })  # fmt: skip
    return chart([Panel(_WIDE, y + 4, *marks)], caption, "A grid of answers:", told)


_Entry = TypeVar("_Entry")


def _table(
    rows: Mapping[str, Sequence[_Entry]], columns: Sequence[str]
) -> Mapping[str, Sequence[_Entry]]:
    """The rows, each as long as there are columns."""
    refuse_empty(rows)
    for label, values in rows.items():
        if len(values) != len(columns):
            raise ValueError(f"rows: got {len(values)} of {label!r}; accepted: {len(columns)}")
    return rows


def _frame(
    table: Mapping[str, Sequence[object]], columns: Sequence[str], across: str = ""
) -> tuple[float, float, float, list[str]]:
    """Where the cells begin, how wide they are, the first one's top, and the labels."""
    left = label_width(table, 170, _LETTERS) or 170.0
    wide = (_WIDE - 2 - left) / len(columns)
    y = 4.0
    marks = []
    if across:
        marks.append(text(left + wide * len(columns) / 2, y + 8, across, size=13))
        y += 20
    turned = max(roomy(name, 13) for name in columns) > wide - 3
    for k, name in enumerate(columns):
        high = y + (8 if not turned or k % 2 == 0 else 24)
        middle = min(left + (k + 0.5) * wide, _WIDE - 2 - roomy(name, 12) / 2)
        marks.append(text(middle, high, name, size=13 if not turned else 12))
    y += 38 if turned else 22
    for row, label in enumerate(table):
        size = _LETTERS if roomy(label, _LETTERS) <= left - 6 else 12
        marks.append(text(left - 8, y + 12 + 26 * row, label, size=size, anchor="end"))
    return left, wide, y, marks


def _cross(x: float, y: float) -> str:
    colour, (left, right, top, low) = role_of("wrong").colour, (x - 5, x + 5, y - 5, y + 5)
    path = f"M{short(left)} {short(top)}L{short(right)} {short(low)}"
    path += f"M{short(right)} {short(top)}L{short(left)} {short(low)}"
    return f'<g class="vtd-wrong" stroke="{colour}"><path d="{path}" stroke-width="2.4"/></g>'


def _shaded(x: float, y: float, wide: float, share: float, role: str) -> str:
    colour = role_of(role).colour
    return (
        f'<g class="vtd-{role}" fill="{colour}" stroke="{colour}"><rect x="{short(x)}" '
        f'y="{short(y)}" width="{short(wide)}" height="24" stroke-width=".6" '
        f'fill-opacity="{0.04 + 0.5 * share:.2f}"/></g>'
    )


def _told(columns: Sequence[str], said: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"{as_text(label)}: "
        + ", ".join(f"{as_text(columns[k])} {word}" for k, word in enumerate(words))
        for label, words in said.items()
    ]
