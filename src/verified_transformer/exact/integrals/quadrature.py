"""Quadrature with an error: the double-exponential rule, for functions and SymPy integrals.

SciPy's ``tanhsinh`` is no replacement: beside this rule on the integrals of the tests its errors
were wider by one to three orders where both are exact, and too small where neither converges: at a
narrow peak on a half line the value was off by 1.8e-3 at a stated error of 1.6e-4.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

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
        square where that is small already, ten times the difference where the rule does not
        converge (a kink inside the range, a fast oscillation).

    Raises:
        ValueError: the ends are in the wrong order, or the integrand is complex.

    Example:
        >>> found = quadrature(lambda x: np.exp(-(x**2)), -math.inf, math.inf)
        >>> abs(found.value - math.sqrt(math.pi)) <= found.error < 1e-14
        True
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
    else:
        change *= 10
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
