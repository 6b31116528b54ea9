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


def _refuse_sizes(**sizes: float) -> None:
    for name, size in sizes.items():
        if not size > 0:
            raise ValueError(f"{name}: got {size}; accepted: a positive number")
