"""What the world decides: runs with two arms, counts of published data, sources."""

from .experiments import ByExperiment
from .sources import BySources

__all__ = ["ByExperiment", "BySources"]
