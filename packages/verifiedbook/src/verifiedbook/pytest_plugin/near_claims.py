"""Of which claims a cell of a notebook speaks, so that a red one names them."""

from __future__ import annotations

import re
from collections.abc import Sequence

ID = re.compile(r"\b(?:BOOK|[A-Z]{3,5})-\d{2,}\b")


def claims_near(sources: Sequence[str], index: int) -> tuple[str, ...]:
    """The claims that a cell names, or else the next cell that names any, or the last before it.

    Args:
        sources: of all cells.
        index: of the cell among them.
    """
    for other in (index, *range(index + 1, len(sources)), *range(index - 1, -1, -1)):
        if named := tuple(dict.fromkeys(ID.findall(sources[other]))):
            return named
    return ()
