"""Numbers for formulas: evaluation at a point, quadrature with an error, equality of formulas."""

from __future__ import annotations

import hashlib
import math
import random
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

Point = Mapping[sp.Symbol, object]

_DIGITS = 30
_MAGNITUDES = [sp.Rational(p, 101) for p in sp.primerange(64, 200) if p != 101]
_LARGEST_ARGUMENT = 1e4  # beyond it every Gaussian or exponential weight of this book is zero


@dataclass(frozen=True)
class Approximation:
    """A number with a bound for its error."""

    value: float
    error: float


def quadrature(
    function: Callable[[np.ndarray], np.ndarray], low: float, high: float
) -> Approximation:
    """Integrate a smooth function by the double-exponential rule (Takahasi and Mori, 1974).

    Args:
        function: vectorised integrand; on an infinite range it must fall off at least
            exponentially.
        low, high: the ends, which may be infinite.

    Returns:
        The integral, with an error from the difference to the rule of half as many nodes: its
        square where that is small already, the difference itself where the rule does not converge
        (a kink inside the range, a fast oscillation).

    Raises:
        ValueError: the ends are in the wrong order.
    """
    if not low <= high:
        raise ValueError(f"low, high: got {low}, {high}; accepted: low <= high")
    if low == high:
        return Approximation(0.0, 0.0)
    if math.isinf(low) and math.isfinite(high):
        return quadrature(lambda x: function(-x), -high, math.inf)
    if math.isinf(low):
        left = quadrature(lambda x: function(-x), 0.0, math.inf)
        right = quadrature(function, 0.0, math.inf)
        return Approximation(left.value + right.value, left.error + right.error)
    nodes, weights = _half_line_rule() if math.isinf(high) else _interval_rule()
    if math.isinf(high):
        x, scale = low + nodes, 1.0
    else:
        scale = (high - low) / 2
        x = low + scale * nodes
    with np.errstate(all="ignore"):
        terms = np.asarray(function(x) * weights * scale)
    if np.iscomplexobj(terms):
        raise ValueError("function: got complex values; accepted: a real integrand")
    terms = np.where(np.isfinite(terms), terms, 0.0)
    fine, coarse = math.fsum(terms), 2 * math.fsum(terms[::2])
    rounding = 4e-16 * math.fsum(np.abs(terms))
    change = abs(fine - coarse)
    if change <= 1e-6 * abs(fine):  # converging: each halving of the step doubles the digits
        change = change**2 / max(abs(fine), 1e-300)
    return Approximation(fine, change + rounding)


def _half_line_rule() -> tuple[np.ndarray, np.ndarray]:
    step = 1 / 32
    t = np.arange(-144, 145) * step
    nodes = np.exp(t - np.exp(-t))
    keep = nodes < _LARGEST_ARGUMENT
    return nodes[keep], (step * nodes * (1 + np.exp(-t)))[keep]


def _interval_rule() -> tuple[np.ndarray, np.ndarray]:
    step = 1 / 32
    t = np.arange(-112, 113) * step
    u = np.pi / 2 * np.sinh(t)
    # 1 + tanh(u), written so that the distance to the lower end keeps its digits
    return 2 / (1 + np.exp(-2 * u)), step * np.pi / 2 * np.cosh(t) / np.cosh(u) ** 2


@lru_cache(maxsize=4096)
def integrate_numerically(integral: sp.Integral) -> Approximation:
    """Evaluate a one-dimensional SymPy integral whose ends and parameters are numbers.

    Args:
        integral: ``Integral(f(x), (x, low, high))``.

    Returns:
        Its value with an error bound.

    Raises:
        ValueError: several variables, or a free symbol is left.
    """
    if len(integral.limits) != 1 or len(integral.limits[0]) != 3 or integral.free_symbols:
        raise ValueError(
            f"integral: got {integral}; accepted: one variable, both ends, no free symbols"
        )
    variable, low, high = integral.limits[0]
    erf = np.vectorize(math.erf, otypes=[float])
    erfc = np.vectorize(math.erfc, otypes=[float])
    function = sp.lambdify(variable, integral.function, [{"erf": erf, "erfc": erfc}, "numpy"])

    def vectorised(x: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            try:
                return np.broadcast_to(function(x), x.shape)
            except np.exceptions.ComplexWarning as error:
                raise ValueError(f"integral: {integral} is not real") from error

    low, high = float(low), float(high)
    if low > high:
        swapped = quadrature(vectorised, high, low)
        return Approximation(-swapped.value, swapped.error)
    return quadrature(vectorised, low, high)


def number(formula: sp.Expr, point: Point, digits: int = _DIGITS) -> sp.Expr | None:
    """Evaluate a formula at a point, or return None where it has no finite real value.

    Integrals are evaluated by `quadrature` in double precision, everything else with ``digits``
    digits.
    """
    try:
        value = formula.subs(dict(point))
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
        skipped; if no point is left, the formulas count as different.
    """
    if left == right:
        return True
    floor = sp.Float(1e-9)
    if left.has(sp.Integral) or right.has(sp.Integral):
        # quadrature in double precision: integrals that cancel leave about 1e-16
        tolerance, floor = max(tolerance, 1e-11), sp.Float(1e-3)
    compared = 0
    for point in random_points(left, right):
        first, second = number(left, point), number(right, point)
        if first is None and second is None:
            continue
        if first is None or second is None:
            return False
        if abs(first - second) > tolerance * max(abs(first), abs(second), floor):
            return False
        compared += 1
    return compared > 0
