"""What is this book's: its claims, and what several notebooks share.

- ``claims``: what the articles say and how each statement is read (YAML), exercises, the lock;
- ``figures``, `drawings`, `live_figures`: plots, drawings and charts, figures that a reader moves;
- `real_models`: the classes that people use, at small sizes; `layers`: layers at initialisation;
- `tying`, `widening`, `tables`: what chapters 2 and 3, chapter 4, and chapter 5 share;
- ``arrays``, ``training``: enumeration and errors of arrays, one descent for all.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
