"""The weights of Transformers: heads, first loss, growth, factorised tables.

- `first_loss`: what a model starts with, whether that is due, and which part is not;
- `growth`: a model k times as wide that computes the same, in memory and in files;
- `audit`: what every parameter was asked to start with, and what it starts with;
- `factorised`: embedding tables in few numbers, which stand in for ``nn.Embedding``;
- ``heads``: tied, untied, projected and shuffled; ``architectures``: who ties;
- ``mup``: the settings of a small model, taken to a wide one; ``spectral``: a start and rates for
  every width, for Muon beside AdamW; ``counting``: operations, while they run; ``normalisation``:
  norms without learned parts.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

import lazy_loader as _lazy

__sealed__ = True  # a book that shows results of this code may key them by what it does
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

try:
    __version__ = _version("weightwise")
except _PackageNotFoundError:  # read from the sources, or part of another distribution
    __version__ = "0+sources"
