"""The library of *The Verified Transformer*: statements about weights, decided by machine.

Two parts, each with a map in its ``__init__``, beside the package `weightwise`, what practitioners
import, which is found as `models` as well:

- `engine`, what decides claims: registry, checks, exact mathematics, sampling, records, verdicts;
- `book`, what is this book's: its claims, what its notebooks share, its long experiments.

The book imports the other two, which know neither it nor each other.

Names are loaded when they are first used, so that reading the ledger needs neither SymPy nor torch,
and `verified_transformer.models` no SymPy. They stand in ``__init__.pyi``.
"""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version

import lazy_loader as _lazy

__sealed__ = True  # results are keyed by what this code does, not by its names
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

try:
    __version__ = _version("verified-transformer")
except PackageNotFoundError:  # read from the sources, not installed
    __version__ = "0+sources"
