"""The owners that a text gives to its numbers and formulas, in the comment at its end."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!-- owners\n(.*?)-->", re.DOTALL)


def owners(markdown: str) -> list[tuple[str, str]]:
    """Return the pairs of token and owner in a text's comment.

    Raises:
        ValueError: a line of the comment has no owner.
    """
    pairs = []
    for comment in _COMMENT.findall(markdown):
        for line in filter(None, map(str.strip, comment.splitlines())):
            said, arrow, owner = line.rpartition(" <- ")
            if not arrow:
                raise ValueError(f"owners: {line!r}; accepted: lines such as 3.6 % <- LOSS-14")
            listed = [said] if "$" in said else said.split(";")
            pairs += [(text.strip(), owner.strip()) for text in listed]
    return pairs
