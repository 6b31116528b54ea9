"""Deciding exactly: a derivation, an exact oracle, a predicate and its broken twin, a count."""

from .counting import ByCount
from .derived import ByShownDerivation
from .oracles import ByOracle

__all__ = ["ByCount", "ByOracle", "ByShownDerivation"]
