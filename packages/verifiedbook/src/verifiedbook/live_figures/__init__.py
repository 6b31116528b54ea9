"""Live figures without a kernel: proved formulas and tables as curves that a reader moves.

One script, `live.js`, draws them in the book, where it is a file, and in Jupyter and Colab, where
it travels inside the output. A static picture stands where no script runs.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
