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
