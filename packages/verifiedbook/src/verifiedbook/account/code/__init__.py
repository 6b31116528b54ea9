"""What a result was made by: the definitions that a function reaches, read and never executed."""

from .key import Code, code_of, how_made, notebook_key
from .modules import CodeFault, Package, library

__all__ = ["Code", "CodeFault", "Package", "code_of", "how_made", "library", "notebook_key"]
