"""What brings a tied model's first loss down: all logits smaller, or the state turned away."""

from __future__ import annotations

import math

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, line

_ZERO, _NAT = 46, 16  # where the logit 0 stands, and how many units a nat is
_OWN, _FAIR = 15.4, 10.8  # own logit and log n of GPT-2's sizes
_BEFORE, _AFTER = 92, 186  # the two axes


@picture(
    "Logits of all tokens, of GPT-2's sizes. The hill is the strangers, the bar the token that "
    "was read. It does harm where it stands to the right of log *n*.",
    "Two panels, each with two axes of logits, before above and after below, and a vertical line "
    "at log n, 10.8. Before: a narrow hill of strangers at 0 and the own token's bar at 15.4, "
    "right of the line. After shrinking: a narrower hill, and the bar at half its place, left of "
    "the line. After turning: the same hill, and the bar in its midst.",
)
def shrink_or_turn() -> Panels:
    """Return the logits of a tied identity model before and after each of the two cures."""
    return (
        _cure("shrink: all logits move", own=7.7, width=6),
        _cure("turn: only the own one moves", own=0.6, width=12),
    )


def _at(nats: float) -> float:
    return _ZERO + _NAT * nats


def _logits(axis: int, own: float, width: float, role: str) -> list[str]:
    """An axis with the strangers' hill, as wide as said, and the own token's bar."""
    hill = [(_ZERO + width * t / 4, axis - 34 * math.exp(-((t / 4) ** 2) / 2))
            for t in range(-14, 15)]  # fmt: skip
    return [
        line((12, axis), (308, axis)),
        line(*hill, role="input", width=2),
        line((_at(own), axis), (_at(own), axis - 46), role=role, width=4),
    ]


def _cure(title: str, own: float, width: float) -> Panel:
    marks = [
        line((_at(_FAIR), 44), (_at(_FAIR), _AFTER), faint=True),
        text(_at(_FAIR), 40, "log *n*", size=13),
        *_logits(_BEFORE, _OWN, 12, "wrong"),
        text(_at(_OWN), 40, "own", size=13),
        text(_ZERO, _BEFORE + 16, "0", size=13),
        text(_at(_OWN), _BEFORE + 16, f"{_OWN}", size=13),
        text(_ZERO + 22, 66, "strangers", anchor="start", size=13),
        *_logits(_AFTER, own, width, "output"),
        arrow((_at(_OWN), _BEFORE + 22), (_at(own) + 6, _AFTER - 42), role="output", width=1.4),
        text(_ZERO, _AFTER + 16, "0", size=13),
    ]
    return Panel(320, 210, *marks, title=title)


_SIZE, _CELL = 8, 11  # of a small matrix
_SWAP = [(i, (i + 4) % 8) for i in range(8)]


@picture(
    "What may stand between state and table (filled: 1, dashed: −1). Count the diagonal: the "
    "trace is the own logit, in units of *σ*. Cells mirrored in the diagonal are its spread.",
    "Six tables of eight by eight with one marked cell in each row. Identity: the diagonal, "
    "trace 8. Shift: one beside the diagonal, trace 0. Shuffle: two on the diagonal, trace 2. "
    "Minus: the diagonal with minus signs, trace minus 8. Halves: two lines mirrored in the "
    "diagonal, trace 0. Rotate half: the same with minus signs in one of them.",
)
def matrices_in_between() -> Panels:
    """Return six orthogonal matrices between state and table, with trace and mirrored cells."""
    shift = [(i, (i + 1) % 8) for i in range(8)]
    shuffle = [(4 * (i % 2) + i // 2, i) for i in range(8)]
    first = (("identity", [(i, i) for i in range(8)], "8"), ("shift", shift, "0"),
             ("shuffle", shuffle, "2"))  # fmt: skip
    second = (("minus", [(i, i) for i in range(8)], "−8"), ("halves", _SWAP, "0"),
              ("rotate half", _SWAP, "0"))  # fmt: skip
    return (
        Panel(320, 168, *_three(first), title="no cell mirrored but the diagonal"),
        Panel(320, 168, *_three(second), title="all cells mirrored"),
    )


def _three(drawn: tuple[tuple[str, list[tuple[int, int]], str], ...]) -> list[str]:
    """Small matrices in a row, each with its name above and its trace below."""
    marks = []
    for place, (name, cells, trace) in enumerate(drawn):
        left, top, side = 12 + 104 * place, 50, _SIZE * _CELL
        marks += [text(left + side / 2, top - 10, name, size=13),
                  box(left, top, side, side, role="quiet", rounded=0),
                  line((left, top), (left + side, top + side), faint=True),
                  text(left + side / 2, top + side + 20, f"trace {trace}", size=13)]  # fmt: skip
        for row, column in cells:
            minus = name == "minus" or (name == "rotate half" and column < _SIZE // 2)
            role = "wrong" if minus else "weight"
            marks.append(box(left + column * _CELL, top + row * _CELL, _CELL, _CELL, role=role,
                             fill="plain" if minus else "up", rounded=0))  # fmt: skip
    return marks
