"""A softmax as a ruler of length one: the same keys, near each other and far apart."""

from __future__ import annotations

import math

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import box, line, node

_KEYS = (-1.75, -1.1, -0.6, -0.2, 0.3, 0.8, 1.5, 1.64)  # standard normal, before the spread
_AXIS, _FLOOR, _UNIT = 96, 250, 74.0  # heights of the axis and of the bars' feet; pixels


@picture(
    "Eight keys on the axis of their logits, and below each the attention that it gets. The dots "
    "stand alike in both panels; what differs is the length of the ruler, a difference of one.",
    "Two panels with eight dots on a line, at the same places, and a bar below each dot. On the "
    "left a ruler of length one reaches over several dots, and all bars have some height. On the "
    "right the ruler is eight times as short; the two dots at the right end, which lie within "
    "one ruler's length, have all of the attention, 75 and 25 per cent.",
)
def softmax_ruler() -> Panels:
    """Return eight keys on the axis of logits, with the attention that each of them gets, twice."""
    return _panel(1, "divided: spread 1"), _panel(8, "not divided: spread 8")


def _panel(spread: float, title: str) -> Panel:
    weights = [math.exp(spread * z) for z in _KEYS]
    shares = [w / sum(weights) for w in weights]
    places = [160 + _UNIT * z for z in _KEYS]
    end = 24 + _UNIT / spread
    marks = [
        line((24, 56), (end, 56), width=2.4),
        *(line((x, 50), (x, 62), width=1.6) for x in (24, end)),
        text(end + 8, 56, "1, the softmax's ruler", size=14, anchor="start"),
        line((14, _AXIS), (306, _AXIS)),
        text(306, _AXIS + 20, "logit", size=14, anchor="end"),
        line((14, _FLOOR), (306, _FLOOR)),
        text(160, _FLOOR + 20, "attention", size=14),
    ]
    for x, share in zip(places, shares, strict=True):
        marks.append(node(x, _AXIS, "", role="input", radius=4.5))
        if share > 0.002:
            high = 150 * share
            marks.append(box(x - 4.5, _FLOOR - high, 9, high, role="output", fill="up", rounded=0))
    return Panel(320, 284, *marks, title=title)
