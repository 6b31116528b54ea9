r"""Attention logits at initialisation, exactly: inner products of standard normal vectors.

Given the query, of length $r$, the logits $q\cdot k_j$ are independent normal numbers of standard
deviation $r$; what is left is an integral over the law of $r$, a chi law of $d$ degrees.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from scipy import special

from ...exact.formulas.evaluation import quadrature

Number = TypeVar("Number", float, np.ndarray)


def length_density(r: Number, d: int) -> Number:
    """Return the density of the length of a standard normal vector.

    Args:
        r: lengths, positive.
        d: the vector's size.
    """
    _refuse_sizes(d=d)
    return np.exp((d - 1) * np.log(r) - r * r / 2 - (d / 2 - 1) * math.log(2) - math.lgamma(d / 2))


def chance_outside(d: int, T: int = 1) -> float:
    r"""Return the chance that one of T logits leaves the range from $-3\sqrt d$ to $3\sqrt d$.

    Args:
        d: size of query and keys, at most 512, beyond which the density is too narrow for the rule.
        T: number of keys, which share the query.
    """
    _refuse_sizes(d=d, T=T)
    if d > 512:
        raise ValueError(f"d: got {d}; accepted: at most 512")

    def integrand(r: np.ndarray) -> np.ndarray:
        return (1 - special.erf(3 * math.sqrt(d / 2) / r) ** T) * length_density(r, d)

    return quadrature(integrand, 0, math.inf).value


def chance_outside_by_frequency(d: int) -> float:
    r"""Return the same chance for one logit, from its characteristic function $(1+t^2)^{-d/2}$.

    Args:
        d: size of query and key.
    """
    _refuse_sizes(d=d)

    def integrand(t: np.ndarray) -> np.ndarray:
        return np.sin(3 * math.sqrt(d) * t) / t * (1 + t * t) ** (-d / 2)

    return 1 - 2 / math.pi * quadrature(integrand, 0, 2).value


def mean_sum_of_squares(T: int, d: int, factor: float = 1.0) -> float:
    r"""Return the mean of $\sum_jp_j^2$, 1 for one hot rows and $1/T$ for flat ones.

    One over the squared normaliser is an integral, $Z^{-2}=\int e^{2x-e^xZ}\,dx$, under which the
    keys fall apart into factors: each is a normal smoothing of one function, summed over a lattice.

    Args:
        T: number of keys.
        d: size of query and keys.
        factor: what the logits are multiplied by, such as $1/\sqrt d$.
    """
    _refuse_sizes(d=d, T=T)
    lengths = math.sqrt(d) + 0.71 * np.linspace(-5, 5, 21)
    lengths = lengths[lengths > 0.2 * math.sqrt(d)]
    weights = length_density(lengths, d)
    step = min(0.4, factor * lengths.min())
    values = [sum_of_squares(T, factor * r, step=step) for r in lengths]
    return float(weights @ np.array(values) / weights.sum())


def sum_of_squares(T: int, spread: float, *, step: float | None = None) -> float:
    r"""Return the mean of $\sum_jp_j^2$ for T independent normal logits of one standard deviation.

    Args:
        T: number of keys.
        spread: standard deviation of the logits, at least 0.2.
        step: of the lattice; without it, as fine as the spread needs.

    Example:
        >>> round(sum_of_squares(512, 8.0), 2)
        0.63
    """
    _refuse_sizes(T=T)
    if not spread >= 0.2:
        raise ValueError(f"spread: got {spread}; accepted: 0.2 at least")
    step = step or min(0.4, spread)
    half = int((14 * spread + 40) / step)
    x = step * np.arange(-half, half + 1)
    with np.errstate(over="ignore"):
        none, square = np.exp(-np.exp(x)), np.exp(2 * x - np.exp(x))
    normal = step * np.exp(-((x / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
    others, own = (np.convolve(f, normal, "same") for f in (none, square))
    return float(T * step * (own * others ** (T - 1)).sum())


def width_for(T: int, least: float = 0.9) -> int:
    r"""Return the smallest d at which the mean of $\sum_jp_j^2$ of undivided logits is so large.

    Args:
        T: number of keys.
        least: the mean that is wanted.

    Raises:
        ValueError: no d from 17 to 4096 has it, or all of them.
    """
    low, high = 16, 4096  # the mean grows with d
    if not mean_sum_of_squares(T, low) < least <= mean_sum_of_squares(T, high):
        raise ValueError(f"least: got {least}; accepted: what some d from {low + 1} to {high} has")
    while high - low > 1:
        middle = (low + high) // 2
        enough = mean_sum_of_squares(T, middle) >= least
        low, high = (low, middle) if enough else (middle, high)
    return high


def mean_of_largest(T: int) -> float:
    """Return the mean of the largest of T independent standard normal numbers.

    Args:
        T: how many.

    Example:
        >>> round(mean_of_largest(2) * math.sqrt(math.pi), 12)
        1.0
    """
    _refuse_sizes(T=T)

    def beyond(x: np.ndarray) -> np.ndarray:  # the chance of a larger one, less that below -x
        return 1 - special.ndtr(x) ** T - special.ndtr(-x) ** T

    return quadrature(beyond, 0, 13).value


def mean_lead(T: int) -> float:
    """Return the mean difference of the two largest of T independent standard normal numbers.

    If one of the T is taken away at random, the largest of the rest is the largest, or, once in T
    times, the second largest.

    Args:
        T: how many, two at least.

    Example:
        >>> round(mean_lead(2) * math.sqrt(math.pi), 12)
        2.0
    """
    if T < 2:
        raise ValueError(f"T: got {T}; accepted: two at least, else there is no second")
    return T * (mean_of_largest(T) - mean_of_largest(T - 1))


def mean_of_inverse_length(d: int) -> float:
    """Return the mean of one over the length of a standard normal vector.

    Args:
        d: the vector's size, two at least.

    Raises:
        ValueError: a smaller one, for which there is no mean.
    """
    if d < 2:
        raise ValueError(f"d: got {d}; accepted: two at least, else there is no mean")
    return math.exp(math.lgamma((d - 1) / 2) - math.lgamma(d / 2)) / math.sqrt(2)


def softmax_means(T: int, r: float) -> tuple[float, float]:
    r"""Return the means of $\sum_jp_j^2$ and $\sum_jp_jz_j$ for the softmax $p$ of $rz$.

    The $z_j$ are T standard normal numbers. Powers of one over the normaliser $Z$ are integrals of
    $e^{kx-e^xZ}$ over all $x$, under which the keys fall apart.

    Args:
        T: how many.
        r: what the numbers are multiplied by, the length of a query.
    """
    _refuse_sizes(T=T, r=r)
    z, fine = np.linspace(-12, 12, 2401, retstep=True)
    weight = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * fine
    x, step = np.linspace(-14 * r - 40, 14 * r + 6, 1 + int(280 * r + 460), retstep=True)
    shifted = np.minimum(x[:, None] + r * z, 7)  # beyond it everything below is 0
    kept = np.exp(-np.exp(shifted))
    others = T * (kept @ weight) ** (T - 1) * step
    squares = (np.exp(2 * shifted) * kept @ weight) @ others
    tilted = (np.exp(shifted) * kept @ (weight * z)) @ others
    return float(squares), float(tilted)


def gradient_for_two_keys(d: int, factor: float) -> float:
    """Return the mean square of the gradient at the query, for two keys.

    An integral over the length of the query and the difference of the two keys along it.

    Args:
        d: size of query and keys.
        factor: what the logits are multiplied by.
    """
    _refuse_sizes(d=d)
    r = np.linspace(0.02, math.sqrt(d) + 6, 800)
    r = r[np.abs(r - math.sqrt(d)) < 6]
    u = np.linspace(-9, 9, 1501)  # difference of the keys along the query, variance 2
    pair = 2 * (2 * (d - 1) + u**2) * np.exp(-(u**2) / 4) / math.sqrt(4 * math.pi)
    slope = 1 / (4 * np.cosh(np.outer(factor * r, u) / 2) ** 4) / 4
    weight = length_density(r, d)
    return float(factor**2 * weight @ (slope @ pair) * (u[1] - u[0]) / weight.sum())


def _refuse_sizes(**sizes: float) -> None:
    for name, size in sizes.items():
        if not size > 0:
            raise ValueError(f"{name}: got {size}; accepted: a positive number")
