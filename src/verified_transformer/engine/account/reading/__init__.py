"""How claims are read: the reading itself, and the sources that it quotes."""

from .citations import Citation
from .reading import Reading, RegistryError, read_reading

__all__ = ["Citation", "Reading", "RegistryError", "read_reading"]
