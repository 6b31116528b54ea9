"""The square of a sum as a table: which pairs of indices are left when one takes the mean."""

from __future__ import annotations

from ..drawing import Drawing, Panel
from ..labels import text
from ..parts import blocks, box

__all__ = ["squares_of_sums"]

_SIZE, _CELL, _LEFT, _TOP = 4, 48, 82, 68


def _table(term: str, diagonal: str, other: str, others_role: str, title: str) -> Panel:
    """A table with the terms of a sum at its sides and the mean of each product inside."""
    places = range(_SIZE)
    names = [term.replace("i", str(i + 1)) for i in places]
    marks = [text(_LEFT + (i + 0.5) * _CELL, _TOP - 13, name, size=14)
             for i, name in enumerate(names)]  # fmt: skip
    marks += [text(_LEFT - 8, _TOP + (i + 0.5) * _CELL, name, anchor="end", size=14)
              for i, name in enumerate(names)]  # fmt: skip
    around = [["" if i == j else other for j in places] for i in places]
    marks += [blocks(_LEFT, _TOP, _CELL, around, role=others_role, size=14)]
    marks += [box(_LEFT + i * _CELL, _TOP + i * _CELL, _CELL, _CELL, diagonal, role="output",
                  rounded=0, size=14) for i in places]  # fmt: skip
    return Panel(320, 274, *marks, title=title)


def squares_of_sums() -> Drawing:
    """Return two squared sums as tables of products: a squared length's and an inner product's.

    Example:
        >>> [panel.title for panel in squares_of_sums().panels]
        ['squared length, squared', 'inner product, squared']
    """
    return Drawing(
        (
            _table("*w*_{i}^{2}", "*κσ*^{4}", "*σ*^{4}", "weight", "squared length, squared"),
            _table("*w*_{i}*v*_{i}", "*σ*^{2}*τ*^{2}", "0", "quiet", "inner product, squared"),
        ),
        "Means of all products of two terms, for four entries. The diagonal is a term with "
        "itself: there the law of an entry counts.",
        "Two tables of four rows and four columns, with the terms of a sum at both sides. Left: "
        "the terms are squared entries; the four cells of the diagonal hold kappa sigma to the "
        "fourth, all others sigma to the fourth. Right: the terms are products of an entry of w"
        " and one of v; the diagonal holds sigma squared tau squared, all other cells zero.",
    )
