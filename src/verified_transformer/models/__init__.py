"""What practitioners import: heads, first loss, growth, factorised tables; it loads no SymPy.

- `first_loss`: what a model starts with, whether that is due, and which part is not;
- `growth`: a model k times as wide that computes the same, in memory and in files;
- `factorised`: embedding tables in few numbers, which stand in for ``nn.Embedding``;
- ``heads``: tied, untied, projected and shuffled; ``architectures``: who ties;
- ``mup``: the settings of a small model, taken to a wide one; ``counting``: operations, while they
  run; ``normalisation``: norms without learned parts.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
