"""Drawings of tensor trains: the chain, its digits, walks along its bonds, and cuts."""

from __future__ import annotations

from itertools import pairwise

from ..drawing import Panel, Panels, picture
from ..marks import arrow, box, core, line, node, text


@picture(
    "Each core holds a small matrix for every pair of digits (*t*_{i}, *j*_{i}). One number of "
    "the table is the product of three of them.",
    "First: three circles in a row, the cores G1, G2 and G3, joined by two bonds of size r. Each "
    "has a leg below, a digit of the token's number, and a leg above, a digit of the place in "
    "its row. Second: once all digits are chosen, the first core gives a row of r numbers, the "
    "second an r by r matrix, the third a column of r numbers; their product is one number of "
    "the table.",
)
def tensor_train() -> Panels:
    """Return a tensor train of three cores, and how one entry of a row is read from it."""
    places = (64, 160, 256)
    cores = "".join(
        core(x, 150, f"*G*_{{{i}}}", below=f"*t*_{{{i}}}", above=f"*j*_{{{i}}}", leg=30)
        for i, x in enumerate(places, 1)
    )
    bonds = "".join(
        line((x + 21, 150), (x + 75, 150), width=3) + text(x + 48, 137, "*r*") for x in places[:2]
    )
    chain = Panel(
        320, 300, bonds, cores,
        text(160, 52, "which entry of the row"), text(160, 250, "which token: digits of *t*"),
        text(160, 276, "lines that join two cores: bonds of size *r*", size=14),
        title="three cores, two bonds",
    )  # fmt: skip
    return chain, _one_entry()


def _one_entry() -> Panel:
    slices = "".join(box(14 + 6 * k, 216 - 6 * k, 44, 44, role="weight") for k in range(3))
    return Panel(
        320, 300,
        box(16, 92, 66, 18, fill="up", above="1 × *r*"), text(96, 101, "·"),
        box(110, 68, 66, 66, fill="dots", above="*r* × *r*"), text(190, 101, "·"),
        box(204, 68, 18, 66, fill="down", above="*r* × 1"), text(242, 101, "="),
        box(260, 89, 24, 24, role="output", below="one entry"),
        slices, arrow((66, 198), (118, 140)),
        text(124, 238, "a core is a stack of them:\none slice for each choice\n"
             "of its two digits", anchor="start", size=14),
        title="one number of the table",
    )  # fmt: skip


@picture(
    "Two odometers. A wheel with 37 signs goes round once before its left neighbour moves on: "
    "36·37² + 26·37 + 10 = 50 256. Do the same sum for the three on the right.",
    "Left: three wheels of 37 signs show the digits 36, 26 and 10 of token 50 256, with their "
    "neighbours above and below in grey. Right: wheels of 8, 8 and 12 signs show 1, 0 and 4, the "
    "digits of place 100.",
)
def odometers() -> Panels:
    """Return two odometers: GPT-2's last token in three digits, and a place in its row."""
    token = _wheels("token 50 256", (36, 26, 10), (37, 37, 37), "*t*")
    place = _wheels("place 100", (1, 0, 4), (8, 8, 12), "*j*")
    return token, place


def _wheels(title: str, digits: tuple[int, ...], signs: tuple[int, ...], letter: str) -> Panel:
    marks = []
    for i, (digit, base) in enumerate(zip(digits, signs, strict=True)):
        x = 58 + 72 * i
        marks.append(box(x, 44, 60, 96, role="quiet", rounded=8))
        marks.append(
            box(
                x,
                76,
                60,
                32,
                str(digit),
                role="input",
                size=20,
                above=str((digit - 1) % base),
                below=str((digit + 1) % base),
            )
        )
        marks.append(text(x + 30, 167, f"{letter}_{{{i + 1}}}\nof {base}"))  # fmt: skip
    return Panel(320, 190, *marks, title=title)


_WIRES = (48, 88, 128, 168)


@picture(
    "An entry is the sum over all walks from left to right. The two that are marked share their "
    "first step and part; from there each meets numbers of its own.",
    "Four wires in a first bond and four in a second, every wire of the first joined to every "
    "wire of the second. From a start at the left to an end at the right two walks are marked; "
    "they go through the same wire first and through different ones after it.",
)
def walks_along() -> Panels:
    """Return the walks from one end of a train to the other, two of them marked."""
    first, second, end = 100, 220, (300, 108)
    start = (20, 108)
    faint = "".join(line(start, (first, y), faint=True, width=1) for y in _WIRES)
    faint += "".join(
        line((first, a), (second, b), faint=True, width=1) for a in _WIRES for b in _WIRES
    )
    faint += "".join(line((second, y), end, faint=True, width=1) for y in _WIRES)
    solid = _walk("weight", start, (first, _WIRES[1]), (second, _WIRES[0]), end)
    dashed = _walk("quiet", start, (first, _WIRES[1]), (second, _WIRES[3]), end)
    dots = "".join(node(x, y, "", radius=6) for x in (first, second) for y in _WIRES)
    labels = "".join(
        text(x, 196, label, size=14)
        for x, label in ((56, "*g*_{a}"), (160, "*H*_{ab}"), (264, "*h*_{b}"))
    )
    walks = Panel(
        320, 212, faint, solid, dashed, dots, labels,
        text(first, 22, "bond *a*", size=14), text(second, 22, "bond *b*", size=14),
    )  # fmt: skip
    return walks


