"""Products on a grid: why dot products multiply, and where an entry of a product stands."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, blocks, brace, vector

_ROWS, _COLUMNS = 2, 3


@picture(
    "Each cell is what stands at its left times what stands above it. So the sum of all cells is "
    "the sum at the left times the sum above.",
    "First: the products u1 x1 and u2 x2 stand at the left of a grid, v1 y1, v2 y2 and v3 y3 "
    "above it; each of the six cells is the product of both. Second: the same sides without the "
    "grid; the left one is summed to u dot x, the upper one to v dot y, and these two are "
    "multiplied.",
)
def dot_products_multiply() -> Panels:
    """Return a grid of products of products, and its sum as a product of two sums."""
    left = [f"*u*_{{{i}}}*x*_{{{i}}}" for i in range(1, _ROWS + 1)]
    top = [f"*v*_{{{j}}}*y*_{{{j}}}" for j in range(1, _COLUMNS + 1)]
    fills = [["plain"] * _COLUMNS, ["up"] * _COLUMNS]
    grid = Panel(
        320, 190,
        vector(24, 84, left, upright=True, cell=44, across=52, fill=["plain", "up"]),
        vector(92, 40, top, role="weight", cell=66, across=30),
        blocks(92, 84, 66, [[f"{a} {b}" for b in top] for a in left], role="output",
               fills=fills, size=12, high=44),
        title="six products",
    )  # fmt: skip
    sums = Panel(
        320, 190,
        vector(24, 84, left, upright=True, cell=44, across=52, fill=["plain", "up"]),
        vector(92, 40, top, role="weight", cell=66, across=30),
        brace((80, 84), (80, 172)),
        text(112, 128, "*u*·*x*", anchor="start"),
        brace((290, 76), (92, 76)), text(191, 100, "*v*·*y*"),
        text(230, 150, "(*u*·*x*) (*v*·*y*)", size=16),
        title="two sums",
    )  # fmt: skip
    return grid, sums


@picture(
    "Vectors of two, three and four numbers. The first index chooses a half, the second a third "
    "of it, the last a cell. Whoever is multiplied first, the cell is the same.",
    "Three strips of one length, below each other: two blocks; six blocks; 24 cells. Each step "
    "cuts every block into smaller ones. An arrow points at one cell of the last strip.",
)
def places_of_entries() -> Panels:
    """Return a product of three vectors as nested blocks: which index moves how far."""
    cell = 12
    fills = ["plain"] * 12 + ["up"] * 12
    strip = [
        blocks(16, y, width, [[""] * (24 * cell // width)], role="output", high=20,
               fills=[[fills[at * width // cell] for at in range(24 * cell // width)]])
        for y, width in ((40, 144), (86, 48), (132, 12))
    ]  # fmt: skip
    order = Panel(
        320, 210, *strip,
        *(arrow((20, y), (20, y + 24), width=1.2) for y in (61, 107)),
        text(40, 73, "times a vector of three", anchor="start", size=14),
        text(40, 119, "times a vector of four", anchor="start", size=14),
        arrow((202, 186), (202, 154), width=1.2),
        text(202, 198, "digits 1, 0, 3: place 12 + 0 + 3", size=14),
        title="two brackets, one row",
    )  # fmt: skip
    return order
