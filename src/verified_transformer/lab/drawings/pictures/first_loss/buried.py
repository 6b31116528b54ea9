"""How layers bury a token: squared lengths add at right angles."""

from __future__ import annotations

import math

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, line

_LEFT, _FLOOR, _UNIT = 90, 236, 78


@picture(
    "The stream after each layer is the long side of a triangle with a right angle: the token's "
    "own embedding lies along the bottom, and what all branches have added stands upright. The "
    "cosine is that of the angle at the left. What would the fourth layer do?",
    "Two fans of right-angled triangles over a base. Left the base is long, and the angle grows "
    "from layer to layer. Right the base is short, and after one layer the state stands nearly "
    "upright.",
)
def buried_token() -> Panels:
    """Return what is left of a token in the stream: a loud embedding, and a faint one."""
    return (
        _panel(0.82**0.5, 1.86, (1, 2, 3), "a loud embedding"),
        _panel(0.25, 1.86, (1, 2, 3), "a faint embedding"),
    )


def _panel(own: float, branch: float, layers: tuple[int, ...], title: str) -> Panel:
    right = _LEFT + _UNIT * own
    parts = [
        arrow((_LEFT, _FLOOR), (right, _FLOOR), role="input"),
        text((_LEFT + right) / 2, _FLOOR + 20, "own" if own < 0.5 else "own embedding", size=13),
    ]
    before: float = _FLOOR
    for layer in layers:
        top = _FLOOR - _UNIT * math.sqrt(layer * branch)
        parts += [
            arrow((right, before), (right, top), role="weight"),
            line((_LEFT, _FLOOR), (right, top), role="output", faint=layer < layers[-1]),
            text(right + 12, (before + top) / 2 + 5, f"layer {layer}", size=13, anchor="start"),
        ]
        before = top
    return Panel(320, 270, *parts, title=title)
