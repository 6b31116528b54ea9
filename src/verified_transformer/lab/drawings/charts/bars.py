"""Numbers as bars, and whole things as the shares of their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..drawing import Panel
from ..labels import as_text, text
from ..parts import box, line, node
from .chart import (
    Chart,
    Scale,
    along_the_bottom,
    chart,
    filled,
    label_width,
    legend,
    levels,
    named_above,
    number,
    roomy,
    told_levels,
    written,
)  # fmt: skip

__all__ = ["bars", "shares"]

_WIDE, _BAR, _LETTERS = 320.0, 16.0, 14.0
_ROLES = ("output", "weight", "input", "copy", "gradient", "quiet")
_FILLS = ("plain", "up", "dots", "down", "plain", "up")


def bars(
    rows: Mapping[str, float | Sequence[float]], caption: str, *, series: Sequence[str] = (),
    form: str = "{:.3g}", unit: str = "", log: bool = False, roles: Sequence[str] = _ROLES,
    title: str = "", kinds: Mapping[str, str] | None = None, ticks: Sequence[float] = (),
    rules: Mapping[str, float] | None = None,
) -> Chart:  # fmt: skip
    """Return numbers as lying bars, each with its number at its end.

    Args:
        rows: a label and its number, or its numbers, one for each of ``series``.
        caption: one or two sentences that say what to look at; marks as in a drawing's label.
        series: what the numbers of a row are, where it has several.
        form: how a number is written.
        unit: of the numbers, below the axis.
        log: whether the axis is logarithmic; then a row is a dot on a line.
        roles: colours of the series.
        title: stands above.
        kinds: of what kind the thing of each row is, where there are no series; things of one kind
            have one colour and one hatch.
        ticks: places that a logarithmic axis marks; it ends where they do.
        rules: names of levels, and where they lie: dotted lines with the name above.

    Returns:
        The chart.

    Raises:
        ValueError: there is no row, a row has not one number for each series or no kind, a number
            is not finite, or not positive on a logarithmic axis, or ticks are for an axis that
            has none.

    Example:
        >>> bars({"GPT-2": 5.4, "LLaMA 7B": 0.6}, "What a table weighs, in layers.")
        [chart] What a table weighs, in layers.
        GPT-2: 5.4
        LLaMA 7B: 0.6
    """
    filled(rows)
    table = {
        label: [number("rows", v) for v in (found if isinstance(found, Sequence) else (found,))]
        for label, found in rows.items()
    }
    many = max(1, len(series))
    for label, found in table.items():
        if len(found) != many:
            raise ValueError(f"rows: got {len(found)} numbers of {label!r}; accepted: {many}")
    if kinds is not None and (series or set(kinds) != set(rows)):
        raise ValueError(f"kinds: got {list(kinds)}; accepted: one for each row, without series")
    if ticks and not log:
        raise ValueError(f"ticks: got {list(ticks)}; accepted: none without log=True")
    ruled = levels(rules)
    marks, height = _lying(
        table, series, roles, form, unit, log, 26.0 if title else 0.0, kinds or {}, ticks, ruled
    )
    told = [
        f"{as_text(label)}{f' ({as_text(kinds[label])})' if kinds else ''}: "
        + ", ".join(
            (f"{as_text(series[k])} " if series else "") + written(form, value)
            for k, value in enumerate(found)
        )
        for label, found in table.items()
    ] + told_levels(ruled)
    seen = f"Bars{f' in {as_text(unit)}' if unit else ''}, from top to bottom:"
    return chart([Panel(_WIDE, height, *marks, title=title)], caption, seen, told)


def _lying(
    table: Mapping[str, Sequence[float]], series: Sequence[str], roles: Sequence[str], form: str,
    unit: str, log: bool, top: float, kinds: Mapping[str, str], ticks: Sequence[float],
    ruled: Mapping[str, float],
) -> tuple[list[str], float]:  # fmt: skip
    """The marks of a chart of bars, and its height."""
    every = [value for found in table.values() for value in found]
    column = label_width(table, 150, _LETTERS)
    end = _WIDE - max(roomy(written(form, value), 13) for value in every) - 8
    scale = Scale.of([*every, *ruled.values()], (column or 4.0), end, log=log, ticks=ticks)
    names = list(series) or list(dict.fromkeys(kinds.values()))
    entries, used = legend([(name, roles[k]) for k, name in enumerate(names)], _WIDE)
    marks = [
        box(x, top + y - 6, 18, 12, role=role, fill=_FILLS[k])
        + text(x + 24, top + y, name, size=13, anchor="start")
        for k, (x, y, name, role) in enumerate(entries)
    ]
    y = top + used + 6 + (20 if ruled else 0)
    start = y
    rows = []
    for label, found in table.items():
        if column is None:
            rows.append(text(4, y + 8, label, size=_LETTERS, anchor="start"))
            y += 18
        else:
            middle = y + (len(found) * (_BAR + 3) - 3) / 2
            rows.append(text(column - 8, middle, label, size=_LETTERS, anchor="end"))
        for k, value in enumerate(found):
            kind = names.index(kinds[label]) if kinds else k
            rows.append(_bar(scale, value, y, roles[kind], _FILLS[kind] if names else "plain"))
            x = max(scale(value), scale(0) if not log else 0) + (9 if log else 4)
            said = written(form, value)
            for level in sorted(map(scale, ruled.values())):
                x = level + 5 if x - 3 < level < x + roomy(said, 13) else x
            rows.append(text(x, y + _BAR / 2, said, size=13, anchor="start"))
            y += _BAR + 3
        y += 7
    marks += named_above(scale, ruled, start - 2, y - 4, _WIDE)
    if log:
        marks += along_the_bottom(scale, y, start, unit, ticks)
        return marks + rows, y + (42 if unit else 24)
    if column is not None:
        marks.append(line((scale(0), start - 2), (scale(0), y - 4), width=1))
    if unit:
        marks.append(text((scale.start + scale.end) / 2, y + 8, unit, size=13))
    return marks + rows, y + (20 if unit else 2)


def _bar(scale: Scale, value: float, y: float, role: str, fill: str) -> str:
    if scale.log:
        middle = y + _BAR / 2
        return line((scale.start, middle), (scale(value) - 5, middle), role=role) + node(
            scale(value), middle, "", role=role, radius=5
        )
    left, right = sorted((scale(0.0), scale(value)))
    return box(left, y, max(right - left, 0.8), _BAR, role=role, fill=fill, rounded=0)


def shares(
    rows: Mapping[str, Sequence[float]], caption: str, *, parts: Sequence[str],
    form: str = "{:.0%}", roles: Sequence[str] = _ROLES, title: str = "",
) -> Chart:  # fmt: skip
    """Return things as bars of one length, divided as their parts divide them.

    Args:
        rows: a label and its parts, in any unit.
        caption: one or two sentences that say what to look at.
        parts: what the parts are, in the order of the numbers.
        form: how a share is written.
        roles: colours of the parts.
        title: stands above.

    Returns:
        The chart.

    Raises:
        ValueError: there is no row, a row has not one number for each part, a part is negative, or
            all are zero.

    Example:
        >>> shares({"GPT-2": (39, 85)}, "Tables and the rest.", parts=("tables", "layers"))
        [chart] Tables and the rest.
        GPT-2: tables 31%, layers 69%
    """
    filled(rows)
    whole: dict[str, list[float]] = {}
    for label, found in rows.items():
        if len(found) != len(parts):
            raise ValueError(f"rows: got {len(found)} of {label!r}; accepted: {len(parts)}")
        values = [float(value) for value in found]
        if min(values) < 0 or sum(values) <= 0:
            raise ValueError(f"rows: got {values} of {label!r}; accepted: parts of a whole")
        whole[label] = [number("rows", value / sum(values)) for value in values]
    top = 26.0 if title else 0.0
    entries, used = legend([(name, roles[k]) for k, name in enumerate(parts)], _WIDE)
    marks = [
        box(x, top + y - 6, 18, 12, role=role, fill=_FILLS[k])
        + text(x + 24, top + y, name, size=13, anchor="start")
        for k, (x, y, name, role) in enumerate(entries)
    ]
    column = label_width(whole, 130, _LETTERS)
    y, left = top + used + 6, column or 4.0
    for label, found in whole.items():
        if column is None:
            marks.append(text(4, y + 8, label, size=_LETTERS, anchor="start"))
            y += 18
        else:
            marks.append(text(column - 8, y + 11, label, size=_LETTERS, anchor="end"))
        x = left
        for k, share in enumerate(found):
            wide, said = share * (_WIDE - 4 - left), written(form, share)
            fits = roomy(said, 13) + 4 <= wide
            if wide > 0.3:
                marks.append(box(x, y, wide, 22, said if fits else "", role=roles[k],
                                 fill=_FILLS[k], rounded=0, size=13))  # fmt: skip
            x += wide
        y += 30
    told = [
        f"{as_text(label)}: "
        + ", ".join(f"{as_text(parts[k])} {written(form, s)}" for k, s in enumerate(found))
        for label, found in whole.items()
    ]
    return chart([Panel(_WIDE, y, *marks, title=title)], caption, "Divided bars:", told)
