"""The static picture of a live figure: what stands in print, and where no script runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from ..drawings.charts.chart import round_numbers
from .controls import Slider, shown_number
from .curves import Curve
from .measured import Points

Scale = Callable[[float], float]
_WIDE, _HIGH = 420, 300
_LEFT, _TOP, _WIDTH, _HEIGHT = 54, 28, 354, 226


def extent(
    curves: Sequence[Curve], x: Slider, rest: Sequence[float], points: Sequence[Points], log: bool
) -> tuple[float, float]:
    """The range of the vertical axis that shows all curves and points, as the script finds it."""
    shown = [c.at([x.value(k / 160), *rest]) for c in curves if c.plotted for k in range(161)]
    shown += [row[1] for p in points for row in p.rows]
    shown = [v for v in shown if math.isfinite(v) and (v > 0 or not log)]
    low, high = min(shown), max(shown)
    if log:
        return low / 1.2, high * 1.2
    if low == high:
        low, high = low - 1, high + 1
    pad = (high - low) * 0.06
    return (0.0 if 0 <= low < high / 3 else low - pad), high + pad


def ticks(low: float, high: float, log: bool, most: int) -> list[float]:
    """Ticks at 1, 2 and 5 times powers of ten, as the script finds them.

    Example:
        >>> ticks(0, 10, False, 6), ticks(0.01, 10, True, 6)
        ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [0.01, 0.1, 1.0, 10.0])
    """
    if log:
        a, b = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        steps = (1, 2, 5) if math.log10(high / low) * 3 <= most + 2 else (1,)
        every = math.ceil((b - a) / most)
        found = [float(f"{s}e{k}") for k in range(a, b + 1, every) for s in steps]
    else:
        found = round_numbers(low, high, most)
    slack = 1e-9 * (high - low)
    return [t for t in found if low - slack <= t <= high + slack]


def still(
    curves: Sequence[Curve], controls: Sequence[Slider], y: str, log: bool,
    limits: tuple[float, float], points: Sequence[Points], alt: str, steps: int = 0,
) -> str:  # fmt: skip
    """Return the picture of a figure where its sliders stand at first, as SVG.

    Args:
        curves: those that are switched off are left out.
        controls: the horizontal axis, then the sliders.
        y: title of the vertical axis.
        log: whether it is logarithmic.
        limits: its ends.
        points: what was measured at this setting.
        alt: what is seen.
        steps: how often the first curve is applied to its own value, from the marker on.
    """
    x, rest, low = controls[0], [control.start for control in controls[1:]], limits[0]
    made, across, up, _ = frame(x, y, limits, log, alt)
    for curve in curves:
        if curve.plotted:
            path = _path(curve, x, rest, across, up, log)
            made.append(f'<path class="curve {curve.look}" d="{path}"/>')
    if steps:
        at, path = x.start, f"M{across(x.start):.1f} {up(x.start):.1f}"
        for _ in range(steps):
            after = curves[0].at([at, *rest])
            path += f"V{up(after):.1f}"
            if not x.low <= after <= x.high:
                break
            path, at = f"{path}H{across(after):.1f}", after
        made.append(f'<path class="steps" d="{path}"/>')
    for p in points:
        look = curves[p.of].look
        for a, b, e in p.rows:
            if e:
                lower = max(b - 3 * e, low / 9) if log else b - 3 * e
                made.append(line(f"bar {look}", across(a), up(b + 3 * e), across(a), up(lower)))
            made.append(
                f'<circle class="point {look}" cx="{across(a):.1f}" cy="{up(b):.1f}" r="3.5"/>'
            )
    return "".join([*made, "</svg></svg>"])


def frame(
    x: Slider, y: str, limits: tuple[float, float], log: bool, alt: str
) -> tuple[list[str], Scale, Scale, float]:
    """Return what a picture begins with, the places of values on both axes, and the lower end.

    Two elements stay open: the picture, and in it the frame that cuts off what leaves it.

    Args:
        x: the horizontal axis.
        y, limits, log: title, ends and scale of the vertical one.
        alt: what is seen.
    """
    low, high = limits
    scale = math.log if log else float

    def across(value: float) -> float:
        return _LEFT + _WIDTH * x.place(value)

    def up(value: float) -> float:
        part = (scale(value) - scale(low)) / (scale(high) - scale(low))
        return _TOP + _HEIGHT * (1 - max(-9.0, min(10.0, part)))

    made = [
        f'<svg class="vt-live-still" role="img" viewBox="0 0 {_WIDE} {_HIGH}" '
        f'aria-label="{escape(alt)}">'
    ]
    right, bottom = _LEFT + _WIDTH, _TOP + _HEIGHT
    for t in ticks(low, high, log, 6):
        made.append(line("grid", _LEFT, up(t), right, up(t)))
        made.append(_text(_LEFT - 6, up(t) + 4.5, shown_number(t), "end"))
    few = x.stops if len(x.stops) < 12 else ()
    for t in few or ticks(x.low, x.high, x.log, 5):
        made.append(line("grid", across(t), _TOP, across(t), bottom))
        made.append(_text(across(t), bottom + 18, shown_number(t), "middle"))
    made.append(_text(4, 14, y, "start"))
    made.append(_text(_LEFT + _WIDTH / 2, _HIGH - 5, x.label, "middle"))
    made.append(
        f'<svg x="{_LEFT}" y="{_TOP - 4}" width="{_WIDTH}" height="{_HEIGHT + 8}" '
        f'viewBox="{_LEFT} {_TOP - 4} {_WIDTH} {_HEIGHT + 8}">'
    )
    return made, across, up, bottom


def _path(
    curve: Curve, x: Slider, rest: Sequence[float], across: Scale, up: Scale, log: bool
) -> str:
    made, pen = "", "M"
    for k in range(81):
        at = x.value(k / 80)
        value = curve.at([at, *rest])
        if math.isfinite(value) and (value > 0 or not log):
            made, pen = f"{made}{pen}{across(at):.1f} {up(value):.1f}", "L"
        else:
            pen = "M"
    return made


def sample(look: str) -> str:
    """A short piece of a line, for the key."""
    return (
        f'<svg class="vt-live-sample" viewBox="0 0 34 10" aria-hidden="true">'
        f'<path class="curve {look}" d="M1 5H33"/></svg>'
    )


def line(look: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """A straight line."""
    return f'<line class="{look}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
