"""Exact moments of polynomials in iid entries with symbolic sizes, by two independent routes.

A polynomial (`polynomials`) is a SymPy expression in entries ``w[i]`` and sums ``total(..., i)``.
Multiplied out (`routes`), it has a mean by route A, the ways in which summed indices coincide, and
by route B, cumulants. The oracle (`oracle`) evaluates the definition as written, at a point where
its sizes have numbers; it shares nothing with either route.
"""

from .expectation import Expectation, RoutesDisagree, mean, variance
from .polynomials import Index, Tensor, total

__all__ = ["Expectation", "Index", "RoutesDisagree", "Tensor", "mean", "total", "variance"]
