"""Layers at initialisation: dense ones, norms, residual stacks, attention, a small Transformer."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
