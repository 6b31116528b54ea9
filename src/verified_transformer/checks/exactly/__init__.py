"""Deciding exactly: a derivation, an exact oracle, a predicate and its broken twin, a count."""

from .counting import ByCount
from .oracles import ByOracle
from .shown import ByShownDerivation

__all__ = ["ByCount", "ByOracle", "ByShownDerivation"]
