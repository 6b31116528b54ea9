"""Exact moments of polynomials in iid entries with symbolic sizes, by two independent routes.

A polynomial (`polynomials`) is a SymPy expression in entries ``w[i]`` and sums ``total(..., i)``,
multiplied out into `terms`. Route A (`partitions`) sums over the ways in which summed indices
coincide, with raw moments; route B (`cumulants`) over partitions of the factors into blocks, with
cumulants. Both start from the multiplied-out polynomial and share no rule about expectations.

The oracle (`oracle`) evaluates the definition as written, at a point where its sizes have numbers;
it shares nothing with either route.
"""

from .expectation import Expectation, RoutesDisagree, mean, variance
from .partitions import Pattern
from .polynomials import Index, Tensor, total

__all__ = [
    "Expectation",
    "Index",
    "Pattern",
    "RoutesDisagree",
    "Tensor",
    "mean",
    "total",
    "variance",
]
