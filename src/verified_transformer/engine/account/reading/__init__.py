"""How claims are read: the reading itself, its clauses, and the sources that it quotes."""

from .citations import Citation
from .clauses import Clause, read_clauses
from .reading import Reading, RegistryError, read_reading

__all__ = ["Citation", "Clause", "Reading", "RegistryError", "read_clauses", "read_reading"]
