"""One step of a learning rate, beside weights in two units."""

from __future__ import annotations

import math

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, line

_MIDDLE, _GROUND, _STEP = 160.0, 190.0, 34.0


@picture(
    "The bells show how large the weights are, the arrows one step of an optimiser that moves "
    "each weight by its rate. Both layers compute the same *y*. The same step is most of a small "
    "weight, and little of a large one.",
    "Two panels. Left, a narrow high bell, and below it an arrow that is longer than the bell is "
    "wide. Right, a wide low bell, and an arrow of the same length that is short beside it.",
)
def one_step_two_units() -> Panels:
    """Return a step of one length twice: among small weights, and among weights of size one."""
    return (
        _panel("small weights, no factor", 12, 120, "*w* ~ 1/√*m*", "*y* = Σ *x*_{i}*w*_{i}"),
        _panel("weights of size 1, a factor", 48, 56, "*u* ~ 1",
               "*y* = (1/√*m*) Σ *x*_{i}*u*_{i}"),
    )  # fmt: skip


def _panel(title: str, sd: float, high: float, size: str, layer: str) -> Panel:
    ends = [-3 + 6 * step / 60 for step in range(61)]
    bell = [(_MIDDLE + sd * x, _GROUND - high * math.exp(-(x**2) / 2)) for x in ends]
    return Panel(
        320, 286,
        line((12, _GROUND), (308, _GROUND), width=1), line(*bell, role="weight", width=2),
        text(_MIDDLE + 62, _GROUND - high + 4, size, anchor="start", size=14),
        arrow((_MIDDLE, _GROUND + 20), (_MIDDLE + _STEP, _GROUND + 20), role="gradient", width=2.4),
        text(_MIDDLE + _STEP + 14, _GROUND + 20, "one step *η*", anchor="start", size=14),
        text(_MIDDLE, _GROUND + 64, layer),
        title=title,
    )  # fmt: skip
