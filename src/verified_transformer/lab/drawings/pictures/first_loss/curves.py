"""Exponentials and logarithms as curves: a step up and down, and a shift."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, line, node

_RIM, _WIDE, _GROUND, _UNIT = 54.0, 160.0, 196.0, 56.0
_LEFT, _RIGHT, _FLOOR, _HIGH = 16.0, 304.0, 186.0, 142.0
_LOW, _UP = -7.0, 2.0  # of u
_STEPS = [_LOW + 0.15 * k for k in range(61)]


@picture(
    "The curve that belongs to a sum *x* is the curve of 1, moved to the left by log *x*. Every "
    "slice of the area between them is log *x* long. Right: the mean curve of three random sums "
    "encloses the mean of their areas.",
    "Two panels with curves that fall from one to nought. Left, two equal curves side by side, "
    "with arrows of one length between them. Right, three such curves, paler, a less steep one "
    "through their middle, and the curve of one at the right.",
)
def logarithm_as_a_shift() -> Panels:
    """Return the curve of exp(−exp(u)), moved by the logarithm of a sum, and of several."""
    slices = [arrow((_at(_inverse(h) - 3), _height(h)), (_at(_inverse(h)), _height(h)), both=True,
                    width=1.1) for h in (0.15, 0.38, 0.62, 0.85)]  # fmt: skip
    many = (2.4, 3.2, 4.8)
    one = Panel(
        320, 210, *slices, _curve(_falling(0), "quiet"), _curve(_falling(3), "output"),
        *_frame(), text(_at(-3.5), _height(0.25), "*x*", anchor="end"),
        text(_at(1.2), _height(0.4), "1"), text(_at(-1.6), _height(0.5), "log *x*"),
        title="one sum",
    )  # fmt: skip
    mean = Panel(
        320, 210, *(_curve(_falling(s), "output", faint=True) for s in many),
        _curve(_falling(0), "quiet"),
        _curve(lambda u: sum(_falling(s)(u) for s in many) / 3, "weight"),
        *_frame(), text(_at(-1.2), _height(0.5), "mean"),
        text(_at(-1.2), _height(0.36), "log *x*"),
        text(_at(1.2), _height(0.4), "1"),
        title="many sums, and their mean",
    )  # fmt: skip
    return one, mean


def _at(u: float) -> float:
    return _LEFT + (u - _LOW) / (_UP - _LOW) * (_RIGHT - _LEFT)


def _height(share: float) -> float:
    return _FLOOR - share * _HIGH


def _falling(moved: float) -> Callable[[float], float]:
    return lambda u: math.exp(-math.exp(u + moved))


def _inverse(share: float) -> float:
    return math.log(-math.log(share))


def _curve(falling: Callable[[float], float], role: str, *, faint: bool = False) -> str:
    points = [(_at(u), _height(falling(u))) for u in _STEPS]
    return line(*points, role=role, width=1.4 if faint else 2.4, faint=faint)


def _frame() -> tuple[str, ...]:
    return (
        line((_LEFT, _FLOOR), (_RIGHT, _FLOOR), width=1),
        text(_LEFT - 12, _height(1) - 10, "1", size=13, anchor="start"),
        text(_RIGHT - 4, _FLOOR + 16, "*u*", size=13),
    )


@picture(
    "The exponential gains more by a step up than it loses by a step down. The thick piece is "
    "what the formula leaves out for each token.",
    "A curve that rises ever more steeply, with dots at −1, 0 and 1. The middle of the straight "
    "line between the outer two lies above the middle dot.",
)
def gain_by_a_step() -> Panels:
    """Return the exponential with a step up and a step down, and the middle of its chord."""
    curve = [_on(-1.2 + 0.1 * k) for k in range(25)]
    down, up = _on(-1), _on(1)
    middle, own = ((down[0] + up[0]) / 2, (down[1] + up[1]) / 2), _on(0)
    return Panel(
        320, 226, line((_RIM - 6, _GROUND), (_RIM + _WIDE + 16, _GROUND), width=1),
        *(line((x, y), (x, _GROUND), width=1, faint=True) for x, y in (down, up, own)),
        line(*curve, role="output", width=2.4), line(down, up, role="weight"),
        line(own, middle, role="weight", width=3),
        *(node(x, y, "", role="output", radius=4) for x, y in (down, up, own)),
        node(*middle, "", role="weight", radius=4),
        *(text(_on(x)[0], _GROUND + 18, words, size=14)
          for x, words in ((-1, "−1"), (0, "0"), (1, "1"))),
        text(up[0] + 10, up[1], "*e*^{1} = 2.72", size=14, anchor="start"),
        text(down[0] - 8, down[1] - 26, "*e*^{−1} = 0.37", size=14),
        text(middle[0] - 8, middle[1] - 12, "mean: 1.54", size=14, anchor="end"),
        text(own[0] + 10, own[1] + 12, "*e*^{0} = 1", size=14, anchor="start"),
    )  # fmt: skip


def _on(x: float) -> tuple[float, float]:
    return _RIM + (x + 1.2) / 2.4 * _WIDE, _GROUND - _UNIT * math.exp(x)
