"""Lengths of normal vectors: their moments, and what a normalisation makes of them."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp

from ..derivations import Derivation
from .closed_forms import half_line_power, integrate_half_line_powers
from .quadrature import quadrature


def length_moment(k: int, d: sp.Expr) -> sp.Expr:
    r"""Return $E|z|^k$ of a standard normal vector of length d, as a ratio of two integrals.

    Args:
        k: the power.
        d: how many entries the vector has.
    """
    return half_line_power(d + k - 1) / half_line_power(d - 1)


def by_gamma_functions(quantity: str, start: sp.Expr) -> Derivation:
    """Derive a ratio of moments of lengths: integrals to gamma functions, and these simplified.

    Args:
        quantity: what is derived, in a line.
        start: an expression in `length_moment` and `half_line_power`.
    """
    found = Derivation(quantity, start).then(
        "powers against a Gaussian", integrate_half_line_powers
    )
    return found.then(
        "gamma function of neighbours", lambda e: sp.cancel(sp.expand(sp.gammasimp(e)))
    )


def mean_square_behind_norm(d: int, ε: float) -> float:
    r"""Return the mean square of $w/\sqrt{|w|^2/d+\varepsilon}$ for standard normal w, integrated.

    Args:
        d: how many entries, at least 3.
        ε: the constant under the root, in units of the variance of an entry.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> round(mean_square_behind_norm(4096, 1.0), 3)
        0.5
    """
    if d < 3 or not 0 <= ε < math.inf:
        raise ValueError(f"d, ε: got {d}, {ε}; accepted: d >= 3, 0 <= ε < ∞")
    log_norm = d / 2 * math.log(2) + math.lgamma(d / 2)

    def integrand(q: np.ndarray) -> np.ndarray:  # q is the squared length
        return q / (q + d * ε) * np.exp((d / 2 - 1) * np.log(q) - q / 2 - log_norm)

    top, reach = d - 2, 40 * math.sqrt(2 * d)  # the two sides of the peak
    sides = ((max(0, top - reach), top), (top, top + reach))
    return float(sum(quadrature(integrand, *side).value for side in sides))
