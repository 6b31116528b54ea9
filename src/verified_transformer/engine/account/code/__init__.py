"""What a result was made by: the definitions that a function reaches, read and never executed."""

from .evidence_key import how_made, library
from .key import Code, code_of
from .modules import CodeFault, Package
from .notebook_key import notebook_key

__all__ = ["Code", "CodeFault", "Package", "code_of", "how_made", "library", "notebook_key"]
