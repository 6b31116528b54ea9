"""Gauss rules of laws, in plain Python: nodes and weights that are exact for polynomials."""

from __future__ import annotations

import math
from functools import lru_cache

import mpmath

from ..integrals.quadrature import double_exponential

Rule = tuple[list[float], list[float]]  # nodes, weights


def gauss_rule(jacobi: mpmath.matrix) -> Rule:
    """Nodes and weights from the matrix of multiplication by x (Golub and Welsch, 1969)."""
    with mpmath.workdps(25):
        nodes, vectors = mpmath.eigsy(jacobi)
        return [float(x) for x in nodes], [float(vectors[0, j]) ** 2 for j in range(len(nodes))]


@lru_cache(maxsize=256)
def rule_between(low: float, high: float, n: int, *, normal: bool) -> Rule:
    """Gauss rule of the standard normal law, or of the uniform one, given low <= x <= high.

    The matrix comes from a fine rule by Stieltjes's procedure: no moment of the law is asked for.
    """
    mode = min(max(low, 0.0), high)
    reach = math.sqrt(mode**2 + 300)  # beyond it the density is below e⁻¹⁵⁰ of its maximum
    xs, weights = [], []
    for start, end in ((max(low, -reach), mode), (mode, min(high, reach))):
        half = (end - start) / 2
        for place, weight in zip(*double_exponential(half_line=False), strict=True):
            x = start + half * place
            xs.append(x)
            weights.append(half * weight * (math.exp((mode**2 - x**2) / 2) if normal else 1))
    jacobi, before, here, ratio = mpmath.zeros(n), [0.0] * len(xs), [1.0] * len(xs), 0.0
    size = math.fsum(weights)
    for k in range(n):  # monic orthogonal polynomials, by their values at the fine nodes
        jacobi[k, k] = middle = (
            math.fsum(w * x * p**2 for w, x, p in zip(weights, xs, here, strict=True)) / size
        )
        pairs = zip(xs, here, before, strict=True)
        before, here = here, [(x - middle) * p - ratio * q for x, p, q in pairs]
        larger = math.fsum(w * p**2 for w, p in zip(weights, here, strict=True))
        ratio, size = larger / size, larger
        if k + 1 < n:
            jacobi[k, k + 1] = jacobi[k + 1, k] = math.sqrt(ratio)
    nodes, shares = gauss_rule(jacobi)
    if low == -high:  # then so are the nodes, to the last digit: the middle one is 0
        nodes = [(x - y) / 2 for x, y in zip(nodes, reversed(nodes), strict=True)]
        shares = [(x + y) / 2 for x, y in zip(shares, reversed(shares), strict=True)]
    return nodes, shares
