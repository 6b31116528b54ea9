"""Lengths of normal vectors and angles between them: derivations, densities and tails."""

from __future__ import annotations

import math

import mpmath
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


def _integrate_powers_of_cosine(expression: sp.Expr) -> sp.Expr:
    r"""Replace $\int_0^\pi\cos^a\theta\,\sin^b\theta\,d\theta$ by gamma functions, for even a."""

    def closed(integral: sp.Integral) -> sp.Expr:
        θ, low, high = integral.limits[0]
        powers = sp.powsimp(integral.function).as_powers_dict()
        a = powers.pop(sp.cos(θ), sp.Integer(0))
        b = powers.pop(sp.sin(θ), sp.Integer(0))
        if (low, high) != (0, sp.pi) or a % 2 or any(f.has(θ) for f in powers):
            raise ValueError(f"not an even power of cos times a power of sin: {integral}")
        rest = sp.Mul(*[base**power for base, power in powers.items()])
        return rest * sp.gamma((a + 1) / 2) * sp.gamma((b + 1) / 2) / sp.gamma((a + b) / 2 + 1)

    return expression.replace(lambda part: isinstance(part, sp.Integral), closed)


def mean_squared_cosine(d: sp.Expr) -> Derivation:
    r"""Derive the mean of $\cos^2\theta$ under a density in proportion to $\sin^{d-2}\theta$.

    Args:
        d: how many entries the two random directions have.

    Example:
        >>> d = sp.Symbol("d", positive=True, integer=True)
        >>> mean_squared_cosine(d).value
        1/d
    """
    θ = sp.Symbol("theta", positive=True)
    weight, ends = sp.sin(θ) ** (d - 2), (θ, 0, sp.pi)
    start = sp.Integral(sp.cos(θ) ** 2 * weight, ends) / sp.Integral(weight, ends)
    found = Derivation("mean of the squared cosine", start)
    found = found.then("powers of cosine and sine", _integrate_powers_of_cosine)
    return found.then("gamma function of neighbours", sp.gammasimp)


def _log_gamma(half: sp.Expr) -> sp.Expr:
    return sp.loggamma(half, evaluate=False)  # SymPy doubles the argument where d is whole


def density_of_length(d: sp.Expr, r: sp.Expr) -> sp.Expr:
    r"""Return the density of $|w|/(\sqrt d\,\sigma)$ for a normal vector of d entries.

    Args:
        d: how many entries.
        r: where; the density is 0 unless this is positive.

    Example:
        >>> round(float(density_of_length(sp.Integer(768), sp.Float(1))), 2)
        15.63
    """
    log = sp.log(2) + d / 2 * sp.log(d / 2) - _log_gamma(d / 2)
    return sp.Piecewise((sp.exp(log + (d - 1) * sp.log(r) - d * r**2 / 2), r > 0), (0, True))


def density_of_cosine(d: sp.Expr, c: sp.Expr) -> sp.Expr:
    r"""Return the density of the cosine between two random directions, $(1-c^2)^{(d-3)/2}$ scaled.

    Args:
        d: how many entries the vectors have.
        c: where; the density is 0 unless this is between -1 and 1.

    Example:
        >>> float(density_of_cosine(sp.Integer(3), sp.Float(0.4)))
        0.5
    """
    log = _log_gamma(d / 2) - _log_gamma((d - 1) / 2) + (d - 3) / 2 * sp.log(1 - c**2)
    return sp.Piecewise((sp.exp(log) / sp.sqrt(sp.pi), c**2 < 1), (0, True))


def tail_chances(d: int, ε: float, variance: float = 1) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return how often a normal vector's squared length, or an inner product, is off by ε.

    Args:
        d: how many entries the vectors have.
        ε: the distance from 1, or from 0.
        variance: of an entry, times d.

    Returns:
        The chances that the squared length is not within ε of 1, and that the product of two
        independent vectors is not within ε of 0, by incomplete gamma functions and quadrature.
    """

    def shorter(square: float) -> mpmath.mpf:
        return mpmath.gammainc(mpmath.mpf(d) / 2, 0, square * d / variance / 2, regularized=True)

    def radius(r: mpmath.mpf) -> mpmath.mpf:
        return r ** (d - 1) * mpmath.exp(-(r**2) / 2)

    def far(r: mpmath.mpf) -> mpmath.mpf:
        return radius(r) * mpmath.erfc(ε * d / variance / r / mpmath.sqrt(2))

    reach = [0, mpmath.sqrt(d), 3 * mpmath.sqrt(d) + 8]
    product = mpmath.quad(far, reach) / mpmath.quad(radius, reach)
    return 1 - shorter(1 + ε) + shorter(1 - ε), product


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
