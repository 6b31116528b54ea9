"""Drawings of what plots cannot show: a kit of marks, and the drawings that the notebooks call.

In a notebook: ``from verified_transformer.book import drawings``, and ``drawings.tied_model()`` as
the last line of a cell.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
