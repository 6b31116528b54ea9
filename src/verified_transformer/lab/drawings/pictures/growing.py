"""A weight matrix that grows: repeat its entries both ways, and divide."""

from __future__ import annotations

from ..drawing import Drawing, Panel
from ..labels import text
from ..parts import blocks, vector

__all__ = ["grown_matrix"]

_NAMES = (("a", "b"), ("c", "d"))
_FILLS = (("plain", "up"), ("dots", "down"))


def grown_matrix() -> Drawing:
    """Return a matrix of two by two, and the one of four by four that computes the same.

    Example:
        >>> "half" in grown_matrix().alt
        True
    """
    named = [[f"*{name}*" for name in row] for row in _NAMES]
    grown = [[f"*{_NAMES[i // 2][j // 2]}*/2" for j in range(4)] for i in range(4)]
    fills = [[_FILLS[i // 2][j // 2] for j in range(4)] for i in range(4)]
    small = Panel(
        320, 262,
        blocks(60, 108, 48, named, fills=_FILLS), text(108, 92, "*W*"),
        text(172, 156, "·"),
        vector(186, 122, ["*p*", "*q*"], upright=True, cell=34, fill=("plain", "up")),
        text(203, 106, "*x*"), text(234, 156, "="),
        vector(248, 122, ["*u*", "*v*"], upright=True, cell=34, role="output",
               fill=("plain", "dots")),
        text(265, 106, "*y*"),
        text(160, 240, "*u* = *a p* + *b q*"),
        title="the small layer",
    )  # fmt: skip
    large = Panel(
        320, 262,
        blocks(16, 56, 38, grown, fills=fills, size=14),
        text(16, 40, "repeated, and divided by 2", size=14, anchor="start"),
        text(180, 132, "·"),
        vector(194, 62, ["*p*", "*p*", "*q*", "*q*"], upright=True, cell=35,
               fill=("plain", "plain", "up", "up")),
        text(244, 132, "="),
        vector(260, 62, ["*u*", "*u*", "*v*", "*v*"], upright=True, cell=35, role="output",
               fill=("plain", "plain", "dots", "dots")),
        text(160, 240, "*a p*/2 + *a p*/2 + *b q*/2 + *b q*/2 = *u*"),
        title="twice as wide",
    )  # fmt: skip
    return Drawing(
        (small, large),
        "Equal hatches are equal numbers. Every product now occurs twice, and the division by "
        "two undoes it: the outputs are the old ones, each repeated.",
        "First: a matrix with the entries a, b, c, d times the vector p, q gives u, v. Second: "
        "each entry has become a block of two by two, each a half of it, and each number of the"
        " vector stands twice. Every row adds two halves of each product, so that the output is"
        " u, u, v, v.",
    )
