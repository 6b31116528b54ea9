"""Points at which a wrong formula cannot look right: small, pairwise different, away from 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import sympy as sp

from .evaluation import Point

_SCALES = (sp.Rational(13, 10), sp.Rational(7, 10), sp.Rational(17, 10), sp.Rational(3, 5))


def small_points(symbols: Iterable[sp.Symbol]) -> list[dict[sp.Symbol, sp.Expr]]:
    """Return two points with small, pairwise different sizes and scales that are not 1.

    Args:
        symbols: the symbols that need values; without any, the one empty point is returned.
    """
    names = sorted(symbols, key=lambda s: str(s.name))
    if not names:
        return [{}]
    sizes, others = [s for s in names if s.is_integer], [s for s in names if not s.is_integer]
    points = []
    for shift in (0, 1):
        sizes_here = [2 + (index + 1 + shift) % max(2, len(sizes)) for index in range(len(sizes))]
        point: dict[sp.Symbol, sp.Expr] = dict(zip(sizes, map(sp.Integer, sizes_here), strict=True))
        for index, symbol in enumerate(others):
            point[symbol] = _SCALES[(index + shift) % 4] + index // 4 + int(symbol.name == "kappa")
        points.append(point)
    return points


def refuse_points_that_hide(formula: sp.Expr, points: Sequence[Point]) -> None:
    """Refuse points at which a wrong formula looks right.

    Args:
        formula: the formula that is to be measured there.
        points: two or more where the formula has symbols; at each, sizes pairwise different and
            scales not 1.

    Raises:
        ValueError: a single point, two equal sizes, or a scale of 1.
    """
    if not points or (formula.free_symbols and len(points) < 2):
        raise ValueError(f"at: got {len(points)} points; accepted: two or more")
    for point in points:
        sizes = [v for s, v in point.items() if s.is_integer]
        if len(set(sizes)) < len(sizes):
            raise ValueError(f"at: equal sizes in {place(point)} hide swapped dimensions")
        if any(s.is_positive and not s.is_integer and v == 1 for s, v in point.items()):
            raise ValueError(f"at: a scale of 1 in {place(point)} hides wrong powers")


def place(point: Point) -> str:
    """Write a point in a line, such as ``d=3, sigma=1.3``."""
    return ", ".join(
        f"{s}={int(sp.sympify(v))}" if s.is_integer else f"{s}={float(sp.sympify(v)):g}"
        for s, v in point.items()
    )


def checked_points(at: Sequence[Point], *formulas: sp.Expr) -> list[Point]:
    """Return the points of a check, each with a value for every symbol of the formulas.

    Raises:
        TypeError: ``at`` is no list of points, or a key is a text instead of a symbol.
        ValueError: no points, or one without a value that a formula needs.
    """
    if isinstance(at, Mapping) or not all(isinstance(point, Mapping) for point in at):
        raise TypeError(f"at: got {at!r}; accepted: a list of points, such as [{{d: 3}}, {{d: 5}}]")
    if not at:
        raise ValueError("at: got no points; accepted: at least one, such as [{d: 3, σ: 1.3}]")
    needed = {s for formula in formulas for s in formula.free_symbols}
    for point in at:
        for key in point:
            if not isinstance(key, sp.Basic):
                raise TypeError(
                    f"at: got the key {key!r}, a {type(key).__name__}; accepted: the symbol "
                    "itself, as symbols(…) returned it"
                )
        missing = sorted(str(s) for s in needed - set(point))
        if missing:
            where = place({s: v for s, v in point.items() if isinstance(s, sp.Symbol)})
            raise ValueError(f"at: no value for {', '.join(missing)} at the point {where or '{}'}")
    return list(at)
