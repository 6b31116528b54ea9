"""Exact moments of polynomials in iid entries with symbolic sizes, and an oracle.

A polynomial (`polynomials`) is a SymPy expression in entries ``w[i]`` and sums ``total(..., i)``.
Multiplied out (`patterns`), its mean is a sum over the ways in which summed indices coincide. The
oracle (`oracle`) evaluates the definition as written, at a point where its sizes have numbers; it
shares nothing with the derivation.
"""

from .expectation import Expectation, mean, variance
from .polynomials import Index, Tensor, total

__all__ = ["Expectation", "Index", "Tensor", "mean", "total", "variance"]
