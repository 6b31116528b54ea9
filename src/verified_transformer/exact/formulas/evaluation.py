"""Numbers for formulas: evaluation at a point, and equality of formulas."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from functools import lru_cache

import sympy as sp

from ..integrals.quadrature import Approximation as Approximation
from ..integrals.quadrature import integrate_numerically as integrate_numerically
from ..integrals.quadrature import quadrature as quadrature
from .listed import Listed

Point = Mapping[sp.Symbol, object]

_DIGITS = 30
_MAGNITUDES = [sp.Rational(p, 101) for p in sp.primerange(64, 200) if p != 101]


def number(formula: sp.Expr, point: Point, digits: int = _DIGITS) -> sp.Expr | None:
    """Evaluate a formula at a point, or return None where it has no finite real value.

    Integrals are evaluated by `quadrature` in double precision, everything else with ``digits``
    digits.
    """
    try:
        value = formula.subs(dict(point))
        if value.has(Listed):
            value = value.doit()  # term by term: a sum's estimate by few terms would not do
        if value.has(sp.Integral):
            value = value.replace(
                lambda e: isinstance(e, sp.Integral),
                lambda e: sp.Float(integrate_numerically(e).value, 15),
            )
        value = sp.N(value, digits)
    except (ZeroDivisionError, ValueError, TypeError, ArithmeticError):
        return None
    if not value.is_number or not value.is_finite or not value.is_real:
        return None
    return value


@lru_cache(maxsize=1 << 12)
def number_at(formula: sp.Expr, point: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> sp.Expr | None:
    """`number`, remembered: a formula is held against dozens of its mutants at the same points."""
    return number(formula, dict(point))


def random_points(*formulas: sp.Expr, count: int = 3) -> list[dict[sp.Symbol, sp.Rational]]:
    """Return admissible rational points for the formulas' free symbols.

    Sizes are pairwise different integers from 3 to 15, scales are positive and never 1, reals have
    either sign, and no two have the same magnitude. The points depend on the symbols' names alone,
    so a record never changes.

    Args:
        formulas: the expressions whose free symbols need values.
        count: how many points; one is enough, and returned, where there is no free symbol.

    Returns:
        Dictionaries from symbol to rational number.
    """
    free = set().union(*(formula.free_symbols for formula in formulas))
    if not free:
        return [{}]
    names = sorted(free, key=lambda s: s.name)
    seed = hashlib.sha256(" ".join(s.name for s in names).encode()).digest()
    source = random.Random(seed)
    points = []
    for _ in range(count):
        sizes = source.sample(range(3, 16), sum(1 for s in names if s.is_integer))
        magnitudes = source.sample(_MAGNITUDES, len(names) - len(sizes))
        point: dict[sp.Symbol, sp.Rational] = {}
        for symbol in names:
            if symbol.is_integer:
                point[symbol] = sp.Integer(sizes.pop())
            else:
                magnitude = magnitudes.pop()
                positive = symbol.is_positive or source.random() < 0.5
                point[symbol] = magnitude if positive else -magnitude
        points.append(point)
    return points


def equivalent(left: sp.Expr, right: sp.Expr, tolerance: float = 1e-20) -> bool:
    """Decide by Schwartz and Zippel's test whether two formulas are the same function.

    Both are evaluated at three random admissible points; two different expressions of the kind
    used here agree at all three with negligible probability.

    Args:
        left, right: the two formulas.
        tolerance: largest relative difference that counts as equal; 1e-11 where an integral has
            to be evaluated numerically.

    Returns:
        True where all points agree. Points at which neither side has a finite real value are
        skipped; if no point is left, scales below 1 are tried (a share has to be one), and if none
        is left there, the formulas count as different.
    """
    if left == right:
        return True
    floor = sp.Float(1e-9)
    if left.has(sp.Integral) or right.has(sp.Integral):
        # quadrature in double precision: integrals that cancel leave about 1e-16
        tolerance, floor = max(tolerance, 1e-11), sp.Float(1e-3)
    points = random_points(left, right)
    for tried in (points, [_below_one(point) for point in points]):
        compared = 0
        for point in tried:
            at = tuple(point.items())
            first, second = number_at(left, at), number_at(right, at)
            if first is None and second is None:
                continue
            if first is None or second is None:
                return False
            if abs(first - second) > tolerance * max(abs(first), abs(second), floor):
                return False
            compared += 1
        if compared:
            return True
    return False


def _below_one(point: dict[sp.Symbol, sp.Rational]) -> dict[sp.Symbol, sp.Rational]:
    """The point with every scale that is above 1 turned upside down."""
    return {s: 1 / v if v > 1 and not s.is_integer else v for s, v in point.items()}
