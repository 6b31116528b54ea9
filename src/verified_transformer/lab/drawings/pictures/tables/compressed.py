"""Ways to store a table in less, and the two places in which a rank can be low."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, blocks, box, line

_ROWS, _COLUMNS, _CELL = 6, 5, 20
_KEPT = {(0, 1), (0, 4), (1, 0), (2, 2), (3, 3), (3, 0), (4, 4), (5, 1)}
_LEVELS = "up plain dots up down|plain dots up down plain|down up plain plain dots|" \
          "dots plain down up plain|up dots plain down up|plain down up dots plain"  # fmt: skip


def _pruned(left: float, top: float) -> str:
    frame = box(left, top, _COLUMNS * _CELL, _ROWS * _CELL, role="quiet", rounded=0)
    return frame + "".join(
        box(left + j * _CELL, top + i * _CELL, _CELL, _CELL, role="weight", rounded=0)
        for i, j in sorted(_KEPT)
    )


def _rounded(left: float, top: float) -> str:
    fills = [row.split() for row in _LEVELS.split("|")]
    return blocks(left, top, _CELL, [[""] * _COLUMNS] * _ROWS, fills=fills)


def _shared(left: float, top: float) -> str:
    marks = "".join(box(left + 70, top + 9 + 42 * i, 70, 20, fill=fill)
                    for i, fill in enumerate(("plain", "up", "dots")))  # fmt: skip
    for token in range(_ROWS):
        y = top + 4 + 22 * token
        marks += text(left + 6, y + 4, str(token + 1), size=13)
        marks += arrow((left + 16, y), (left + 67, top + 19 + 42 * (token % 3)), width=1.2)
    return marks


def _thin(left: float, top: float) -> str:
    tall = box(left, top, 22, 120, "*A*", fill="up")
    wide = box(left + 40, top + 49, 80, 22, "*B*", fill="down")
    return tall + wide + text(left + 31, top + 62, "·")


@picture(
    "One table, stored in four ways. Which of them change every number, and which only some?",
    "First: a grid of six rows and five columns in which eight cells are left; and a full grid "
    "whose cells show four hatches only. Second: six tokens with arrows to three rows, two to "
    "each; and a tall narrow matrix A times a low wide matrix B.",
)
def four_ways_to_store() -> Panels:
    """Return one table stored in four ways: pruned, rounded, with shared rows, factorised."""
    fewer = Panel(
        320, 214, _pruned(30, 40), _rounded(190, 40),
        text(80, 180, "few numbers,", size=14), text(80, 199, "and their places", size=14),
        text(240, 180, "all numbers,", size=14), text(240, 199, "few levels", size=14),
        title="leave out, or round",
    )  # fmt: skip
    common = Panel(
        320, 214, _shared(12, 34), _thin(184, 40),
        text(86, 180, "one row for", size=14), text(86, 199, "several tokens", size=14),
        text(244, 180, "short codes,", size=14),
        text(244, 199, "a matrix for all", size=14),
        title="share, or factorise",
    )  # fmt: skip
    return fewer, common


@picture(
    "The rank is low in two different places: of all rows together, or of each row folded into a "
    "rectangle.",
    "First: four rows of a table, each joined by lines to the same two rows of a small matrix. "
    "Second: one row folded into a rectangle of three by four cells, which are the products of a "
    "column of three numbers and a row of four.",
)
def two_low_ranks() -> Panels:
    """Return where two factorisations are poor: all rows together, or each row by itself."""
    rows = [text(52, 70 + 26 * i, f"token {i + 1}", size=13) for i in range(4)]
    mixed = [box(92, 59 + 26 * i, 86, 20, role="output", fill="up") for i in range(4)]
    basis = [box(224, 72 + 40 * i, 80, 20, role="weight", fill="up") for i in range(2)]
    ways = [line((180, 69 + 26 * i), (222, 82 + 40 * j), width=1) for i in range(4)
            for j in range(2)]  # fmt: skip
    left = Panel(
        320, 210, *rows, *mixed, *basis, *ways,
        text(160, 186, "all rows mix the same few", size=14),
        title="two thin matrices",
    )  # fmt: skip
    fills = [[fill] * 4 for fill in ("plain", "up", "dots")]
    square = blocks(150, 66, 30, [[""] * 4] * 3, role="output", fills=fills, high=26)
    upright = "".join(box(122, 66 + 26 * i, 20, 26, fill=fills[i][0]) for i in range(3))
    lying = "".join(box(150 + 30 * j, 40, 30, 18) for j in range(4))
    right = Panel(
        320, 210, square, upright, lying, text(62, 104, "one row,", size=14),
        text(62, 122, "folded", size=14), text(160, 186, "each row by itself is poor", size=14),
        title="a product for each token",
    )  # fmt: skip
    return left, right
