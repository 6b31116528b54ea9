"""A train and a ring, cut: what crosses the cut is all that the two sides know of each other."""

from __future__ import annotations

from itertools import pairwise

from ...drawing import Panel, Panels, picture
from ...parts import box, core, line, matrix, text


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
        matrix(30, 90, 104, 60, "*W*^{(1)}", rows="", columns="other digits", role="output"),
        text(82, 166, "a row for each", size=13), text(82, 184, "pair *t*_{1}, *j*_{1}", size=13),
        text(152, 120, "="),
        box(170, 90, 24, 60, "*A*_{1}", fill="up", size=13),
        text(182, 78, "*r*_{1}", size=14),
        box(204, 108, 104, 24, "*B*_{1}", fill="down"),
        text(256, 96, "other digits", size=13),
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
