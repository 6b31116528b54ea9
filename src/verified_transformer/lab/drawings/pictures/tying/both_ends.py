"""What a table does at each end of a model, and which of its rows wins."""

from __future__ import annotations

import math

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, line

_ROWS, _HIGH, _TOP, _READ = 6, 20, 44, 2
_SCORES = (14, 34, 62, 8, 26, 18)


def _table(left: int) -> list[str]:
    """A table of six rows, one of which has the input's colour and hatch."""
    return [
        box(left, _TOP + i * _HIGH, 84, _HIGH, role="input" if i == _READ else "weight",
            fill="up" if i == _READ else "plain", rounded=0)
        for i in range(_ROWS)
    ]  # fmt: skip


@picture(
    "The same table at both ends. Here the state *h* has come back near to row *t*, and so *t* "
    "gets the longest bar, its score.",
    "Two pictures of one table of six rows, the third of which is marked. Left: an arrow takes a "
    "copy of that row out. Right: a state is joined to every row by an arrow, and each row has a "
    "bar for its score; the marked row has the longest.",
)
def two_uses_of_a_table() -> Panels:
    """Return a table from which a row is copied, and one with which a state is compared."""
    under, row = _TOP + _ROWS * _HIGH + 20, _TOP + (_READ + 0.5) * _HIGH
    copied = [
        *_table(50),
        text(42, row, "*t*", anchor="end"),
        arrow((136, row), (206, row)),
        box(208, row - 10, 84, 20, role="input", fill="up", rounded=0),
        text(160, under, "one row moves, nothing is computed", size=14),
    ]
    compared = [*_table(112), box(8, row - 10, 60, 20, "*h*", role="output", rounded=0)]
    for i, score in enumerate(_SCORES):
        y = _TOP + (i + 0.5) * _HIGH
        compared.append(arrow((70, row), (110, y), width=1.2))
        compared.append(box(204, y - 7, score, 14, role="output", rounded=0))
    compared.append(text(286, row, "*z*_{t}", size=14))
    compared.append(text(160, under, "every row: *d* products each", size=14))
    return (
        Panel(320, under + 16, *copied, title="entrance: copy"),
        Panel(320, under + 16, *compared, title="exit: compare"),
    )


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
