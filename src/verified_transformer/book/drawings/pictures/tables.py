"""Drawings of smaller tables: thin matrices, other compression, costs, families, and the choice."""

from __future__ import annotations

from collections.abc import Sequence

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import arrow, blocks, box, brace, line, vector


@picture(
    "A row is looked up on the left, and made on the right: the token's r numbers are looked up "
    "and multiplied by B, which all tokens share.",
    "Left: a tall rectangle, the table W, of n tokens and width d; one of its rows is marked. "
    "Right: a rectangle A just as tall and a sixth as wide, with one short row marked, and a "
    "small flat matrix B of r rows and width d; an arrow says that the short row times B is the "
    "row of W.",
)
def thin_matrices() -> Panels:
    """Return a table with one row marked, and the two thin matrices that make the same row."""
    plain = Panel(
        320, 276,
        box(84, 66, 130, 170, rounded=0, above="width *d*", left="*n* tokens",
            below="*W*:  *nd* numbers"),
        box(84, 162, 130, 12, role="output", fill="up", rounded=0),
        arrow((216, 168), (244, 168)), text(268, 168, "a row", size=14),
        title="one table",
    )  # fmt: skip
    thin = Panel(
        320, 276,
        box(38, 66, 22, 170, rounded=0, above="*r*", below="*A*:  *nr*"),
        box(38, 162, 22, 12, role="input", fill="dots", rounded=0),
        box(150, 66, 130, 22, rounded=0, above="*B*:  *rd*"),
        arrow((62, 168), (148, 168)), text(104, 152, "times *B*", size=14),
        box(150, 162, 130, 12, role="output", fill="up", rounded=0, below="the same row"),
        title="two thin matrices",
    )  # fmt: skip
    return plain, thin


@picture(
    "Areas are numbers stored. Left: every word gets 1024 numbers. Right: only the most frequent "
    "do, the next get 256, and the long tail 64.",
    "Left: a rectangle for 267 735 words of width 1024. Right, at the same scale, three "
    "rectangles below each other: a wide, flat one for the 20 000 most frequent words, one of a "
    "quarter of the width for the next 40 000, and a long sliver of a sixteenth of the width for "
    "all others. Together they have a sixth of the area.",
)
def narrowing_bands() -> Panels:
    """Return a table of full width, and the bands of Baevski and Auli's, areas to scale."""
    parts, y = [], 58.0
    for tokens, width, fill in ((20, 1024, "up"), (40, 256, "dots"), (207.735, 64, "down")):
        wide, high = width * 120 / 1024, tokens * 210 / 267.735
        rows = f"{1000 * tokens:,.0f}".replace(",", " ")
        above, right = ("1024", "") if width == 1024 else ("", f"{width}")
        parts.append(box(104, y, wide, high, fill=fill, rounded=0, left=rows, above=above,
                         right=right))  # fmt: skip
        y += high
    whole = Panel(
        320, 294, box(104, 58, 120, 210, rounded=0, above="1024"),
        brace((98, 268), (98, 58)), text(48, 163, "267 735", size=14),
        title="one width for all",
    )  # fmt: skip
    return whole, Panel(320, 294, *parts, title="width by frequency")


@picture(
    "What a table of rank *r* sees of a hidden state: its shadow on the plane of the basis.",
    "A plane, with an arrow h that leaves it. Its shadow lies in the plane and is what the "
    "logits see; a dashed arrow at a right angle to the plane is what they never see.",
)
def part_unseen() -> Panels:
    """Return a hidden state above the plane of a basis: the part that is seen, and the other."""
    corner, tip, foot = (96, 164), (206, 56), (206, 150)
    plane = ((20, 192), (96, 116), (300, 116), (224, 192), (20, 192))
    return Panel(
        320, 214,
        line(*plane, role="weight"), text(52, 206, "the rows of *B*", size=14),
        arrow(corner, tip, role="input", width=2.2), text(196, 44, "*h*"),
        arrow(corner, foot, role="output", width=2.2),
        text(152, 178, "the logits see this", size=14),
        arrow(foot, tip, role="wrong", width=2.2),
        text(216, 92, "and never this", anchor="start", size=14),
    )  # fmt: skip


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


