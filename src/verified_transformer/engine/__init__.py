"""What decides claims: registry, records, verdicts, exact mathematics, sampling, checks, commands.

It knows the book that it serves by one folder, which has the book's claims and recordings.
"""

from pathlib import Path

BOOK = Path(__file__).parents[1] / "book"
