"""Tied tables: what they weigh, their two gradients, the objects and the memory behind names."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, line

_LEFT, _TOP, _WIDE, _ROW = 120, 50, 110, 18
_ROWS, _READ, _NEXT = 10, (1, 4, 7), (4, 7, 8)
_WORDS = {1: "the", 4: "cat", 7: "sat", 8: "down"}


def _rows(marked: tuple[int, ...], *, others: str, fill: str) -> tuple[str, ...]:
    """The rows of a table, some of them marked, with their words."""
    marks = [
        box(_LEFT, _TOP + i * _ROW, _WIDE, _ROW, role="gradient" if i in marked or others else
            "quiet", fill=fill if i in marked else others or "plain", rounded=0)
        for i in range(_ROWS)
    ]  # fmt: skip
    words = [
        text(_LEFT - 10, _TOP + (i + 0.5) * _ROW, word, anchor="end", size=14)
        for i, word in _WORDS.items()
    ]
    return (*marks, *words)


@picture(
    "The gradient of one table, in its two parts, for “the cat sat down”. The rows that are read "
    "and the rows that are labels overlap, but they are not the same.",
    "Two pictures of one table with ten rows, four of which belong to the words the, cat, sat "
    "and down. Left: the rows of the, cat and sat, which are read, have a gradient; all others "
    "have none. Right: every row has a gradient, and those of cat, sat and down, which are "
    "predicted, have a strong one.",
)
def table_gradient() -> Panels:
    """Return the two parts of the gradient of a tied table, for one short text."""
    under = _TOP + _ROWS * _ROW + 22
    return (
        Panel(320, under + 34, *_rows(_READ, others="", fill="up"),
              text(160, under, "rows of the tokens that are read", size=14),
              text(160, under + 22, "all others: zero", size=14),
              title="through the look-up"),
        Panel(320, under + 34, *_rows(_NEXT, others="dots", fill="down"),
              text(160, under, "every row; most for the labels", size=14),
              text(160, under + 22, "the sum over all rows: zero", size=14),
              title="through the head"),
    )  # fmt: skip


def _state(title: str, objects: int, memories: int) -> Panel:
    """Two names at the top, Parameter objects below, memory at the bottom."""
    names, middle = (62, 158), 110
    at = {1: (middle,), 2: names}
    marks = [
        text(names[0], 46, "embedding", size=14), text(names[1] + 4, 46, "lm_head", size=14),
    ]  # fmt: skip
    for k, x in enumerate(names):
        marks.append(arrow((x, 56), (at[objects][min(k, objects - 1)], 86)))
    for x in at[objects]:
        marks.append(box(x - 40, 88, 80, 30, "Parameter", role="quiet", rounded=8, size=13))
    for k in range(objects):
        x = at[objects][k]
        marks.append(arrow((x, 118), (at[memories][min(k, memories - 1)], 150)))
    for k, x in enumerate(at[memories]):
        fill = "up" if k == 0 else "down"
        marks.append(box(x - 40, 152, 80, 46, role="weight", fill=fill))
    gradients = "one gradient" if objects == 1 else "two gradients"
    marks.append(text(middle, 218, gradients, size=14))
    return Panel(220, 232, *marks, title=title)


@picture(
    "Two names, the Parameter objects that they stand for, and the memory where the numbers lie. "
    "Optimisers and gradients go by the middle row.",
    "Three pictures with the names embedding and lm_head at the top. Tie: both lead to one "
    "Parameter, which has one piece of memory. Half tie: they lead to two Parameters, and both "
    "of these use the same memory. No tie: two Parameters, each with its own memory.",
)
def states_of_a_tie() -> Panels:
    """Return what may lie behind two names: one Parameter, two over one memory, or two."""
    return _state("tie", 1, 1), _state("half tie", 2, 1), _state("no tie", 2, 2)


_MODELS = (("GPT-2 (small)", 50257, 768, 12), ("LLaMA 7B", 32000, 4096, 32))


@picture(
    "Parameters as heights, if nothing is tied: the two tables, and the layers between them, "
    "twelve times the width squared for each.",
    "Two stacks of equal height. In GPT-2 small the two tables fill almost half of it, and "
    "twelve layers the rest; a table is as high as five and a half layers. In LLaMA 7B there are "
    "32 layers, and each table is thinner than one of them.",
)
def model_budgets() -> Panels:
    """Return two models as stacks, a slab for each table and layer, as high as its parameters.

    A layer counts as twelve times the squared width.
    """
    return tuple(_stack(*model) for model in _MODELS)


def _stack(name: str, tokens: int, width: int, layers: int, high: float = 300) -> Panel:
    worth = tokens / (12 * width)
    unit, left, wide = high / (layers + 2 * worth), 110, 110
    top, table = 40.0, worth * unit
    marks = [
        box(left, top, wide, table, role="weight", fill="up", rounded=0),
        box(left, top + table + layers * unit, wide, table, role="weight", rounded=0),
        text(left - 8, top + table / 2, "head", anchor="end", size=14),
        text(left - 8, top + high - table / 2, "embedding", anchor="end", size=14),
        text(left + wide + 8, top + high / 2, f"{layers} layers", anchor="start", size=14),
    ]
    for i in range(layers):
        y = top + table + i * unit
        marks.append(box(left, y, wide, unit, role="quiet", rounded=0))
    return Panel(320, high + 60, *marks, title=name)


@picture(
    "Squares of *d* times *d* numbers. A layer has twelve, whatever its width is; how many has a "
    "table of *n* rows?",
    "Left twelve squares, four of attention and eight of the feed-forward part. Right, smaller, "
    "a field of twelve by twelve squares for the layers, and one of sixty-five for the table.",
)
def counted_in_squares() -> Panels:
    """Return GPT-2 counted in squares of its width: a layer, all layers, and the table."""
    layer = [
        box(40 + 24 * (k % 4), 60 + 24 * (k // 4), 22, 22,
            role="weight", fill="plain" if k < 4 else "up", rounded=0)
        for k in range(12)
    ]  # fmt: skip
    layers = _squares(10, 12, 12, "weight")
    table = _squares(170, 5, 13, "input")
    return (
        Panel(
            210, 200, *layer, text(146, 72, "attention", size=13, anchor="start"),
            text(146, 120, "feed-", size=13, anchor="start"),
            text(146, 136, "forward", size=13, anchor="start"), title="a layer",
        ),
        Panel(
            246, 210, *layers, *table, text(76, 196, "12 layers"),
            text(198, 196, "the table"), title="all of GPT-2",
        ),
    )  # fmt: skip


def _squares(x: float, columns: int, rows: int, role: str) -> list[str]:
    cell, top = 11, 40
    right, low = x + cell * columns, top + cell * rows
    upright = [line((x + cell * k, top), (x + cell * k, low), width=1) for k in range(1, columns)]
    flat = [line((x, top + cell * k), (right, top + cell * k), width=1) for k in range(1, rows)]
    return [box(x, top, right - x, low - top, role=role, rounded=0), *upright, *flat]
