"""Numbers in rows, a label at each: as bars, as predicted and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..drawing import Panel
from ..labels import as_text, text
from ..marks import box, line, node
from .chart import (
    Chart,
    Scale,
    along_the_bottom,
    chart,
    finite,
    label_width,
    legend,
    refuse_empty,
    roomy,
    written,
)  # fmt: skip

_WIDE, _BAR, _ROW, _LETTERS = 320.0, 16.0, 26.0, 14.0
_ROLES = ("output", "weight", "input", "copy", "gradient", "quiet")
_FILLS = ("plain", "up", "dots", "down", "plain", "up")


def bars(
    rows: Mapping[str, float | Sequence[float]], caption: str, *, series: Sequence[str] = (),
    form: str = "{:.3g}", unit: str = "", log: bool = False, kinds: Mapping[str, str] | None = None,
) -> Chart:  # fmt: skip
    """Return numbers as lying bars, each with its number at its end.

    Args:
        rows: a label and its number, or its numbers, one for each of ``series``.
        caption: one or two sentences that say what to look at; marks as in a drawing's label.
        series: what the numbers of a row are, where it has several.
        form: how a number is written.
        unit: of the numbers, below the axis.
        log: whether the axis is logarithmic; then a row is a dot on a line.
        kinds: of what kind the thing of each row is, where there are no series; things of one kind
            have one colour and one hatch.

    Returns:
        The chart.

    Raises:
        ValueError: there is no row, a row has not one number for each series or no kind, or a
            number is not finite, or not positive on a logarithmic axis.

    Example:
        >>> bars({"GPT-2": 5.4, "LLaMA 7B": 0.6}, "What a table weighs, in layers.")
        [chart] What a table weighs, in layers.
        GPT-2: 5.4
        LLaMA 7B: 0.6
    """
    refuse_empty(rows)
    table = {
        label: [finite("rows", v) for v in (found if isinstance(found, Sequence) else (found,))]
        for label, found in rows.items()
    }
    many = max(1, len(series))
    for label, found in table.items():
        if len(found) != many:
            raise ValueError(f"rows: got {len(found)} numbers of {label!r}; accepted: {many}")
    if kinds is not None and (series or set(kinds) != set(rows)):
        raise ValueError(f"kinds: got {list(kinds)}; accepted: one for each row, without series")
    panel = _lying(table, series, form, unit, log, kinds or {})
    told = [
        f"{as_text(label)}{f' ({as_text(kinds[label])})' if kinds else ''}: "
        + ", ".join(
            (f"{as_text(series[k])} " if series else "") + written(form, value)
            for k, value in enumerate(found)
        )
        for label, found in table.items()
    ]
    seen = f"Bars{f' in {as_text(unit)}' if unit else ''}, from top to bottom:"
    return chart([panel], caption, seen, told)


def _lying(
    table: Mapping[str, Sequence[float]], series: Sequence[str], form: str, unit: str, log: bool,
    kinds: Mapping[str, str],
) -> Panel:  # fmt: skip
    every = [value for found in table.values() for value in found]
    column = label_width(table, 150, _LETTERS)
    end = _WIDE - max(roomy(written(form, value), 13) for value in every) - 8
    scale = Scale.of(every, (column or 4.0), end, log=log)
    names = list(series) or list(dict.fromkeys(kinds.values()))
    marks, used = _key(names)
    start = y = used + 6
    rows = []
    for label, found in table.items():
        named, y = _label(label, column, y, (len(found) * (_BAR + 3) - 3) / 2)
        rows.append(named)
        for k, value in enumerate(found):
            kind = names.index(kinds[label]) if kinds else k
            rows.append(_bar(scale, value, y, _ROLES[kind], _FILLS[kind] if names else "plain"))
            x = max(scale(value), scale(0) if not log else 0) + (9 if log else 4)
            rows.append(text(x, y + _BAR / 2, written(form, value), size=13, anchor="start"))
            y += _BAR + 3
        y += 7
    if log:
        marks += along_the_bottom(scale, y, start, unit)
        return Panel(_WIDE, y + (42 if unit else 24), *marks, *rows)
    if column is not None:
        marks.append(line((scale(0), start - 2), (scale(0), y - 4), width=1))
    if unit:
        marks.append(text((scale.start + scale.end) / 2, y + 8, unit, size=13))
    return Panel(_WIDE, y + (20 if unit else 2), *marks, *rows)


def _key(names: Sequence[str]) -> tuple[list[str], float]:
    """What the colours and hatches of bars mean, and the height of that."""
    entries, high = legend(list(zip(names, _ROLES, strict=False)), _WIDE)
    marks = [
        box(x, y - 6, 18, 12, role=role, fill=_FILLS[k])
        + text(x + 24, y, name, size=13, anchor="start")
        for k, (x, y, name, role) in enumerate(entries)
    ]
    return marks, high


def _label(label: str, column: float | None, y: float, middle: float) -> tuple[str, float]:
    """The label of a row, in its column or else above the row, and the row's top."""
    if column is None:
        return text(4, y + 8, label, size=_LETTERS, anchor="start"), y + 18
    return text(column - 8, y + middle, label, size=_LETTERS, anchor="end"), y


