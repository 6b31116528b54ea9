"""How claims are read: the reading itself, and the sources that it quotes."""

from .citations import Citation
from .reading import STRUCTURES, Reading, RegistryError, read_reading

__all__ = ["STRUCTURES", "Citation", "Reading", "RegistryError", "read_reading"]
