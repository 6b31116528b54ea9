"""A tensor train: the row of an embedding table as a chain of small matrices."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, core, line


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
        box(16, 92, 66, 18, role="weight", fill="up"), text(49, 78, "1 × *r*", size=14),
        text(96, 101, "·"),
        box(110, 68, 66, 66, role="weight", fill="dots"), text(143, 54, "*r* × *r*", size=14),
        text(190, 101, "·"),
        box(204, 68, 18, 66, role="weight", fill="down"), text(213, 54, "*r* × 1", size=14),
        text(242, 101, "="),
        box(260, 89, 24, 24, role="output"), text(272, 128, "one entry", size=14),
        slices, arrow((66, 198), (118, 140)),
        text(124, 216, "a core is a stack of them:", anchor="start", size=14),
        text(124, 238, "one slice for each choice", anchor="start", size=14),
        text(124, 260, "of its two digits", anchor="start", size=14),
        title="one number of the table",
    )  # fmt: skip
