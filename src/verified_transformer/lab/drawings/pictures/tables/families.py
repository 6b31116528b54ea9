"""Four ways to keep a table in factors, and a table of blocks with each block as a row."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import blocks, box, line, matrix, vector

_FILLS = ("up", "dots", "plain", "plain", "down", "plain")
_NAMES = [f"*a*_{{{i}{j}}}" for i in (1, 2) for j in (1, 2, 3)]


def _read(x: float, y: float, width: float = 44) -> str:
    """What a token reads of a factor."""
    return box(x, y, width, 10, role="output", fill="dots")


@picture(
    "Green: what one token reads. On the left it is the token's own, but for the basis; on the "
    "right every token with that digit reads it, too.",
    "First: a tall narrow matrix of codes times a wide flat basis, of which one row of the codes "
    "and the whole basis are green; below it three tall matrices with a tensor product between "
    "them, the same row green in each. Second: three small matrices with a tensor product "
    "between them, and three small matrices joined by bonds of size r; in each another row is "
    "green.",
)
def four_families() -> Panels:
    """Return low rank and own products beside Kronecker products and a train."""
    return _own(), _shared()


def _own() -> Panel:
    low = (
        matrix(58, 62, 40, 112, "", rows="*n*", columns="*r*"),
        _read(58, 128, 40), text(114, 118, "·"),
        matrix(130, 98, 140, 40, "", columns="*d*"), box(130, 98, 140, 40, role="output"),
        text(160, 192, "low rank"),
    )  # fmt: skip
    factors = [
        matrix(x, 232, 44, 112, "", columns="*q*", rows="*n*" if x == 58 else "") + _read(x, 298)
        for x in (58, 138, 218)
    ]
    signs = (text(120, 303, "⊗"), text(200, 303, "⊗"), text(160, 364, "product per token"))
    return Panel(320, 380, *low, *factors, *signs, title="a row for each token")


def _shared() -> Panel:
    places, digits = (58, 138, 218), (10, 36, 22)
    kronecker = [
        matrix(x, 88, 44, 60, "", columns="*q*", rows="*m*" if x == 58 else "")
        + _read(x, 88 + down)
        for x, down in zip(places, digits, strict=True)
    ]
    signs = (text(120, 118, "⊗"), text(200, 118, "⊗"), text(160, 192, "Kronecker"))
    bonds = [
        line((x + 44, 288), (x + 80, 288), width=3) + text(x + 62, 275, "*r*") for x in places[:2]
    ]
    train = [
        matrix(x, 258, 44, 60, "", columns="*q*", rows="*m*" if x == 58 else "")
        + _read(x, 258 + down)
        for x, down in zip(places, digits, strict=True)
    ]
    name = text(160, 364, "tensor train")
    return Panel(320, 380, *kronecker, *signs, *bonds, *train, name, title="a row for each digit")


@picture(
    "No number has changed, each has only moved. But a Kronecker product has become a matrix of "
    "rank one.",
    "Left: a table of two by three blocks; each is the same small matrix B times one number a of "
    "A. Right: a matrix of six rows and four columns; the entries of A stand at its left and "
    "those of B above it; three of the rows have the hatches of three of the blocks.",
)
def blocks_as_rows() -> Panels:
    """Return a Kronecker product of a 2 by 3 matrix, and its rearrangement of rank one."""
    inside = [f"{name}*B*" for name in _NAMES]
    table = Panel(
        320, 232,
        blocks(40, 60, 80, [inside[:3], inside[3:]], fills=[_FILLS[:3], _FILLS[3:]], high=62),
        text(160, 206, "each block is *B*, times a number of *A*", size=14),
        title="the table: six blocks",
    )  # fmt: skip
    top = ["*b*_{11}", "*b*_{12}", "*b*_{21}", "*b*_{22}"]
    rows = Panel(
        320, 232,
        vector(40, 74, _NAMES, role="input", upright=True, cell=21, across=42, fill=_FILLS),
        vector(96, 38, top, role="input", cell=48, across=26),
        blocks(96, 74, 48, [[""] * 4] * 6, fills=[[fill] * 4 for fill in _FILLS], high=21),
        text(160, 220, "all rows are multiples of one another", size=14),
        title="rearranged: six rows",
    )  # fmt: skip
    return table, rows
