"""Judging by counting: whole numbers are compared as whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp

from ..formulas.evaluation import Approximation, Point, number
from ..formulas.mutants import Mutant
from .definition import Comparison, Judgement

_DIGITS = 60  # where a formula is no plain fraction, such as log(8)/log(2)


def judge_counted(
    formula: sp.Expr, mutants: Iterable[Mutant], counts: Sequence[int], points: Sequence[Point]
) -> Judgement:
    """Judge a formula, and the check itself, by whole numbers that were counted.

    Args:
        formula: the formula under test.
        mutants: its wrong versions; each must give another number at some point.
        counts: how many there are at each point.
        points: where was counted; at least one.

    Returns:
        As `judge` does; but numbers are compared as whole ones, without a tolerance.

    Raises:
        ValueError: there is no point.

    Example:
        >>> from verified_transformer.exact.formulas.mutants import Mutant
        >>> d = sp.Symbol("d", integer=True, positive=True)
        >>> found = judge_counted(d**2, [Mutant("doubled", 2 * d**2)], [9], [{d: 3}])
        >>> found.agrees, found.killed
        (True, ('doubled',))
    """
    if not points:
        raise ValueError("points: got none; accepted: at least one")
    both = list(zip(points, counts, strict=True))
    for point, found in both:
        if not _is_whole(formula, point, found):
            said = number(formula, point)
            return Judgement(Comparison(point, Approximation(found, 0.0), said))
    alike = {m.label: all(_is_whole(m.formula, at, n) for at, n in both) for m in mutants}
    killed = tuple(label for label, same in alike.items() if not same)
    return Judgement(None, killed, tuple(label for label, same in alike.items() if same))


def _is_whole(formula: sp.Expr, point: Point, counted: int) -> bool:
    """Whether a formula is exactly this whole number at a point."""
    value = formula.subs(dict(point))
    if value.is_Rational:
        return bool(value == counted)
    value = number(formula, point, _DIGITS)
    return value is not None and abs(value - counted) < sp.Float(10) ** -(_DIGITS // 2)
