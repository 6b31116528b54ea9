"""What a row costs: read from a table, made from short vectors, and passed back through them."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, blocks, box, brace, vector

_FILLS = ("plain", "up", "dots", "down")
_UNIT, _LEFT = 4, 32


@picture(
    "Each number of a strip becomes a copy of the next vector, times that number. Equal hatches: "
    "made from the same entry of the first vector.",
    "First: one row of a table, 64 cells long, is copied out. Second: a vector of four cells "
    "times a second one makes a strip of 16 cells in four hatched blocks; this times a third "
    "vector makes the strip of 64 cells, four times as long, in four blocks.",
)
def row_read_or_made() -> Panels:
    """Return a row that is read from a table, and the same row made of three short vectors."""
    read = Panel(
        320, 250,
        box(_LEFT, 40, 256, 110, role="weight"),
        box(_LEFT, 84, 256, 14, role="weight", fill="up"),
        text(_LEFT - 8, 91, "*t*", anchor="end"),
        arrow((160, 104), (160, 184)),
        vector(_LEFT, 188, 4, role="output", cell=16 * _UNIT, across=16),
        text(160, 226, "nothing is multiplied"),
        title="read: 64 numbers",
    )  # fmt: skip
    steps = "".join(
        blocks(_LEFT, 58 + 62 * i, _UNIT * 4**i, [[""] * 4], role="output",
               fills=[_FILLS], high=16)
        + arrow((_LEFT + 8, 38 + 62 * i), (_LEFT + 8, 56 + 62 * i), width=1.2)
        for i in (1, 2)
    )  # fmt: skip
    others = "".join(
        text(x - 8, y, "×") + vector(x, y - 8, 4, role="weight", cell=_UNIT, across=16)
        for x, y in ((84, 66), (122, 128))
    )  # fmt: skip
    made = Panel(
        320, 250,
        vector(_LEFT, 58, 4, role="weight", cell=_UNIT * 2, across=16, fill=_FILLS),
        others, steps,
        text(300, 66, "4 + 4 + 4 read", anchor="end", size=14),
        text(300, 128, "16 multiplied", anchor="end", size=14),
        text(160, 226, "64 multiplied"),
        title="made: 12 numbers read",
    )  # fmt: skip
    return read, made


@picture(
    "The gradient has a number for each product. Every one of them is multiplied twice: by an "
    "entry of *e* on its way to *p*, and by an entry of *p* on its way to *e*.",
    "First: a column of two numbers p and a row of three numbers e make six products. Second: a "
    "table of six gradients; its rows, times e, are summed to two numbers for p; its columns, "
    "times p, to three numbers for e.",
)
def three_times_as_often() -> Panels:
    """Return one step of the pass forward, and the two sums that pass its gradient back."""
    forward = Panel(
        320, 180,
        vector(60, 74, ["*p*_{1}", "*p*_{2}"], role="input", upright=True, cell=36, across=36),
        vector(112, 36, ["*e*_{1}", "*e*_{2}", "*e*_{3}"], role="weight", cell=48, across=30),
        blocks(112, 74, 48, [[f"*p*_{{{a}}}*e*_{{{b}}}" for b in (1, 2, 3)] for a in (1, 2)],
               role="output", size=14, high=36),
        text(184, 166, "6 multiplications", size=14),
        title="forward",
    )  # fmt: skip
    backward = Panel(
        320, 180,
        blocks(40, 40, 44, [[f"*g*_{{{a}{b}}}" for b in (1, 2, 3)] for a in (1, 2)],
               role="gradient", size=14, high=32),
        arrow((176, 72), (222, 72)), text(186, 48, "times *e*: 6", anchor="start", size=14),
        vector(228, 64, 2, role="gradient", cell=16, upright=True),
        text(254, 80, "to *p*", anchor="start"),
        brace((172, 108), (40, 108)), text(106, 136, "times *p*: 6 more"),
        vector(82, 150, 3, role="gradient", cell=16), text(144, 158, "to *e*", anchor="start"),
        title="backward",
    )  # fmt: skip
    return forward, backward
