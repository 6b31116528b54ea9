"""Drawings of tied tables: what they are, what each end does, what they weigh, who had them."""

from __future__ import annotations

import math

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import arrow, box, line, matrix, node, vector

_MIDDLE, _MODEL_LEFT, _MODEL_WIDE = 150, 100, 100


def _model(*marks: str, head: str, title: str) -> Panel:
    """A model from its token at the bottom to its scores at the top, with a hatch for its head."""
    bar = {"cell": 12.5, "across": 12}
    return Panel(
        320, 404, *marks,
        vector(_MODEL_LEFT, 40, 8, role="output", **bar),  # type: ignore[arg-type]
        text(_MODEL_LEFT - 8, 46, "scores (*n*)", anchor="end", size=14),
        arrow((_MIDDLE, 78), (_MIDDLE, 55)),
        matrix(_MODEL_LEFT, 78, _MODEL_WIDE, 66, "*E*" if head == "plain" else "*U*",
               rows="*n* × *d*", fill=head),
        arrow((_MIDDLE, 176), (_MIDDLE, 146)),
        vector(_MIDDLE - 25, 178, 4, role="output", **bar),  # type: ignore[arg-type]
        text(_MIDDLE - 33, 184, "state (*d*)", anchor="end", size=14),
        arrow((_MIDDLE, 220), (_MIDDLE, 193)),
        box(_MODEL_LEFT - 10, 220, _MODEL_WIDE + 20, 40, "layers", role="quiet", rounded=8),
        arrow((_MIDDLE, 284), (_MIDDLE, 262)),
        vector(_MIDDLE - 25, 286, 4, role="input", **bar),  # type: ignore[arg-type]
        text(_MIDDLE - 33, 292, "row *t* (*d*)", anchor="end", size=14),
        arrow((_MIDDLE, 336), (_MIDDLE, 301)),
        matrix(_MODEL_LEFT, 314, _MODEL_WIDE, 66, "", rows="*n* × *d*"),
        box(_MODEL_LEFT, 336, _MODEL_WIDE, 11, role="input", rounded=0),
        text(_MODEL_LEFT + 18, 364, "*E*"),
        text(_MIDDLE, 394, "token number *t*", size=14),
        title=title,
    )  # fmt: skip


@picture(
    "Untied: two tables, *E* to read with and *U* to write with. Tied: one array in both places.",
    "Two models side by side, each read from bottom to top. A token number picks one row of the "
    "table E, with n rows of d numbers; the row goes through the layers and becomes a state of d "
    "numbers; a second table turns the state into n scores. In the untied model the second table "
    "is another array, U. In the tied model a double arrow joins both places: it is E again.",
)
def tied_model() -> Panels:
    """Return a language model drawn twice: with a table at each end, and with one for both."""
    right = _MODEL_LEFT + _MODEL_WIDE
    return (
        _model(text(right + 10, 111, "another", anchor="start", size=14),
               text(right + 10, 128, "array", anchor="start", size=14),
               head="up", title="untied"),
        _model(arrow((right + 4, 347), (right + 4, 111), both=True, bend=52, width=2.2,
                     role="weight"),
               text(right + 66, 221, "one", anchor="start"),
               text(right + 66, 239, "array", anchor="start"), head="plain", title="tied"),
    )  # fmt: skip


def _rays(centre: tuple[float, float], rays: tuple[tuple[float, float, str, str], ...]
          ) -> list[str]:  # fmt: skip
    """Arrows from one point, each by its angle in degrees, its length, its role and its label."""
    marks = []
    for angle, length, role, label in rays:
        way = (math.cos(math.radians(angle)), -math.sin(math.radians(angle)))
        tip = (centre[0] + length * way[0], centre[1] + length * way[1])
        marks.append(arrow(centre, tip, role=role, width=2.4))
        if label:
            marks.append(text(tip[0] + 16 * way[0], tip[1] + 16 * way[1], label))
    return marks


@picture(
    "The score of row *v* is how far it reaches along *w* (the foot of the dashed line). Left: "
    "no other row reaches as far as *w* itself. Right: both others reach further.",
    "Left: five arrows of equal length from one point. A dashed line drops from the tip of v at "
    "right angles to the arrow w and meets it short of its tip. Right: three arrows in one "
    "direction, the second longer than the first, the third the longest.",
)
def longest_row_wins() -> Panels:
    """Return rows of equal length, among which each knows itself, and others which do not."""
    centre, r = (150.0, 142.0), 92.0
    along = math.radians(20)
    equal = _rays(centre, ((20, r, "input", "*w*"), (65, r, "weight", "*v*"),
                           (125, r, "weight", ""), (200, r, "weight", ""),
                           (300, r, "weight", "")))  # fmt: skip
    foot = r * math.cos(math.radians(45))
    equal.append(
        line((centre[0] + r * math.cos(math.radians(65)), centre[1] - r * math.sin(
            math.radians(65))), (centre[0] + foot * math.cos(along),
                                 centre[1] - foot * math.sin(along)), role="wrong")
    )  # fmt: skip
    one = []
    for y, length, role, label in ((70, 90, "input", "*w*"), (130, 170, "weight", "*v*"),
                                   (190, 250, "weight", "wins every time")):  # fmt: skip
        one.append(arrow((24, y), (24 + length, y), role=role, width=2.4))
        one.append(text(24 + length / 2, y - 16, label, size=14))
    return (
        Panel(320, 232, *equal, title="equal lengths"),
        Panel(320, 232, *one, title="one direction"),
    )


