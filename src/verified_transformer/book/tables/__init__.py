"""Embedding tables in few parameters: ranks, rearrangements, trains, products of short vectors."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
