"""What a result was made by: the definitions that a function reaches, read and never executed."""

from .key import Code, code_of
from .modules import CodeFault, Package, library
from .notebook_keys import how_made, notebook_key

__all__ = ["Code", "CodeFault", "Package", "code_of", "how_made", "library", "notebook_key"]
