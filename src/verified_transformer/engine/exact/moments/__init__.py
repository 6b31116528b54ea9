"""Exact moments of polynomials in iid entries with symbolic sizes, by two independent routes.

A polynomial (`polynomials`) is a SymPy expression in entries ``w[i]`` and sums ``total(..., i)``,
multiplied out into `terms`. Route A (`partitions`) sums over the ways in which summed indices
coincide, with raw moments; route B (`cumulants`) over partitions of the factors into blocks, with
cumulants. Both start from the multiplied-out polynomial and share no rule about expectations.

Where a deterministic matrix occurs, only route B applies; the second witness is then the oracle, at
two points with random matrices. The oracle (`grid`) evaluates the definition as written, before
anything is multiplied out; it shares nothing with either route.
"""

from .cumulants import Contraction
from .expectation import Expectation, RoutesDisagree, mean, variance
from .patterns import Pattern
from .polynomials import Index, Matrix, Tensor, total

__all__ = [
    "Contraction",
    "Expectation",
    "Index",
    "Matrix",
    "Pattern",
    "RoutesDisagree",
    "Tensor",
    "mean",
    "total",
    "variance",
]
