"""Laws of one random entry: exact moments and cumulants, nodes and a sampler for each.

Parameters are SymPy expressions or numbers. A decimal such as ``1.3`` is read as the rational
13/10 that it prints, so that everything computed from it stays exact.
"""

from .continuous import Normal, TruncatedNormal, Uniform
from .discrete import SKEWED, Discrete, General, Rademacher
from .law import Law, MissingMoment, cumulant_from, exact

__all__ = [
    "SKEWED",
    "Discrete",
    "General",
    "Law",
    "MissingMoment",
    "Normal",
    "Rademacher",
    "TruncatedNormal",
    "Uniform",
    "cumulant_from",
    "exact",
]
