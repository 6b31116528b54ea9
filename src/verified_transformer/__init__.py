"""*The Verified Transformer*: statements about weights, decided by machine.

What is here is the book's own (`book`): its claims, what its notebooks share, its long experiments.
What decides claims is the package `verifiedbook`, found as `engine` as well; what practitioners
import is the package `weightwise`, found as `models`. Neither knows the book, nor the other.

Names are loaded when they are first used, so that reading the ledger needs neither SymPy nor torch.
They stand in ``__init__.pyi``.
"""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version

import verifiedbook

from . import served as served

__sealed__ = True  # results are keyed by what this code does, not by its names
__getattr__, __dir__, __all__ = verifiedbook.__getattr__, verifiedbook.__dir__, verifiedbook.__all__

try:
    __version__ = _version("verified-transformer")
except PackageNotFoundError:  # read from the sources, not installed
    __version__ = "0+sources"
