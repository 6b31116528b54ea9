"""What decides the statements of a book: registry, records, verdicts, checks, exact mathematics.

The way of a claim through it:

1. `account` reads what is said and how it is read (``registry``, ``reading``).
2. A cell of a notebook calls a verb of `checks` (``claim``), which proves with `exact` or draws
   with `sampling`.
3. The cell's output keeps what came out (``account.records``), with a key of the code that made it
   (``account.code``).
4. ``account.verdicts`` makes a verdict of the records, which ``account.ledger`` publishes.
5. `commands` run notebooks afresh, compare and store them, and hold the prose to what came out.

Beside that: `drawings`, `live_figures` and ``figures``, what a notebook shows. Which book it serves
it is told (``serving``). Names are loaded when they are first used; they stand in ``__init__.pyi``.
"""

import lazy_loader as _lazy

__sealed__ = True  # results are keyed by what this code does, not by its names
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
