"""The marks of a drawing: each function returns some, which a panel puts together.

Coordinates run to the right and down. A mark has a role (`palette.ROLES`), which gives its colour,
and often a hatch, which says it once more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .labels import SIZE, text, text_width
from .palette import hatch, role_of, short

Point = tuple[float, float]
_HEAD = 8.0  # length of an arrow's head


def _in_role(role: str, marks: str) -> str:
    colour = role_of(role).colour
    return f'<g class="vtd-{role}" fill="{colour}" stroke="{colour}">{marks}</g>'


def _boxes(
    cells: Sequence[tuple[float, float, float, float, str, str]], role: str, rounded: float,
    size: float,
) -> str:  # fmt: skip
    """Rectangles of one role, each with its place, size, label and hatch."""
    frames, lines, dots, labels = "", "", "", ""
    for x, y, width, height, label, fill in cells:
        frames += (
            f'<rect x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}" '
            f'rx="{short(rounded)}"/>'
        )
        clear = (text_width(label, size) + 6, 1.2 * size) if label else (0, 0)
        filled = hatch(fill, x, y, width, height, clear=clear)
        lines, dots = (lines, dots + filled) if fill == "dots" else (lines + filled, dots)
        labels += text(x + width / 2, y + height / 2, label, size=size) if label else ""
    dash = ' stroke-dasharray="5 3"' if role_of(role).dashed else ""
    strength = ".07" if role == "quiet" else ".18"
    marks = f'<g fill-opacity="{strength}" stroke-width="1.4"{dash}>{frames}</g>'
    for path, thick in ((lines, "1"), (dots, "2.4")):
        if path:
            marks += (f'<path d="{path}" fill="none" stroke-width="{thick}" stroke-opacity=".6" '
                      'stroke-linecap="round"/>')  # fmt: skip
    return _in_role(role, marks) + labels


def _beside(
    x: float, y: float, width: float, height: float, *, above: str = "", below: str = "",
    left: str = "", right: str = "",
) -> str:  # fmt: skip
    """Labels at the sides of a rectangle."""
    across, down = x + width / 2, y + height / 2
    places = (
        (across, y - 13, above, "middle"), (across, y + height + 16, below, "middle"),
        (x - 8, down, left, "end"), (x + width + 8, down, right, "start"),
    )  # fmt: skip
    return "".join(
        text(u, v, label, size=14, anchor=anchor) for u, v, label, anchor in places if label
    )


def box(
    x: float, y: float, width: float, height: float, label: str = "", *, role: str = "weight",
    fill: str = "plain", rounded: float = 2, size: float = SIZE, **beside: str,
) -> str:  # fmt: skip
    """Return a rectangle with a label in its middle: a module, a block, a matrix.

    Args:
        x, y: its upper left corner.
        width, height: its size.
        label: what stands in it.
        role: what it is, one of `palette.ROLES`.
        fill: its hatch, one of `palette.HATCHES`.
        rounded: radius of the corners.
        size: of the letters.
        beside: what stands at its sides: ``above``, ``below``, ``left``, ``right``.
    """
    rectangle = _boxes([(x, y, width, height, label, fill)], role, rounded, size)
    return rectangle + _beside(x, y, width, height, **beside)


def vector(
    x: float, y: float, cells: int | Sequence[str], *, role: str = "input", upright: bool = False,
    cell: float = 14, fill: str | Sequence[str] = "plain", across: float = 0, **beside: str,
) -> str:  # fmt: skip
    """Return a bar of cells, lying or ``upright``.

    Args:
        x, y: its upper left corner.
        cells: how many, or what stands in each.
        role: what it is.
        upright: whether its cells stand below each other.
        cell: length of a cell along the bar.
        fill: one hatch for all cells, or one for each.
        across: the bar's other size; that of a cell where it is 0.
        beside: what stands at its sides, as of a `box`.
    """
    labels = [""] * cells if isinstance(cells, int) else list(cells)
    fills = [fill] * len(labels) if isinstance(fill, str) else list(fill)
    other = across or cell
    size = (other, cell) if upright else (cell, other)
    cells_there = [
        (x, y + i * cell, *size, label, kind) if upright else (x + i * cell, y, *size, label, kind)
        for i, (label, kind) in enumerate(zip(labels, fills, strict=True))
    ]
    wide, high = (other, cell * len(labels)) if upright else (cell * len(labels), other)
    return _boxes(cells_there, role, 0, 14) + _beside(x, y, wide, high, **beside)


def blocks(
    x: float, y: float, cell: float, labels: Sequence[Sequence[str]], *, role: str = "weight",
    fills: Sequence[Sequence[str]] | None = None, size: float = SIZE, high: float = 0,
    **beside: str,
) -> str:  # fmt: skip
    """Return a matrix of blocks, one for each label; equal hatches are equal numbers.

    Args:
        x, y: its upper left corner.
        cell: width of a block.
        labels: rows of labels, empty where a block has none.
        role: what its numbers are.
        fills: rows of hatches; without them all blocks are plain.
        size: of the letters.
        high: height of a block; its width where it is 0.
        beside: what stands at its sides, as of a `box`.
    """
    hatches = fills or [["plain"] * len(row) for row in labels]
    height = high or cell
    cells = [
        (x + j * cell, y + i * height, cell, height, label, hatches[i][j])
        for i, row in enumerate(labels)
        for j, label in enumerate(row)
    ]
    wide, high = cell * len(labels[0]), height * len(labels)
    return _boxes(cells, role, 0, size) + _beside(x, y, wide, high, **beside)


def line(
    *points: Point, role: str = "quiet", width: float = 1.6, faint: bool = False,
    dotted: bool = False,
) -> str:  # fmt: skip
    """Return a line through points; dashed where its role is, and dotted where it is a level."""
    path = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
    dash = ' stroke-dasharray="5 3"' if role_of(role).dashed else ""
    dash = ' stroke-dasharray="2 3"' if dotted else dash
    pale = ' stroke-opacity=".35"' if faint else ""
    return _in_role(role, f'<path d="{path}" fill="none" stroke-width="{short(width)}"'
                    f'{dash}{pale}/>')  # fmt: skip


def arrow(
    *points: Point, role: str = "quiet", both: bool = False, bend: float = 0, width: float = 1.6
) -> str:
    """Return an arrow through points, with a head at its end, or at both.

    Args:
        points: two or more, straight from one to the next.
        role: what flows along it.
        both: whether both ends have a head, as between two places that are one thing.
        bend: how far the middle of an arrow between two points is pushed to its right.
        width: of the line.

    Raises:
        ValueError: there are fewer than two points, or more than two of a bent arrow.
    """
    if len(points) < 2 or (bend and len(points) > 2):
        raise ValueError(f"points: got {len(points)}; accepted: two or more, two where it bends")
    (x1, y1), (x2, y2) = points[0], points[-1]
    before, after = points[-2], points[1]
    if bend:
        length = math.hypot(x2 - x1, y2 - y1)
        turn = (-(y2 - y1) / length, (x2 - x1) / length)
        middle = ((x1 + x2) / 2 + 2 * bend * turn[0], (y1 + y2) / 2 + 2 * bend * turn[1])
        before = after = middle
    ends = _shortened((x2, y2), before), _shortened((x1, y1), after) if both else (x1, y1)
    (u2, v2), (u1, v1) = ends
    start = f"M{short(u1)} {short(v1)}"
    if bend:
        path = f"{start}Q{short(before[0])} {short(before[1])} {short(u2)} {short(v2)}"
    else:
        inner = "".join(f"L{short(x)} {short(y)}" for x, y in points[1:-1])
        path = f"{start}{inner}L{short(u2)} {short(v2)}"
    dash = ' stroke-dasharray="5 3"' if role_of(role).dashed else ""
    marks = f'<path d="{path}" fill="none" stroke-width="{short(width)}"{dash}/>'
    marks += _head((x2, y2), before) + (_head((x1, y1), after) if both else "")
    return _in_role(role, marks)


def _direction(tip: Point, tail: Point) -> Point:
    length = math.hypot(tip[0] - tail[0], tip[1] - tail[1]) or 1.0
    return (tip[0] - tail[0]) / length, (tip[1] - tail[1]) / length


def _shortened(tip: Point, tail: Point) -> Point:
    along = _direction(tip, tail)
    return tip[0] - 0.8 * _HEAD * along[0], tip[1] - 0.8 * _HEAD * along[1]


def _head(tip: Point, tail: Point) -> str:
    (along, down), half = _direction(tip, tail), 0.45 * _HEAD
    base = (tip[0] - _HEAD * along, tip[1] - _HEAD * down)
    corners = [tip, (base[0] - half * down, base[1] + half * along),
               (base[0] + half * down, base[1] - half * along)]  # fmt: skip
    path = "L".join(f"{short(x)} {short(y)}" for x, y in corners)
    return f'<path d="M{path}Z" stroke="none"/>'


def brace(start: Point, end: Point, label: str = "") -> str:
    """Return a curly brace from one point to another, its tip and label on the left of the way."""
    (x1, y1), (x2, y2), depth = start, end, 8
    along, down = _direction(end, start)
    out = (down * depth, -along * depth)
    middle = ((x1 + x2) / 2, (y1 + y2) / 2)

    def at(point: Point, aside: float, on: float) -> str:
        return (f"{short(point[0] + aside * out[0] + on * depth * along)} "
                f"{short(point[1] + aside * out[1] + on * depth * down)}")  # fmt: skip

    path = (
        f"M{at(start, 0, 0)}Q{at(start, 1, 0)} {at(start, 1, 1)}L{at(middle, 1, -1)}"
        f"Q{at(middle, 1, 0)} {at(middle, 2, 0)}Q{at(middle, 1, 0)} {at(middle, 1, 1)}"
        f"L{at(end, 1, -1)}Q{at(end, 1, 0)} {at(end, 0, 0)}"
    )
    marks = _in_role("quiet", f'<path d="{path}" fill="none" stroke-width="1.3"/>')
    tip = (middle[0] + 3.6 * out[0], middle[1] + 3.6 * out[1])
    return marks + (text(*tip, label) if label else "")


def node(x: float, y: float, sign: str = "+", *, role: str = "quiet", radius: float = 11) -> str:
    """Return a small circle with a sign: where streams are added or multiplied."""
    circle = (
        f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}" fill-opacity=".12" '
        'stroke-width="1.4"/>'
    )
    return _in_role(role, circle) + (text(x, y - 0.5, sign, size=17 if sign == "+" else SIZE))


def dial(
    x: float, y: float, radius: float, angles: Sequence[float], *, roles: Sequence[str] = (),
    arc: bool = False,
) -> str:  # fmt: skip
    """Return a clock face with hands; earlier hands are fainter unless each has a role.

    Args:
        x, y, radius: of the face.
        angles: of the hands, in radians, counter-clockwise from the right.
        roles: one for each hand; without them all are the input's.
        arc: whether the angle from the first to the last hand is drawn.
    """
    face = f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}" stroke-width="1.2" '
    marks = _in_role("quiet", face + 'fill-opacity=".05" stroke-opacity=".5"/>')
    for place, angle in enumerate(angles):
        tip = (x + 0.92 * radius * math.cos(angle), y - 0.92 * radius * math.sin(angle))
        role = roles[place] if roles else "input"
        last = bool(roles) or place == len(angles) - 1
        marks += (
            arrow((x, y), tip, role=role, width=2.2) if last else line((x, y), tip, role=role,
            width=1.2, faint=True)
        )  # fmt: skip
    if arc and len(angles) > 1:
        first, last_angle, r = angles[0], angles[-1], 0.42 * radius
        begin = f"{short(x + r * math.cos(first))} {short(y - r * math.sin(first))}"
        end = f"{short(x + r * math.cos(last_angle))} {short(y - r * math.sin(last_angle))}"
        large, sweep = int(abs(last_angle - first) > math.pi), int(last_angle < first)
        marks += _in_role("output", f'<path d="M{begin}A{short(r)} {short(r)} 0 {large} {sweep} '
                          f'{end}" fill="none" stroke-width="2.4"/>')  # fmt: skip
    return marks


def core(
    x: float, y: float, label: str, *, below: str = "", above: str = "",
    radius: float = 21, leg: float = 26,
) -> str:  # fmt: skip
    """Return a tensor core: a circle with a leg below and one above, each with its index."""
    marks = ""
    for index, sign in ((below, 1), (above, -1)):
        if index:
            end = y + sign * (radius + leg)
            marks += line((x, y + sign * radius), (x, end)) + (text(x, end + sign * 11, index))
    circle = (
        f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}" fill-opacity=".18" '
        'stroke-width="1.6"/>'
    )
    return marks + _in_role("weight", circle) + text(x, y, label)