def _bar(scale: Scale, value: float, y: float, role: str, fill: str) -> str:
    if scale.log:
        middle = y + _BAR / 2
        return line((scale.start, middle), (scale(value) - 5, middle), role=role) + node(
            scale(value), middle, "", role=role, radius=5
        )
    left, right = sorted((scale(0.0), scale(value)))
    return box(left, y, max(right - left, 0.8), _BAR, role=role, fill=fill, rounded=0)


def predicted_and_measured(
    rows: Mapping[str, Sequence[float]], caption: str, *,
    form: str = "{:.3g}", unit: str = "", log: bool = False, zero: bool = False,
    ticks: Sequence[float] = (),
) -> Chart:  # fmt: skip
    """Return pairs of numbers on one axis: an upright stroke and a dot, with its error.

    Args:
        rows: a label with the number that was said, the one that came out, and, where it is
            known, the latter's standard error, of which three are drawn to each side.
        caption: one or two sentences that say what to look at.
        form: how a number is written.
        unit: of the numbers, below the axis.
        log: whether the axis is logarithmic.
        zero: whether the axis begins at zero.
        ticks: places that the axis marks; a logarithmic one ends where they do.

    Returns:
        The chart.

    Raises:
        ValueError: there is no row, a row has not two or three numbers, one is not finite, or not
            positive on a logarithmic axis.

    Example:
        >>> predicted_and_measured({"d = 64": (10.9, 11.4)}, "The first loss, in nats.")
        [chart] The first loss, in nats.
        d = 64: predicted 10.9, measured 11.4
    """
    refuse_empty(rows)
    table = {label: [finite("rows", v) for v in found] for label, found in rows.items()}
    for label, found in table.items():
        if len(found) not in (2, 3):
            raise ValueError(f"rows: got {len(found)} of {label!r}; accepted: two or three")
    entries, used = legend([("predicted", "weight"), ("measured", "output")], _WIDE)
    marks = [
        (_said(x + 9, y) if k == 0 else node(x + 9, y, "", role="output", radius=5))
        + text(x + 24, y, name, size=13, anchor="start")
        for k, (x, y, name, _) in enumerate(entries)
    ]
    column = label_width(table, 150, _LETTERS)
    both = [f"{written(form, found[0])}  {written(form, found[1])}" for found in table.values()]
    right = _WIDE - max(roomy(said, 12) for said in both) - 12
    ends = [v for found in table.values() for v in _ends(found, log)]
    scale = Scale.of(ends, (column or 4.0) + 6, right - 6, log=log, zero=zero, ticks=ticks)
    start = y = used + 6
    pairs = []
    for (label, found), said in zip(table.items(), both, strict=True):
        named, y = _label(label, column, y, 12)
        pairs += [named, _pair(scale, found, y + 12)]
        pairs.append(text(_WIDE - 2, y + 12, said, size=12, anchor="end"))
        y += _ROW
    marks += along_the_bottom(scale, y, start, unit, ticks)
    told = [
        f"{as_text(label)}: predicted {written(form, found[0])}, "
        f"measured {written(form, found[1])}"
        + (f" ± {written('{:.2g}', found[2])}" if len(found) == 3 else "")
        for label, found in table.items()
    ]
    seen = f"Strokes and dots on one axis{f' in {as_text(unit)}' if unit else ''}:"
    panel = Panel(_WIDE, y + (42 if unit else 24), *marks, *pairs)
    return chart([panel], caption, seen, told)


def _ends(found: Sequence[float], log: bool) -> list[float]:
    if len(found) == 2:
        return list(found)
    low, high = found[1] - 3 * found[2], found[1] + 3 * found[2]
    return [found[0], found[1], high] + ([low] if low > 0 or not log else [])


def _said(x: float, y: float) -> str:
    return line((x, y - 9), (x, y + 9), role="weight", width=3)


def _pair(scale: Scale, found: Sequence[float], y: float) -> str:
    said, came = scale(found[0]), scale(found[1])
    marks = line((said, y), (came, y), role="quiet", width=1.2) if abs(came - said) > 6 else ""
    if len(found) == 3:
        low = max(found[1] - 3 * found[2], scale.low)
        marks += line((scale(low), y), (scale(found[1] + 3 * found[2]), y), role="output", width=2)
    return marks + _said(said, y) + node(came, y, "", role="output", radius=5)