def _walk(role: str, *points: tuple[float, float]) -> str:
    return line(*points, role=role, width=3)


@picture(
    "Only the wires of the bond cross the cut. So the table, folded to have the left digits as "
    "rows, is a matrix of rank *r*_{1} at most.",
    "Left: three cores in a row; a dashed line cuts the bond between the first and the second. "
    "Right: a wide matrix W equals a matrix A of the same height with r columns, times a matrix "
    "B of r rows and the same width.",
)
def cut_train() -> Panels:
    """Return a train cut at its first bond, and the unfolding as a product of two thin matrices."""
    cut = Panel(
        320, 230, _chain((60, 170, 260), 130),
        line((112, 50), (112, 205), role="wrong", width=2),
        text(60, 46, "*t*_{1}, *j*_{1}", size=14), text(215, 46, "the other digits", size=14),
        text(112, 218, "cut here"),
        title="one bond is cut",
    )  # fmt: skip
    product = Panel(
        320, 230,
        box(30, 90, 104, 60, "*W*^{(1)}", role="output", above="other digits"),
        text(82, 175, "a row for each\npair *t*_{1}, *j*_{1}", size=13),
        text(152, 120, "="),
        box(170, 90, 24, 60, "*A*_{1}", fill="up", size=13, above="*r*_{1}"),
        box(204, 108, 104, 24, "*B*_{1}", fill="down", above="other digits"),
        title="so the unfolding is a product",
    )  # fmt: skip
    return cut, product


@picture(
    "The same table, other cores: a matrix and its inverse in the bond cancel, and each core may "
    "take one of them.",
    "Left: two cores joined by a bond with the boxes M and M inverse in it. Right: the first "
    "core has become G1 times M and the second M inverse times G2.",
)
def within_a_bond() -> Panels:
    """Return a matrix and its inverse put into a bond, and given to the two cores beside it."""
    put = Panel(
        320, 130,
        line((61, 76), (100, 76), width=3), line((144, 76), (174, 76), width=3),
        line((224, 76), (259, 76), width=3),
        core(40, 76, "*G*_{1}"), core(280, 76, "*G*_{2}"),
        box(100, 60, 44, 32, "*M*", role="copy"), box(174, 60, 50, 32, "*M*^{−1}", role="copy"),
        title="put in the identity …",
    )  # fmt: skip
    given = Panel(
        320, 130,
        line((128, 76), (186, 76), width=3),
        core(100, 76, "*G*_{1}*M*", radius=28), core(222, 76, "*M*^{−1}*G*_{2}", radius=36),
        title="… and share it out",
    )  # fmt: skip
    return put, given


@picture(
    "A cut into halves goes through one bond of a train, and through two of a ring. Ends that "
    "say token and place are left out.",
    "Left: four cores in a row; a dashed line between the second and the third crosses one bond. "
    "Right: four cores in a ring; a dashed line down its middle crosses two bonds.",
)
def ring_and_train() -> Panels:
    """Return four cores as a train and as a ring, both cut into halves."""
    train = Panel(
        320, 200, _chain((40, 120, 200, 280), 110, legs=False),
        line((160, 44), (160, 176), role="wrong", width=2), text(160, 190, "one bond"),
        title="a train",
    )  # fmt: skip
    places = ((110, 75), (210, 75), (210, 150), (110, 150))
    sides = "".join(line((129, y), (191, y), width=3) for y in (75, 150)) + "".join(
        line((x, 94), (x, 131), width=3) for x in (110, 210)
    )
    ring = Panel(
        320, 200, sides,
        "".join(core(x, y, f"*G*_{{{i}}}", radius=19) for i, (x, y) in enumerate(places, 1)),
        line((160, 44), (160, 176), role="wrong", width=2), text(160, 190, "two bonds"),
        title="a ring",
    )  # fmt: skip
    return train, ring


def _chain(places: tuple[float, ...], y: float, *, legs: bool = True) -> str:
    """Cores in a row, with bonds between them and a leg for each digit."""
    bonds = "".join(line((a + 21, y), (b - 21, y), width=3) for a, b in pairwise(places))
    ends = [(f"*t*_{{{i}}}", f"*j*_{{{i}}}") if legs else ("", "") for i in range(1, 9)]
    cores = "".join(
        core(x, y, f"*G*_{{{i}}}", below=end[0], above=end[1], leg=22)
        for i, (x, end) in enumerate(zip(places, ends, strict=False), 1)
    )
    return bonds + cores
