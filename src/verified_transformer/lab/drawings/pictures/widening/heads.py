"""How attention cuts its projections into heads, with the shape of every array."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, brace, matrix

_BANDS = ("plain", "up", "dots")


@picture(
    "Cutting into heads multiplies nothing: it only names groups of columns. Each hatch is a head.",
    "First: the input of T rows and d columns times the query matrix, d by d, gives T rows and d "
    "columns, which are cut into three bands of columns, one for each head, each d over h wide. "
    "Second: in one head the queries times the transposed keys give a square of scores, T by T; "
    "after a softmax the square times the values gives T rows of d over h columns. The outputs "
    "of all heads stand side by side again and meet the output matrix, d by d.",
)
def multi_head_shapes() -> Panels:
    """Return the way of a sequence through multi-head attention, as arrays with their shapes."""
    return _cut(), _one_head()


def _cut() -> Panel:
    bands = "".join(
        box(214 + 28 * i, 62, 28, 60, role="output", fill=fill, rounded=0)
        for i, fill in enumerate(_BANDS)
    )
    columns = "".join(
        box(102 + 28 * i, 62, 28, 84, role="weight", fill=fill, rounded=0)
        for i, fill in enumerate(_BANDS)
    )
    heads = "".join(
        box(48 + 88 * i, 216, 48, 60, role="output", fill=fill)
        + text(72 + 88 * i, 290, f"head {i + 1}", size=14)
        + arrow((228 + 28 * i, 124), (228 + 28 * i, 152), (72 + 88 * i, 196), (72 + 88 * i, 214),
                width=1.2)
        for i, fill in enumerate(_BANDS)
    )  # fmt: skip
    return Panel(
        320, 322,
        matrix(22, 62, 56, 60, "*x*", role="input"), text(50, 49, "*d*"), text(12, 92, "*T*"),
        text(90, 92, "·"), columns, text(144, 104, "*W*_{q}"), text(144, 49, "*d* × *d*"),
        text(200, 92, "="), bands, text(256, 49, "*T* × *d*"),
        heads, text(36, 246, "*T*", anchor="end"),
        text(160, 312, "*h* arrays, each *T* × *d*/*h*"),
        title="cut",
    )  # fmt: skip


def _one_head() -> Panel:
    joined = "".join(
        box(20 + 28 * i, 218, 28, 60, role="output", fill=fill, rounded=0)
        for i, fill in enumerate(_BANDS)
    )
    return Panel(
        320, 322,
        box(14, 62, 30, 60, "*Q*", role="output", fill="up"), text(29, 49, "*d*/*h*", size=14),
        text(54, 92, "·"),
        box(64, 77, 60, 30, "*K*^{T}", role="output", fill="up"), text(94, 64, "*T*", size=14),
        text(136, 92, "="),
        box(148, 62, 60, 60, "scores", role="quiet", size=14), text(178, 49, "*T* × *T*", size=14),
        text(219, 92, "·"),
        box(230, 62, 30, 60, "*V*", role="output", fill="up"),
        text(271, 92, "="),
        box(282, 62, 30, 60, role="output", fill="up"),
        text(178, 138, "softmax, row by row", size=14),
        arrow((297, 126), (297, 158), (62, 168), (62, 196)),
        brace((20, 214), (104, 214)), joined,
        text(118, 248, "·"),
        box(132, 204, 90, 88, "*W*_{o}", role="weight"),
        text(238, 248, "="),
        box(252, 218, 56, 60, "*y*", role="output"),
        text(62, 292, "*T* × *d*", size=14), text(177, 306, "*d* × *d*", size=14),
        text(280, 292, "*T* × *d*", size=14),
        title="one head, and all side by side",
    )  # fmt: skip
