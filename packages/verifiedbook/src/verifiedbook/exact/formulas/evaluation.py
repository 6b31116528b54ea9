"""Formulas in numbers: values at points, whether two are equal, points that hide no mistake."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.symbol import Str

from ..integrals.quadrature import Approximation as Approximation
from ..integrals.quadrature import integrate_numerically as integrate_numerically
from ..integrals.quadrature import quadrature as quadrature

Point = Mapping[sp.Symbol, object]

_REAL = "±"  # before the name of a list whose numbers have either sign
_BINDING = (ExprWithLimits, sp.Derivative, sp.Limit, sp.Subs, sp.Lambda)
_DIGITS = 30
_SCALES = (sp.Rational(13, 10), sp.Rational(7, 10), sp.Rational(17, 10), sp.Rational(3, 5))
_MAGNITUDES = [sp.Rational(p, 101) for p in sp.primerange(64, 200) if p != 101]


def number(formula: sp.Expr, point: Point, digits: int = _DIGITS) -> sp.Expr | None:
    """Evaluate a formula at a point, or return None where it has no finite real value.

    Integrals are evaluated by `quadrature` in double precision, everything else with ``digits``
    digits.
    """
    try:
        value = with_numbers(formula, point)
        if value.has(_Listed):
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


def with_numbers(formula: sp.Basic, point: Point) -> sp.Basic:
    """A formula with numbers for its symbols.

    Where no variable is bound they are put in their places at once, three times as fast as `subs`.
    """
    if formula.has(*_BINDING):
        return formula.subs(dict(point))
    return formula.xreplace({symbol: sp.sympify(value) for symbol, value in point.items()})


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
    for tried in (points, [below_one(point) for point in points]):
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


def below_one(point: dict[sp.Symbol, sp.Rational]) -> dict[sp.Symbol, sp.Rational]:
    """The point with every scale that is above 1 turned upside down."""
    return {s: 1 / v if v > 1 and not s.is_integer else v for s, v in point.items()}


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


def entry(name: sp.Symbol, place: sp.Expr) -> sp.Expr:
    """Return a number of a list, such as the k-th logit.

    Args:
        name: of the list; its numbers are positive where it is a positive symbol, else real.
        place: where in the list.
    """
    return _Listed(Str(name.name if name.is_positive else _REAL + name.name), place)


class _Listed(sp.Function):  # type: ignore[misc]
    """A number of a list: where its place is known, a rational number, another one at each place.

    So a sum over the places tells them apart, whatever the list is.
    """

    @classmethod
    def eval(cls, name: Str, place: sp.Expr) -> sp.Expr | None:
        if not place.is_Integer:
            return None
        digest = hashlib.sha256(f"{name} {place}".encode()).digest()
        value = sp.Rational(int.from_bytes(digest[:2], "big") + 1, 40009)
        return value - sp.Rational(3, 4) if str(name).startswith(_REAL) else value

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool | None:
        return None if str(self.args[0]).startswith(_REAL) else True
