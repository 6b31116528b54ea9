"""An entry of a train as a sum over walks along its bonds."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...parts import line, node, text

_WIRES = (48, 88, 128, 168)


@picture(
    "An entry is the sum over all walks from left to right. The two that are marked share their "
    "first step and part; from there each meets numbers of its own.",
    "Four wires in a first bond and four in a second, every wire of the first joined to every "
    "wire of the second. From a start at the left to an end at the right two walks are marked; "
    "they go through the same wire first and through different ones after it.",
)
def walks_along() -> Panels:
    """Return the walks from one end of a train to the other, two of them marked."""
    first, second, end = 100, 220, (300, 108)
    start = (20, 108)
    faint = "".join(line(start, (first, y), faint=True, width=1) for y in _WIRES)
    faint += "".join(
        line((first, a), (second, b), faint=True, width=1) for a in _WIRES for b in _WIRES
    )
    faint += "".join(line((second, y), end, faint=True, width=1) for y in _WIRES)
    solid = _walk("weight", start, (first, _WIRES[1]), (second, _WIRES[0]), end)
    dashed = _walk("quiet", start, (first, _WIRES[1]), (second, _WIRES[3]), end)
    dots = "".join(node(x, y, "", radius=6) for x in (first, second) for y in _WIRES)
    labels = "".join(
        text(x, 196, label, size=14)
        for x, label in ((56, "*g*_{a}"), (160, "*H*_{ab}"), (264, "*h*_{b}"))
    )
    walks = Panel(
        320, 212, faint, solid, dashed, dots, labels,
        text(first, 22, "bond *a*", size=14), text(second, 22, "bond *b*", size=14),
    )  # fmt: skip
    return walks


def _walk(role: str, *points: tuple[float, float]) -> str:
    return line(*points, role=role, width=3)
