"""What was measured: points with standard errors, at a setting of the sliders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from .controls import Slider, in_words
from .curves import Curve


@dataclass(frozen=True)
class Points:
    """Points as the author gives them, made by `points_of`; and as a figure has them, by `placed`.

    Attributes:
        of: the curve on which they should lie: its name; in a figure its number.
        rows: place, mean and standard error of each; 0 where there is none.
        where: the controls at which they are shown, symbols in a figure by their numbers, and the
            value of each.
        off: by which share of its value they may lie off the curve.
    """

    of: Any
    rows: tuple[tuple[float, float, float], ...]
    where: tuple[tuple[Any, Any], ...]
    off: float

    def spec(self) -> dict[str, Any]:
        """What the script reads."""
        rows = [list(row if row[2] else row[:2]) for row in self.rows]
        return {"of": self.of, "rows": rows, "where": [list(pair) for pair in self.where]}


def points_of(
    of: str,
    x: Sequence[float],
    mean: Sequence[float],
    error: Sequence[float] | None = None,
    *,
    where: Mapping[sp.Symbol, Any] | None = None,
    off: float = 0.01,
) -> Points:
    """Return measured points for `live`, drawn with bars of three standard errors.

    `live` refuses points that do not lie on their curve, by four standard errors and what the
    curve's table is off, and by `off`.

    Args:
        of: name of the curve on which they should lie.
        x: places on the horizontal axis.
        mean: what was measured there, in float64: other processors must round it alike.
        error: standard errors; left out for what has none.
        where: the values of sliders (or names of choices) at which they were measured; they
            are shown there only. Without it they hold for every setting.
        off: by which share of its value the curve may miss them: what it leaves out.

    Raises:
        ValueError: the lengths differ, or a number is not finite.

    Example:
        >>> points_of("tanh", [1.0, 2.0], [0.7616, 0.964], [0.001, 0.001]).rows[0]
        (1.0, 0.7616, 0.001)
    """
    errors = [0.0] * len(x) if error is None else list(error)
    if not len(x) == len(mean) == len(errors):
        raise ValueError(
            f"x, mean, error: got {len(x)}, {len(mean)} and {len(errors)} numbers; accepted: "
            "as many of each"
        )
    rows = []
    for place, value, each in zip(x, mean, errors, strict=True):
        if not all(math.isfinite(v) for v in (place, value, each)) or each < 0:
            raise ValueError(
                f"x, mean, error: got {place}, {value}, {each}; accepted: finite numbers"
            )
        rows.append(_rounded(float(place), float(value), float(each)))
    return Points(of, tuple(rows), tuple((where or {}).items()), off)


def _rounded(x: float, mean: float, error: float) -> tuple[float, float, float]:
    """The error to two digits, the mean to the last of them: further ones say nothing."""
    if not error:
        return float(f"{x:.6g}"), float(f"{mean:.6g}"), 0.0
    digits = 1 - math.floor(math.log10(error))
    return float(f"{x:.6g}"), round(mean, digits), float(f"{error:.2g}")


def placed(
    given: Sequence[Points], curves: Sequence[str], controls: Sequence[Slider]
) -> list[Points]:
    """Return measured points with the numbers of their curves and controls.

    Raises:
        ValueError: an unknown curve, or a setting that no slider can take.
    """
    names = [control.symbol.name for control in controls]
    found = []
    for group in given:
        if group.of not in curves:
            raise ValueError(f"measured: points of {group.of!r}; accepted: {', '.join(curves)}")
        where = []
        for symbol, value in group.where:
            if symbol.name not in names[1:]:
                raise ValueError(f"measured: where has {symbol}; accepted: {', '.join(names[1:])}")
            place = names.index(symbol.name)
            control = controls[place]
            if control.names:
                if value not in control.names:
                    raise ValueError(f"measured: got {value!r}; accepted: one of {control.names}")
                value = control.names.index(value)
            elif not (value in control.stops or (control.whole and not control.log)):
                raise ValueError(
                    f"measured: where {symbol} is {value}; accepted: one of the slider's stops, or "
                    "a slider of whole numbers"
                )
            where.append((place, value))
        found.append(replace(group, of=curves.index(group.of), where=tuple(where)))
    return found


def refuse_off_curve(
    found: Sequence[Points], curves: Sequence[Curve], start: Sequence[float]
) -> None:
    """Refuse points that do not lie on their curve.

    Args:
        found: made by `placed`.
        curves: of the figure.
        start: of its controls, for those of which points say nothing.

    Raises:
        ValueError: a point is off by more than its errors and its `off` explain.
    """
    for group in found:
        curve, at = curves[group.of], list(start)
        for place, value in group.where:
            at[place] = value
        table, of_value = curve.error or (0.0, False)
        for x, mean, error in group.rows:
            drawn = curve.at([x, *at[1:]])
            share = group.off + table * of_value
            if not abs(mean - drawn) <= 4 * error + share * abs(drawn) + table * (not of_value):
                raise ValueError(
                    f"measured: got {mean:.6g} with a standard error of {error:.2g} at {x:.6g}, "
                    f"where {curve.name!r} is {drawn:.6g}; accepted: points on their curve, or "
                    "points_of(…, off=…) where the curve leaves something out"
                )


def elsewhere(found: Sequence[Points], controls: Sequence[Slider]) -> str:
    """Where points can be seen, for a setting that has none."""
    settings = dict.fromkeys(
        ", ".join(f"{controls[k].label} {in_words(controls[k], v)}" for k, v in p.where)
        for p in found
    )  # fmt: skip
    some = list(settings)
    more = f"; and {len(some) - 3} more settings" if len(some) > 3 else ""
    return (
        "Nothing was measured at this setting. Points stand at " + "; ".join(some[:3]) + more + "."
    )
