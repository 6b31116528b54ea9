"""A normal law cut off at two standard deviations, and cut off at two: not the same."""

from __future__ import annotations

import math

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import line

_UNIT, _MIDDLE, _WIDE, _NARROW = 46, 160, 1.0, 0.3


@picture(
    "The upright lines are the bounds. Draws beyond them, where a bell is dashed, are drawn "
    "again. Left, the bounds shrink with the bell, and each bell loses the same share. Right, "
    "they stay where they are, and the narrow bell loses nothing.",
    "Two panels, each with a wide bell above and a narrow bell below. Left, both are cut by two "
    "upright lines that lie close to the narrow bell and far apart at the wide one. Right, the "
    "lines stand at the same two places for both bells; they cut the wide one and stand far "
    "outside the narrow one.",
)
def cut_bells() -> Panels:
    """Return two bells twice: with bounds that move with their width, and with fixed bounds."""
    return _panel(moving=True), _panel(moving=False)


def _panel(*, moving: bool) -> Panel:
    marks = []
    for sd, ground, high in ((_WIDE, 136, 76), (_NARROW, 262, 84)):
        bound = 2 * sd if moving else 2.0
        marks += [_bell(sd, ground, high, bound), line((16, ground), (304, ground), width=1)]
        marks.append(text(8, ground - 62, f"*σ* = {sd:g}", anchor="start", size=14))
        for end, label in ((-bound, "−2"), (bound, "2")):
            x = _MIDDLE + _UNIT * end
            marks.append(line((x, ground - high - 4), (x, ground + 4), width=1.2))
            marks.append(text(x, ground + 16, f"{label}*σ*" if moving else label, size=13))
    title = "bounds at ±2 standard deviations" if moving else "bounds at ±2"
    return Panel(320, 290, *marks, title=title)


def _bell(sd: float, ground: float, high: float, bound: float) -> str:
    """The curve between the bounds, and dashed what lies beyond them."""

    def curve(low: float, top: float, role: str) -> str:
        ends = [low + (top - low) * step / 40 for step in range(41)]
        points = [
            (_MIDDLE + _UNIT * x, ground - high * math.exp(-((x / sd) ** 2) / 2)) for x in ends
        ]
        return line(*points, role=role, width=2)

    far = 3.1 * sd
    kept = curve(-min(bound, far), min(bound, far), "weight")
    if bound >= far:
        return kept
    return kept + curve(-far, -bound, "wrong") + curve(bound, far, "wrong")
