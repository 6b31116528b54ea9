"""The owners that a text gives to its numbers and formulas, in the comment at its end."""

from __future__ import annotations

import re

_LET = "let "
_COMMENT = re.compile(r"<!-- owners\n(.*?)-->", re.DOTALL)


def owners(markdown: str) -> list[tuple[str, str]]:
    """Return the pairs of token and owner in a text's comment.

    Raises:
        ValueError: a line of the comment has no owner.
    """
    pairs = []
    for comment in _COMMENT.findall(markdown):
        for line in filter(None, map(str.strip, comment.splitlines())):
            if line.startswith(_LET):
                continue
            said, arrow, owner = line.rpartition(" <- ")
            if not arrow:
                raise ValueError(f"owners: {line!r}; accepted: lines such as 3.6 % <- LOSS-14")
            listed = [said] if "$" in said else said.split(";")
            pairs += [(text.strip(), owner.strip()) for text in listed]
    return pairs


def lets(markdown: str) -> list[str]:
    """Return what a text's comment says of names, such as ``w: Tensor(Normal(0, sigma), d)``."""
    lines = (line.strip() for found in _COMMENT.findall(markdown) for line in found.splitlines())
    return [line.removeprefix(_LET) for line in lines if line.startswith(_LET)]
