"""What the two ends of a tied table do to its numbers, and how a state may meet its own row."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, line

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
