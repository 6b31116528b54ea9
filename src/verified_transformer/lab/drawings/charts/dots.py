"""What was predicted against what was measured, a row for each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..drawing import Panel
from ..labels import as_text, text
from ..parts import line, node
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

__all__ = ["predicted_and_measured"]

_WIDE, _ROW, _LETTERS = 320.0, 26.0, 14.0


def predicted_and_measured(
    rows: Mapping[str, Sequence[float]], caption: str, *,
    names: tuple[str, str] = ("predicted", "measured"), form: str = "{:.3g}", unit: str = "",
    log: bool = False, zero: bool = False, title: str = "", ticks: Sequence[float] = (),
    rules: Mapping[str, float] | None = None,
) -> Chart:  # fmt: skip
    """Return pairs of numbers on one axis: an upright stroke and a dot, with its error.

    Args:
        rows: a label with the number that was said, the one that came out, and, where it is
            known, the latter's standard error, of which three are drawn to each side.
        caption: one or two sentences that say what to look at.
        names: what the two numbers are called.
        form: how a number is written.
        unit: of the numbers, below the axis.
        log: whether the axis is logarithmic.
        zero: whether the axis begins at zero.
        title: stands above.
        ticks: places that the axis marks; a logarithmic one ends where they do.
        rules: names of levels, and where they lie: dotted lines with the name above.

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
    filled(rows)
    table = {label: [number("rows", v) for v in found] for label, found in rows.items()}
    for label, found in table.items():
        if len(found) not in (2, 3):
            raise ValueError(f"rows: got {len(found)} of {label!r}; accepted: two or three")
    top = 26.0 if title else 0.0
    entries, used = legend([(names[0], "weight"), (names[1], "output")], _WIDE)
    marks = [
        (_said(x + 9, top + y) if k == 0 else node(x + 9, top + y, "", role="output", radius=5))
        + text(x + 24, top + y, name, size=13, anchor="start")
        for k, (x, y, name, _) in enumerate(entries)
    ]
    column = label_width(table, 150, _LETTERS)
    both = [f"{written(form, found[0])}  {written(form, found[1])}" for found in table.values()]
    right = _WIDE - max(roomy(said, 12) for said in both) - 12
    ruled = levels(rules)
    ends = [v for found in table.values() for v in _ends(found, log)] + [*ruled.values()]
    scale = Scale.of(ends, (column or 4.0) + 6, right - 6, log=log, zero=zero, ticks=ticks)
    y = top + used + 6 + (20 if ruled else 0)
    start = y
    rows_there = []
    for (label, found), said in zip(table.items(), both, strict=True):
        if column is None:
            rows_there.append(text(4, y + 8, label, size=_LETTERS, anchor="start"))
            y += 18
        else:
            rows_there.append(text(column - 8, y + 12, label, size=_LETTERS, anchor="end"))
        rows_there.append(_row(scale, found, y + 12))
        rows_there.append(text(_WIDE - 2, y + 12, said, size=12, anchor="end"))
        y += _ROW
    marks += named_above(scale, ruled, start, y, _WIDE)
    marks += along_the_bottom(scale, y, start, unit, ticks)
    told = [
        f"{as_text(label)}: {as_text(names[0])} {written(form, found[0])}, "
        f"{as_text(names[1])} {written(form, found[1])}"
        + (f" ± {written('{:.2g}', found[2])}" if len(found) == 3 else "")
        for label, found in table.items()
    ] + told_levels(ruled)
    seen = f"Strokes and dots on one axis{f' in {as_text(unit)}' if unit else ''}:"
    panel = Panel(_WIDE, y + (42 if unit else 24), *marks, *rows_there, title=title)
    return chart([panel], caption, seen, told)


def _ends(found: Sequence[float], log: bool) -> list[float]:
    if len(found) == 2:
        return list(found)
    low, high = found[1] - 3 * found[2], found[1] + 3 * found[2]
    return [found[0], found[1], high] + ([low] if low > 0 or not log else [])


def _said(x: float, y: float) -> str:
    return line((x, y - 9), (x, y + 9), role="weight", width=3)


def _row(scale: Scale, found: Sequence[float], y: float) -> str:
    said, came = scale(found[0]), scale(found[1])
    marks = line((said, y), (came, y), role="quiet", width=1.2) if abs(came - said) > 6 else ""
    if len(found) == 3:
        low = max(found[1] - 3 * found[2], scale.low)
        marks += line((scale(low), y), (scale(found[1] + 3 * found[2]), y), role="output", width=2)
    return marks + _said(said, y) + node(came, y, "", role="output", radius=5)
