"""The library of *The Verified Transformer*: statements about weights, decided by machine.

Names are loaded when they are first used, so that reading the ledger needs neither SymPy nor torch,
and `verified_transformer.models` no SymPy. They stand in ``__init__.pyi``.
"""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

try:
    __version__ = _version("verified-transformer")
except PackageNotFoundError:  # read from the sources, not installed
    __version__ = "0+sources"
