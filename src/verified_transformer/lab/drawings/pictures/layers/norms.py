"""A normalisation as a circle: what it keeps of a vector, and what it lets back of a gradient."""

from __future__ import annotations

import math

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, line

_Point = tuple[float, float]
_CENTRE, _RADIUS, _TURN = (116.0, 190.0), 78.0, math.radians(38)


@picture(
    "Forward, all vectors on a ray end at the same point of the circle. Backward, the part of "
    "the gradient along the ray is lost, and the rest is divided by the length of *x*.",
    "Two panels with the same circle and the same ray out of its centre. Forward, two vectors of "
    "different lengths on the ray both end at the point y where it crosses the circle. Backward, "
    "a gradient arrives at y; its dashed part along the ray is dropped, and its part along the "
    "circle goes on.",
)
def norm_circle() -> Panels:
    """Return a normalisation twice: a vector on its way forward, a gradient on its way back."""
    return _forward(), _backward()


def _at(distance: float, aside: float = 0.0) -> _Point:
    """A point so far along the ray, and so far to its left."""
    (x, y), along, across = _CENTRE, math.cos(_TURN), math.sin(_TURN)
    return x + distance * along - aside * across, y - distance * across - aside * along


def _circle() -> str:
    (x, y), turns = _CENTRE, [2 * math.pi * k / 72 for k in range(73)]
    rim = [(x + _RADIUS * math.cos(t), y + _RADIUS * math.sin(t)) for t in turns]
    return line(*rim, width=1.2) + line(_at(0), _at(230), faint=True)


def _forward() -> Panel:
    x, y = _CENTRE
    return Panel(
        320, 304, _circle(),
        arrow(_at(0), _at(208), role="input"),
        arrow(_at(0), _at(46), role="input", width=3),
        arrow(_at(206, -14), _at(92, -14), role="output"),
        text(*_at(212, 18), "*x*"), text(*_at(46, 18), "also *x*", size=13),
        text(*_at(_RADIUS + 14, 14), "*y*"),
        text(x, y + _RADIUS + 20, "radius √*d*", size=14),
        title="forward: the length is lost",
    )  # fmt: skip


def _backward() -> Panel:
    x, y = _CENTRE
    start = _at(_RADIUS)
    return Panel(
        320, 304, _circle(),
        arrow(start, _at(_RADIUS + 48, 66), role="gradient", width=2),
        arrow(start, _at(_RADIUS + 48), role="wrong"),
        arrow(start, _at(_RADIUS, 66), role="output", width=2.4),
        text(*_at(_RADIUS + 60, 72), "arrives", size=14),
        text(*_at(_RADIUS + 46, -22), "lost", size=14),
        text(*_at(_RADIUS - 18, 84), "goes on", size=14),
        text(x, y + _RADIUS + 20, "radius √*d*", size=14),
        title="backward: the radial part is lost",
    )  # fmt: skip
