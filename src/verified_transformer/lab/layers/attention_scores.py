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
    step = min(0.4, factor * lengths.min())
    weights = length_density(lengths, d)
    half = int((14 * factor * lengths.max() + 40) / step)
    x = step * np.arange(-half, half + 1)
    with np.errstate(over="ignore"):
        none, square = np.exp(-np.exp(x)), np.exp(2 * x - np.exp(x))
    values = []
    for σ in factor * lengths:
        normal = step * np.exp(-((x / σ) ** 2) / 2) / (σ * math.sqrt(2 * math.pi))
        others, own = (np.convolve(f, normal, "same") for f in (none, square))
        values.append(T * step * (own * others ** (T - 1)).sum())
    return float(weights @ np.array(values) / weights.sum())


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


def _refuse_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if not size > 0:
            raise ValueError(f"{name}: got {size}; accepted: a positive number")
