"""The tensor product of two short vectors: a table of products, read as one long vector."""

from __future__ import annotations

from ..drawing import Drawing, Panel
from ..labels import text
from ..parts import arrow, blocks, vector

__all__ = ["tensor_product"]

_ROWS, _COLUMNS = 3, 4
_FILLS = ("plain", "up", "dots")


def tensor_product() -> Drawing:
    """Return two vectors that fill a table with their products, and the table as one vector.

    Example:
        >>> "3 + 4" in tensor_product().caption
        True
    """
    left = [f"*u*_{{{i}}}" for i in range(1, _ROWS + 1)]
    top = [f"*v*_{{{j}}}" for j in range(1, _COLUMNS + 1)]
    inside = [[f"*u*_{{{i}}}*v*_{{{j}}}" for j in range(1, _COLUMNS + 1)]
              for i in range(1, _ROWS + 1)]  # fmt: skip
    fills = [[fill] * _COLUMNS for fill in _FILLS]
    filled = Panel(
        320, 226,
        vector(34, 82, left, upright=True, cell=44, across=38, fill=_FILLS),
        vector(88, 38, top, cell=52, across=30),
        blocks(88, 82, 52, inside, role="output", fills=fills, size=14, high=44),
        title="every pair meets once",
    )  # fmt: skip
    in_a_row = [fill for fill in _FILLS for _ in range(_COLUMNS)]
    long = Panel(
        320, 226,
        blocks(112, 46, 24, [[""] * _COLUMNS] * _ROWS, role="output", fills=fills, high=22),
        blocks(16, 150, 24, [[""] * _COLUMNS * _ROWS], role="output", fills=[in_a_row],
               high=30),
        *(arrow((112 + 48, 114), (16 + 48 + 96 * i, 148), width=1.2) for i in range(3)),
        text(160, 198, "rows one after the other: *u* ⊗ *v*"),
        title="one long vector",
    )  # fmt: skip
    return Drawing(
        (filled, long),
        "3 + 4 numbers make 3 × 4 products: all rows of the table are multiples of one vector.",
        "First: a column of three numbers and a row of four fill a table of twelve cells; each "
        "cell is the product of the number at its left and the number above. Cells of one row "
        "share a hatch. Second: the three rows of the table are laid one after the other into a"
        " strip of twelve cells.",
    )
