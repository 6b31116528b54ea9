"""Drawings of tensor products: tables of products, grids, and factors in a model."""

from __future__ import annotations

from itertools import product
from math import prod

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import arrow, blocks, box, brace, line, vector

_ROWS, _COLUMNS = 3, 4
_FILLS = ("plain", "up", "dots")


@picture(
    "3 + 4 numbers make 3 × 4 products: all rows of the table are multiples of one vector.",
    "First: a column of three numbers and a row of four fill a table of twelve cells; each cell "
    "is the product of the number at its left and the number above. Cells of one row share a "
    "hatch. Second: the three rows of the table are laid one after the other into a strip of "
    "twelve cells.",
)
def tensor_product() -> Panels:
    """Return two vectors that fill a table with their products, and the table as one vector."""
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
    return filled, long


_FACTORS = (("2", "3"), ("5", "7"), ("1", "10"))
_ENTRIES = [str(prod(map(int, chosen))) for chosen in product(*_FACTORS)]
_LEVELS = (52, 104, 156, 208)  # the root and the three factors


def _tree() -> tuple[str, ...]:
    """A tree with a number of a factor at each branch, and the products below."""
    marks: list[str] = []
    for level, factor in enumerate(_FACTORS):
        above, here = 2**level, 2 ** (level + 1)
        for place in range(here):
            x = 300 * (place + 0.5) / here + 10
            root = 300 * (place // 2 + 0.5) / above + 10
            marks.append(line((root, _LEVELS[level] + (10 if level else 0)),
                              (x, _LEVELS[level + 1] - 11)))  # fmt: skip
            marks.append(text(x, _LEVELS[level + 1], factor[place % 2], size=14))
    return (*marks, vector(10, 228, _ENTRIES, role="output", cell=37.5, across=28))


def _layout(x: float, y: float, columns: int, said: str) -> str:
    rows = [_ENTRIES[i : i + columns] for i in range(0, len(_ENTRIES), columns)]
    return blocks(x, y, 42, rows, role="output", size=13, high=26, above=said)


@picture(
    "Left: choose 2 or 3, then 5 or 7, then 1 or 10, and multiply. Right: in both rectangles "
    "each row is a multiple of every other.",
    "Left: a tree that branches in two three times, with the numbers 2 and 3, then 5 and 7, then "
    "1 and 10 at its branches; under its eight ends stand the products 10, 100, 14, 140, 15, "
    "150, 21, 210. Right: the same eight numbers as two rows of four, and as four rows of two.",
)
def choices_and_layouts() -> Panels:
    """Return three vectors of two numbers as a tree of choices, and their product in two shapes."""
    tree = Panel(320, 276, *_tree(), title="one number from each")
    shapes = Panel(
        320, 276,
        _layout(76, 64, 4, "first digit down, the others across"),
        _layout(118, 158, 2, "two digits down, the last across"),
        title="the same eight, laid out",
    )  # fmt: skip
    return tree, shapes


_FACTOR_FILLS = ("up", "dots", "down")


def _panel(title: str, below: str, *, back: bool) -> Panel:
    role = "gradient" if back else "quiet"
    marks = []
    for i, fill in enumerate(_FACTOR_FILLS):
        y = 52 + 38 * i
        marks.append(vector(20, y, 4, role="weight", cell=16, fill=fill))
        ends = [(88, y + 8), (120, 98)]
        marks.append(arrow(*(ends[::-1] if back else ends), role=role, width=1.4))
    through = [[(154, 98), (178, 98)], [(232, 98), (256, 98)]]
    marks += [arrow(*(w[::-1] if back else w), role=role) for w in through]
    marks += [box(122, 82, 32, 32, "⊗", role="quiet"), vector(180, 90, 8, role="output", cell=6.5),
              box(258, 62, 44, 72, "model", role="weight", size=13)]  # fmt: skip
    return Panel(320, 204, *marks, text(160, 190, below, size=14), title=title)


@picture(
    "A token keeps three short vectors. Their tensor product goes into the model; the gradient "
    "comes back through the product to each of them.",
    "First: three bars of four cells, with arrows to a box with a tensor sign, from there to a "
    "long bar and on to a box named model. Second: the same with dashed arrows the other way.",
)
def factors_in_a_model() -> Panels:
    """Return the way of a token's factors into a model, and of the gradient back to them."""
    return (
        _panel("forward", "multiply out, then as always", back=False),
        _panel("backward", "each gets it times the others", back=True),
    )


_GRID_ROWS, _GRID_COLUMNS = 2, 3


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
    left = [f"*u*_{{{i}}}*x*_{{{i}}}" for i in range(1, _GRID_ROWS + 1)]
    top = [f"*v*_{{{j}}}*y*_{{{j}}}" for j in range(1, _GRID_COLUMNS + 1)]
    fills = [["plain"] * _GRID_COLUMNS, ["up"] * _GRID_COLUMNS]
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