@picture(
    "A model cut in two. Both devices hold the table *E*, each gets a part of its gradient, and "
    "the parts are exchanged.",
    "Two boxes, the first and the last device. The first holds the table E and layers above it, "
    "the last holds layers and, above them, the same table again. A dashed double arrow joins "
    "the two tables.",
)
def split_model() -> Panels:
    """Return a model cut into two stages, with the shared table at both ends."""
    marks = []
    for x, title, modules in (
        (8, "first device", (("layers", "quiet"), ("*E*", "weight"))),
        (202, "last device", (("*E*", "weight"), ("layers", "quiet"))),
    ):
        marks.append(box(x, 26, 110, 124, role="quiet", rounded=8))
        marks.append(text(x + 55, 12, title, size=14))
        for k, (label, role) in enumerate(modules):
            marks.append(box(x + 15, 38 + 56 * k, 80, 44, label, role=role,
                             fill="up" if role == "weight" else "plain"))  # fmt: skip
    marks.append(arrow((104, 112), (216, 66), role="gradient", both=True))
    marks.append(text(160, 166, "after every step: add up two gradients", size=14))
    return Panel(320, 180, *marks)


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


_X = 40  # where every step starts


def _row(y: int, label: str, *steps: tuple[int, str], tied: bool = False) -> list[str]:
    """Steps one after the other along a line, each in its end's colour."""
    marks, x = [text(_X, y - 14, label, anchor="start", size=13)], _X
    marks.append(line((_X, y - 8), (_X, y + 8)))
    for length, role in steps:
        marks.append(arrow((x, y), (x + length, y), role=role, width=4 if tied else 2.6))
        x += length
    return marks


@picture(
    "One number of the table. The input end pulls a little (blue), the output end pulls more "
    "(green), both in the same direction. How far does the shared number go?",
    "Two panels. In gradient descent a short step and a long step, one after the other, reach as "
    "far as the one step of the shared number. In Adam both steps of the untied tables have the "
    "same length, and the shared number makes only one step of that length.",
)
def two_pulls() -> Panels:
    """Return the steps of a tied number and of its untied twins, from the same two gradients."""
    descent = [
        *_row(72, "two tables, both steps", (70, "input"), (150, "output")),
        *_row(132, "one table", (220, "weight"), tied=True),
    ]
    adam = [
        *_row(72, "two tables, both steps", (110, "input"), (110, "output")),
        *_row(132, "one table", (110, "weight"), tied=True),
    ]
    return (
        Panel(320, 170, *descent, title="gradient descent"),
        Panel(320, 170, *adam, title="Adam, first step"),
    )


def _halves(x: int, y: int, first: str, second: str, role: str) -> list[str]:
    """A row of two halves, told apart by their hatches."""
    return [
        box(x, y, 60, 24, role=role, fill=first, rounded=0),
        box(x + 60, y, 60, 24, role=role, fill=second, rounded=0),
    ]


@picture(
    "The row of the token that was read comes back to the table (equal hatches are the same "
    "numbers). On the right its halves have changed places.",
    "Two panels, each with a row of the table above and the state below, both in two halves. On "
    "the left equal hatches stand below each other: the product is large. On the right the "
    "state's halves are swapped, unequal hatches meet, and the product is near zero.",
)
def half_swap() -> Panels:
    """Return a state that meets its own row of the table, as it is and with its halves swapped."""
    panels = []
    for title, state, found in (
        ("as it is", ("up", "dots"), "large: each half meets itself"),
        ("halves swapped", ("dots", "up"), "near 0: strangers meet"),
    ):
        marks = [
            text(112, 54, "row of the table", anchor="end", size=13),
            *_halves(122, 42, "up", "dots", "weight"),
            text(112, 116, "state", anchor="end", size=13),
            *_halves(122, 104, *state, "output"),
            arrow((152, 102), (152, 70), both=True),
            arrow((212, 102), (212, 70), both=True),
            text(182, 150, "own logit", size=14),
            text(182, 170, found, size=13),
        ]
        panels.append(Panel(320, 190, *marks, title=title))
    return tuple(panels)


