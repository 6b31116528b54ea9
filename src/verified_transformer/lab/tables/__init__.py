"""Chapter 5's laboratory: embeddings made of short vectors, and what they cost."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