def _shared_rows(left: float, top: float) -> str:
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
        text(80, 190, "few numbers,\nand their places", size=14),
        text(240, 190, "all numbers,\nfew levels", size=14),
        title="leave out, or round",
    )  # fmt: skip
    common = Panel(
        320, 214, _shared_rows(12, 34), _thin(184, 40),
        text(86, 190, "one row for\nseveral tokens", size=14),
        text(244, 190, "short codes,\na matrix for all", size=14),
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
    mixed = [box(92, 59 + 26 * i, 86, 20, role="output", fill="up", left=f"token {i + 1}")
             for i in range(4)]  # fmt: skip
    basis = [box(224, 72 + 40 * i, 80, 20, role="weight", fill="up") for i in range(2)]
    ways = [line((180, 69 + 26 * i), (222, 82 + 40 * j), width=1) for i in range(4)
            for j in range(2)]  # fmt: skip
    left = Panel(
        320, 210, *mixed, *basis, *ways,
        text(160, 186, "all rows mix the same few", size=14),
        title="two thin matrices",
    )  # fmt: skip
    fills = [[fill] * 4 for fill in ("plain", "up", "dots")]
    square = blocks(150, 66, 30, [[""] * 4] * 3, role="output", fills=fills, high=26)
    upright = "".join(box(122, 66 + 26 * i, 20, 26, fill=fills[i][0]) for i in range(3))
    lying = "".join(box(150 + 30 * j, 40, 30, 18) for j in range(4))
    right = Panel(
        320, 210, square, upright, lying, text(62, 113, "one row,\nfolded", size=14),
        text(160, 186, "each row by itself is poor", size=14),
        title="a product for each token",
    )  # fmt: skip
    return left, right


_PART_FILLS = ("plain", "up", "dots", "down")
_UNIT, _LEFT = 4, 32


@picture(
    "Each number of a strip becomes a copy of the next vector, times that number. Equal hatches: "
    "made from the same entry of the first vector.",
    "First: one row of a table, 64 cells long, is copied out. Second: a vector of four cells "
    "times a second one makes a strip of 16 cells in four hatched blocks; this times a third "
    "vector makes the strip of 64 cells, four times as long, in four blocks.",
)
def row_read_or_made() -> Panels:
    """Return a row that is read from a table, and the same row made of three short vectors."""
    read = Panel(
        320, 250,
        box(_LEFT, 40, 256, 110), box(_LEFT, 84, 256, 14, fill="up", left="*t*"),
        arrow((160, 104), (160, 184)),
        vector(_LEFT, 188, 4, role="output", cell=16 * _UNIT, across=16),
        text(160, 226, "nothing is multiplied"),
        title="read: 64 numbers",
    )  # fmt: skip
    steps = "".join(
        blocks(_LEFT, 58 + 62 * i, _UNIT * 4**i, [[""] * 4], role="output",
               fills=[_PART_FILLS], high=16)
        + arrow((_LEFT + 8, 38 + 62 * i), (_LEFT + 8, 56 + 62 * i), width=1.2)
        for i in (1, 2)
    )  # fmt: skip
    others = "".join(
        text(x - 8, y, "×") + vector(x, y - 8, 4, role="weight", cell=_UNIT, across=16)
        for x, y in ((84, 66), (122, 128))
    )  # fmt: skip
    made = Panel(
        320, 250,
        vector(_LEFT, 58, 4, role="weight", cell=_UNIT * 2, across=16, fill=_PART_FILLS),
        others, steps,
        text(300, 66, "4 + 4 + 4 read", anchor="end", size=14),
        text(300, 128, "16 multiplied", anchor="end", size=14),
        text(160, 226, "64 multiplied"),
        title="made: 12 numbers read",
    )  # fmt: skip
    return read, made


@picture(
    "The gradient has a number for each product. Every one of them is multiplied twice: by an "
    "entry of *e* on its way to *p*, and by an entry of *p* on its way to *e*.",
    "First: a column of two numbers p and a row of three numbers e make six products. Second: a "
    "table of six gradients; its rows, times e, are summed to two numbers for p; its columns, "
    "times p, to three numbers for e.",
)
def three_times_as_often() -> Panels:
    """Return one step of the pass forward, and the two sums that pass its gradient back."""
    forward = Panel(
        320, 180,
        vector(60, 74, ["*p*_{1}", "*p*_{2}"], upright=True, cell=36, across=36),
        vector(112, 36, ["*e*_{1}", "*e*_{2}", "*e*_{3}"], role="weight", cell=48, across=30),
        blocks(112, 74, 48, [[f"*p*_{{{a}}}*e*_{{{b}}}" for b in (1, 2, 3)] for a in (1, 2)],
               role="output", size=14, high=36, below="6 multiplications"),
        title="forward",
    )  # fmt: skip
    backward = Panel(
        320, 180,
        blocks(40, 40, 44, [[f"*g*_{{{a}{b}}}" for b in (1, 2, 3)] for a in (1, 2)],
               role="gradient", size=14, high=32),
        arrow((176, 72), (222, 72)), text(186, 48, "times *e*: 6", anchor="start", size=14),
        vector(228, 64, 2, role="gradient", cell=16, upright=True, right="to *p*"),
        brace((172, 108), (40, 108)), text(106, 136, "times *p*: 6 more"),
        vector(82, 150, 3, role="gradient", cell=16, right="to *e*"),
        title="backward",
    )  # fmt: skip
    return forward, backward


_QUESTIONS = (
    ("Is the table a large\npart of the model?", "no", "plain", "nothing to gain"),
    ("Should the head\nbe faster, too?", "yes", "low rank", "faster head"),
    ("Must each token keep\nnumbers of its own?", "yes", "product", "each token"),
    ("Choose its size\nby one number?", "yes", "train", "bonds *r*"),
)


@picture(
    "Start at the top. The first question decides most cases.",
    "A ladder of four questions. Is the table a large part of the model? If not, keep the plain "
    "table. Should the head be faster, too? Then low rank. Must each token keep numbers of its "
    "own? Then a tensor product for each token. Do you want to choose the size by one number? "
    "Then a tensor train. At the foot: Kronecker products, where memory is everything.",
)
def which_table() -> Panels:
    """Return a ladder of four questions that leads to a family of tables."""
    marks = ""
    for place, (question, answer, table, why) in enumerate(_QUESTIONS):
        top = 36 + 92 * place
        marks += box(4, top, 176, 52, question, role="quiet", size=14)
        marks += arrow((180, top + 26), (224, top + 26)) + text(200, top + 14, answer, size=13)
        marks += box(226, top + 4, 90, 44, table) + text(271, top + 62, why, size=12)
        marks += arrow((92, top + 52), (92, top + 90))
        marks += text(104, top + 70, "yes" if answer == "no" else "no", anchor="start", size=13)
    marks += box(40, 404, 104, 40, "Kronecker") + text(92, 458, "memory is everything", size=12)
    return Panel(320, 470, marks, title="which table?")


_ROW_FILLS = ("up", "dots", "plain", "plain", "down", "plain")
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


def _factors(y: float, high: float, read: Sequence[float], rows: str) -> list[str]:
    """Three matrices side by side, and in each the row that a token reads."""
    return [
        box(x, y, 44, high, above="*q*", left=rows if x == 58 else "") + _read(x, y + down)
        for x, down in zip((58, 138, 218), read, strict=True)
    ]


def _own() -> Panel:
    return Panel(
        320, 380, box(58, 62, 40, 112, left="*n*", above="*r*"), _read(58, 128, 40),
        text(114, 118, "·"), box(130, 98, 140, 40, role="output", above="*d*"),
        text(160, 192, "low rank"), *_factors(232, 112, (66, 66, 66), "*n*"),
        text(120, 303, "⊗"), text(200, 303, "⊗"), text(160, 364, "product per token"),
        title="a row for each token",
    )  # fmt: skip


def _shared() -> Panel:
    bonds = (line((x, 288), (x + 36, 288), width=3) + text(x + 18, 275, "*r*") for x in (102, 182))
    return Panel(
        320, 380, *_factors(88, 60, (10, 36, 22), "*m*"), text(120, 118, "⊗"), text(200, 118, "⊗"),
        text(160, 192, "Kronecker"), *bonds, *_factors(258, 60, (10, 36, 22), "*m*"),
        text(160, 364, "tensor train"), title="a row for each digit",
    )  # fmt: skip


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
        blocks(40, 60, 80, [inside[:3], inside[3:]], high=62,
               fills=[_ROW_FILLS[:3], _ROW_FILLS[3:]],
               below="each block is *B*, times a number of *A*"),
        title="the table: six blocks",
    )  # fmt: skip
    top = ["*b*_{11}", "*b*_{12}", "*b*_{21}", "*b*_{22}"]
    rows = Panel(
        320, 232,
        vector(40, 74, _NAMES, role="input", upright=True, cell=21, across=42, fill=_ROW_FILLS),
        vector(96, 38, top, role="input", cell=48, across=26),
        blocks(96, 74, 48, [[""] * 4] * 6, fills=[[fill] * 4 for fill in _ROW_FILLS], high=21),
        text(160, 220, "all rows are multiples of one another", size=14),
        title="rearranged: six rows",
    )  # fmt: skip
    return table, rows
