"""What a colour means in every drawing of the book, with a second sign for those who see no hue.

A role is a hue and, where a drawing needs it, a hatch. The hues stand as plain attributes in the
drawing, so that Jupyter, Colab and a printer show them; the book's style sheet overrides them
through the class of the role, in light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_GAP = 7  # between the lines of a hatch
_Rectangle = tuple[float, float, float, float]
_Stroke = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Role:
    """One meaning: its name, its hue where no style sheet says another, and what it stands for."""

    name: str
    colour: str
    meaning: str
    dashed: bool = False


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("input", "#2f7fc1", "what goes in: a token, an activation, a query"),
        Role("weight", "#b07a12", "numbers that are learnt"),
        Role("output", "#1c9470", "what comes out: a sum, a state, a score"),
        Role("gradient", "#a4649c", "what is passed back", dashed=True),
        Role("copy", "#7a74c9", "a copy of something that stands elsewhere in the drawing"),
        Role("wrong", "#d5602b", "what must not be, or what is lost", dashed=True),
        Role("quiet", "currentColor", "structure: axes, wires, modules without weights"),
    )
}

HATCHES = ("plain", "up", "down", "dots")
"""The second sign: slanted lines, dots; things with one hatch are the same numbers."""


def role_of(name: str) -> Role:
    """Return a role by its name.

    Raises:
        ValueError: the book gives no such meaning to a colour.

    Example:
        >>> role_of("weight").meaning
        'numbers that are learnt'
    """
    if name not in ROLES:
        raise ValueError(f"role: got {name!r}; accepted: {', '.join(ROLES)}")
    return ROLES[name]


def short(number: float) -> str:
    """Write a coordinate with one decimal at most, the same on every machine.

    Example:
        >>> short(3.0), short(2.449), short(-0.02)
        ('3', '2.4', '0')
    """
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def hatch(
    kind: str, x: float, y: float, width: float, height: float, *,
    clear: tuple[float, float] = (0, 0),
) -> str:  # fmt: skip
    """Return the lines or dots that fill a rectangle, as the data of one SVG path.

    Patterns of SVG need an id, which two drawings of a page would share; plain lines need none.

    Args:
        kind: one of `HATCHES`.
        x, y, width, height: the rectangle.
        clear: width and height that stay free in the middle, for a label.

    Returns:
        Path data, empty for ``"plain"``.

    Raises:
        ValueError: there is no such hatch.
    """
    if kind not in HATCHES:
        raise ValueError(f"hatch: got {kind!r}; accepted: {', '.join(HATCHES)}")
    if kind == "plain":
        return ""
    wide, high = clear
    free = ((width - wide) / 2, (height - high) / 2, (width + wide) / 2, (height + high) / 2)
    if kind == "dots":
        strokes = _dots(width, height, free)
    else:
        strokes = list(_slanted(width, height, free))
        if kind == "down":
            strokes = [((width - a, b), (width - c, d)) for (a, b), (c, d) in strokes]
    return "".join(
        f"M{short(x + a)} {short(y + b)}L{short(x + c)} {short(y + d)}"
        if (a, b) != (c, d)
        else f"M{short(x + a)} {short(y + b)}h.1"
        for (a, b), (c, d) in strokes
    )


def _dots(width: float, height: float, free: _Rectangle) -> list[_Stroke]:
    across, down = max(1, int(width / _GAP)), max(1, int(height / _GAP))
    points = [
        ((i + 0.5) * width / across, (j + 0.5) * height / down)
        for i in range(across)
        for j in range(down)
    ]
    left, top, right, bottom = free
    return [((u, v), (u, v)) for u, v in points if not (left < u < right and top < v < bottom)]


def _slanted(width: float, height: float, free: _Rectangle) -> Iterator[_Stroke]:
    """Yield the strokes along which u + v is a multiple of the gap, cut where they meet `free`."""
    left, top, right, bottom = free
    for step in range(1, int((width + height) / _GAP) + 1):
        total = step * _GAP
        begin, end = max(0.0, total - height), min(width, total)
        stop, again = max(begin, left, total - bottom), min(end, right, total - top)
        pieces = [(begin, end)] if again <= stop else [(begin, stop), (again, end)]
        for first, last in pieces:
            if last - first > 0.5:
                yield (first, total - first), (last, total - last)
