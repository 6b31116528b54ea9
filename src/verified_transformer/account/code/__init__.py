"""What a result was made by: the definitions that a function reaches, read and never executed."""

from .key import Code, code_of
from .live import how_made
from .modules import CodeFault

__all__ = ["Code", "CodeFault", "code_of", "how_made"]
