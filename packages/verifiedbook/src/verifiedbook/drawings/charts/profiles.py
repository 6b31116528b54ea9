"""A few curves over layers, steps or sizes, each with its name at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..drawing import Panel
from ..labels import as_text, text
from ..marks import line, node
from ..palette import role_of
from .chart import (
    Chart,
    Scale,
    chart,
    finite,
    refuse_empty,
    roomy,
    tick,
    written,
)

_ROLES = ("output", "weight", "input", "copy", "quiet", "gradient")
_HIGH, _GAP = 170.0, 15.0
Curves = Mapping[str, Sequence[float]]


def profiles(
    panels: Mapping[str, Curves], caption: str, *, x: str = "layer",
    at: Sequence[float] | None = None, form: str = "{:.3g}", log: bool = False,
    log_x: bool = False, zero: bool = False, dots: bool = True,
    ticks: Sequence[float] = (), rules: Mapping[str, float] | None = None,
    named_first: Sequence[str] = (),
) -> Chart:  # fmt: skip
    """Return curves in one to three panels beside each other, on one upright axis.

    Args:
        panels: a title with its curves, each a name and its numbers.
        caption: one or two sentences that say what to look at.
        x: what the lying axis is.
        at: where along it the numbers stand; without it, at 1, 2, 3, …
        form: how a number is told.
        log: whether the upright axis is logarithmic.
        log_x: whether the lying axis is.
        zero: whether the upright axis holds zero.
        dots: whether each number has a dot, where there are at most 16.
        ticks: places that the lying axis marks; without them, its ends and what fits between.
        rules: names of levels, and where they lie: dotted lines in all panels.
        named_first: titles of panels whose curves have their names at the beginning, as they
            should where curves meet at the end.

    Returns:
        The chart; it tells the first, the middle and the last number of each curve.

    Raises:
        ValueError: there is no curve, more than three panels or six curves, curves of different
            lengths, a number that is not finite, or not positive on a logarithmic axis, or a tick
            beyond the ends of the lying axis, or a title that no panel has.

    Example:
        >>> profiles({"forward": {"σ = 0.02": [1, 0.5, 0.25]}}, "A layer halves what comes in.")
        [chart] A layer halves what comes in.
        forward, σ = 0.02: 1 at 1, 0.5 at 2, 0.25 at 3
    """
    refuse_empty(panels, "panels")
    table: dict[str, dict[str, list[float]]] = {}
    for title, curves in panels.items():
        refuse_empty(curves, "panels")
        table[title] = {name: [finite("panels", v) for v in c] for name, c in curves.items()}
    lengths = {len(curve) for curves in table.values() for curve in curves.values()}
    places = [finite("at", v) for v in at] if at is not None else []
    many = len(places) or max(lengths)
    if lengths != {many} or many < 2:
        raise ValueError(f"panels: got curves of {sorted(lengths)}; accepted: one length, 2 or more"
                         + (f", that of at, {many}" if places else ""))  # fmt: skip
    places = places or [float(k + 1) for k in range(many)]
    if len(table) > 3 or max(map(len, table.values())) > len(_ROLES):
        raise ValueError(
            f"panels: got {len(table)} of up to {max(map(len, table.values()))} curves; "
            f"accepted: three panels of {len(_ROLES)} curves"
        )
    outside = [v for v in ticks if not min(places) <= v <= max(places)]
    if outside:
        raise ValueError(f"ticks: got {outside}; accepted: {min(places):g} to {max(places):g}")
    if set(named_first) - set(table):
        raise ValueError(f"named_first: got {list(named_first)}; accepted: {list(table)}")
    ruled = {name: finite("rules", value) for name, value in (rules or {}).items()}
    every = [v for curves in table.values() for curve in curves.values() for v in curve]
    every += ruled.values()
    wide = 320.0 if len(table) < 3 else 230.0
    up = Scale.of(every, 34 + _HIGH, 34, log=log, zero=zero)
    drawn = [
        _panel(title, curves, places, up, wide, x, log_x, dots and many <= 16, ticks,
               ruled, title in named_first)
        for title, curves in table.items()
    ]  # fmt: skip
    told = [
        f"{as_text(title)}{', ' if title else ''}{as_text(name)}: "
        + ", ".join(f"{written(form, curve[k])} at {tick(places[k])}" for k in _some(many))
        for title, curves in table.items()
        for name, curve in curves.items()
    ]
    told += [f"dotted line, {as_text(name)}: at {tick(level)}" for name, level in ruled.items()]
    return chart(drawn, caption, f"Curves over {as_text(x)}:", told)


def _some(many: int) -> list[int]:
    return sorted({0, (many - 1) // 2, many - 1})


def _panel(
    title: str, curves: Curves, at: Sequence[float], up: Scale, wide: float, x: str, log_x: bool,
    dots: bool, ticks: Sequence[float], ruled: Mapping[str, float],
    named_first: bool,
) -> Panel:  # fmt: skip
    left = max(roomy(tick(v), 13) for v in up.ticks(5)) + 8
    names = max(roomy(name, 13) for name in [*curves, *ruled]) + 8
    first, right = (left + names, wide - 8) if named_first else (left, wide - names)
    across = Scale(min(at), max(at), first + 4, right - 2, log=log_x)
    marks = []
    for value in up.ticks(5):
        marks.append(line((first, up(value)), (right, up(value)), width=1, faint=True))
        marks.append(text(left - 6, up(value), tick(value), size=13, anchor="end"))
    for value in ticks or _across_ticks(across):
        if ticks:
            marks.append(line((across(value), 34), (across(value), up.start), width=1, faint=True))
        marks.append(text(across(value), up.start + 16, tick(value), size=13))
    marks.append(text((first + right) / 2, up.start + 34, x, size=13))
    named_at = [up(curve[0 if named_first else -1]) for curve in curves.values()]
    ends = _apart(named_at + [up(level) for level in ruled.values()])
    beside, anchor = (first - 4, "end") if named_first else (right + 4, "start")
    for (name, level), where in zip(ruled.items(), ends[len(named_at) :], strict=True):
        marks.append(line((first, up(level)), (right, up(level)), dotted=True))
        marks.append(text(beside, where, name, size=13, anchor=anchor))
    for k, (name, curve) in enumerate(curves.items()):
        points = [(across(a), up(v)) for a, v in zip(at, curve, strict=True)]
        marks.append(line(*points, role=_ROLES[k], width=2.2))
        if dots:
            marks += [node(*point, "", role=_ROLES[k], radius=2.6) for point in points]
        label = text(beside, ends[k], name, size=13, anchor=anchor)
        colour = role_of(_ROLES[k]).colour
        marks.append(f'<g class="vtd-{_ROLES[k]}" fill="{colour}" style="stroke:none">{label}</g>')
    return Panel(wide, up.start + 46, *marks, title=title)


def _across_ticks(across: Scale) -> list[float]:
    if not across.log:
        whole = [v for v in across.ticks(5) if across.low <= v <= across.high]
        first, last = across.low, across.high
        inner = [
            v for v in whole if across(v) - across(first) > 24 and across(last) - across(v) > 24
        ]
        return [first, *inner, last]
    return [across.low, across.high]


def _apart(wanted: Sequence[float]) -> list[float]:
    """Move labels up and down until none lies on another, as little as can be."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    found = [wanted[k] for k in order]
    for _ in range(60):
        for k in range(len(found) - 1):
            lack = _GAP - (found[k + 1] - found[k])
            if lack > 0:
                found[k] -= lack / 2
                found[k + 1] += lack / 2
    placed = [0.0] * len(found)
    for k, where in zip(order, found, strict=True):
        placed[k] = where
    return placed