def _assignment(title: str, kept: int) -> Panel:
    """Two names above two weights, the right ones kept by an assignment."""
    marks = []
    for k, (x, name, law) in enumerate(
        ((14, "embedding", "size 1"), (186, "head", "size 1/√(3*d*)"))
    ):
        gone = k != kept
        marks.append(box(x, 40, 120, 28, name, role="quiet", rounded=8, size=14))
        marks.append(box(x, 112, 120, 40, law, role="wrong" if gone else "weight",
                         fill="plain" if gone else "up", size=14))  # fmt: skip
        below = 74 + 172 * kept
        marks.append(arrow((x + 60, 70), (below + (10 if k else -10) * (1 if gone else 0), 110)))
        if gone:
            marks.append(text(x + 60, 168, "thrown away", size=13))
    return Panel(320, 184, *marks, title=title)


@picture(
    "Names above, weights below, with the size of their entries as PyTorch draws them. The name "
    "on the left of the sign of equality loses its own.",
    "Two panels with the names embedding and head above two weights. Left, both names lead to "
    "the embedding's weight, with entries of size 1, and the head's is thrown away. Right, both "
    "lead to the head's weight, with small entries, and the embedding's is thrown away.",
)
def assigned_weights() -> Panels:
    """Return the two ways to tie by an assignment, and the weight that each of them keeps."""
    return (
        _assignment("head.weight = embedding.weight", 0),
        _assignment("embedding.weight = head.weight", 1),
    )


@picture(
    "The log-bilinear model. Matrices *C*_{i} turn the rows of the words read into a prediction "
    "of the next row, which is compared with every row of the same table.",
    "On the left the rows of the words the, cat and sat; an arrow leads from each, through a "
    "matrix, to a sum. From the sum arrows lead to rows on the right, of a, cat, down and the. "
    "All rows have one hatch: they are of one table.",
)
def log_bilinear_model() -> Panels:
    """Return the model of 2007: words read from a table, and the next one scored by its rows."""
    marks = [text(64, 16, "words read", size=13), text(244, 16, "words scored", size=13)]
    for k, (word, i) in enumerate((("the", 1), ("cat", 2), ("sat", 3))):
        y = 40 + 44 * k
        marks.append(text(34, y, word, anchor="end", size=14))
        marks.append(box(40, y - 11, 50, 22, role="weight", fill="up", rounded=0))
        marks.append(arrow((92, y), (150, 84 + 4 * (k - 1))))
        marks.append(text(*((132, 48), (112, 73), (132, 122))[k], f"*C*_{{{i}}}", size=14))
    marks.append(node(162, 84, "+", role="output"))
    for k, word in enumerate(("a", "cat", "down", "the")):
        y = 36 + 32 * k
        marks.append(box(214, y - 11, 50, 22, role="weight", fill="up", rounded=0))
        marks.append(text(270, y, word, anchor="start", size=14))
        marks.append(arrow((175, 84), (212, y), role="output"))
    marks.append(text(160, 168, "rows of one table on both sides", size=14))
    return Panel(320, 182, *marks)


_EVENTS = (
    ("2003", "Bengio and others: one table", "output"),
    ("2007", "log-bilinear model: one table", "output"),
    ("2016, August", "Press and Wolf, first version", "input"),
    ("2016, November", "Inan, Khosravi and Socher", "input"),
    ("2017", "both papers at conferences", "input"),
    ("2018, 2019", "GPT, BERT, GPT-2 tie", "output"),
    ("2023", "LLaMA: a head of its own", "wrong"),
    ("2024, 2025", "small models tie again", "output"),
)


@picture(
    "Equals: one table. Dash: two. Empty: papers. The idea is older than its papers; large "
    "models dropped it, and small ones took it up again.",
    "A line of years. 2003: a variant of Bengio and others has one table. 2007: so has the "
    "log-bilinear model. August 2016: Press and Wolf's paper is public. November 2016: Inan, "
    "Khosravi and Socher's. 2017: both appear at conferences. 2018 and 2019: GPT, BERT and GPT-2 "
    "tie. 2023: LLaMA has a head of its own. 2024 and 2025: small models tie again.",
)
def tying_timeline() -> Panels:
    """Return a line of years with those who tied, studied tying, or did without."""
    marks = "".join(line((24, 51 + 48 * k), (24, 77 + 48 * k)) for k in range(len(_EVENTS) - 1))
    for place, (when, what, role) in enumerate(_EVENTS):
        y = 40 + 48 * place
        marks += node(24, y, "–" if role == "wrong" else "=" if role == "output" else "", role=role)
        marks += text(48, y - 8, when, anchor="start", size=13)
        marks += text(48, y + 10, what, anchor="start", size=14)
    return Panel(320, 404, marks, title="one table, or two?")
