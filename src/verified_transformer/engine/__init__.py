"""What decides claims: registry, records, verdicts, exact mathematics, sampling, checks, commands.

The way of a claim through it:

1. `account` reads what is said and how it is read (``registry``, ``reading``).
2. A cell of a notebook calls a verb of `checks` (``claim``), which proves with `exact` or draws
   with `sampling`.
3. The cell's output keeps what came out (``account.records``), with a key of the code that made it
   (``account.code``).
4. ``account.verdicts`` makes a verdict of the records, which ``account.ledger`` publishes.
5. `commands` run notebooks afresh, compare and store them, and hold the prose to what came out.

It knows the book that it serves by one folder, which has the book's claims and recordings.
"""

from pathlib import Path

BOOK = Path(__file__).parents[1] / "book"
