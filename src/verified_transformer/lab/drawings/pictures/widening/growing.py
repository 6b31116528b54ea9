"""What growing does: to a weight matrix, to a feed-forward block, to the stream of a BERT."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, blocks, box, node, vector

_NAMES = (("a", "b"), ("c", "d"))
_FILLS = (("plain", "up"), ("dots", "down"))


@picture(
    "Equal hatches are equal numbers. Every product now occurs twice, and the division by two "
    "undoes it: the outputs are the old ones, each repeated.",
    "First: a matrix with the entries a, b, c, d times the vector p, q gives u, v. Second: each "
    "entry has become a block of two by two, each a half of it, and each number of the vector "
    "stands twice. Every row adds two halves of each product, so that the output is u, u, v, v.",
)
def grown_matrix() -> Panels:
    """Return a matrix of two by two, and the one of four by four that computes the same."""
    named = [[f"*{name}*" for name in row] for row in _NAMES]
    grown = [[f"*{_NAMES[i // 2][j // 2]}*/2" for j in range(4)] for i in range(4)]
    fills = [[_FILLS[i // 2][j // 2] for j in range(4)] for i in range(4)]
    small = Panel(
        320, 262,
        blocks(60, 108, 48, named, fills=_FILLS), text(108, 92, "*W*"),
        text(172, 156, "·"),
        vector(186, 122, ["*p*", "*q*"], upright=True, cell=34, fill=("plain", "up")),
        text(203, 106, "*x*"), text(234, 156, "="),
        vector(248, 122, ["*u*", "*v*"], upright=True, cell=34, role="output",
               fill=("plain", "dots")),
        text(265, 106, "*y*"),
        text(160, 240, "*u* = *a p* + *b q*"),
        title="the small layer",
    )  # fmt: skip
    large = Panel(
        320, 262,
        blocks(16, 56, 38, grown, fills=fills, size=14),
        text(16, 40, "repeated, and divided by 2", size=14, anchor="start"),
        text(180, 132, "·"),
        vector(194, 62, ["*p*", "*p*", "*q*", "*q*"], upright=True, cell=35,
               fill=("plain", "plain", "up", "up")),
        text(244, 132, "="),
        vector(260, 62, ["*u*", "*u*", "*v*", "*v*"], upright=True, cell=35, role="output",
               fill=("plain", "plain", "dots", "dots")),
        text(160, 240, "*a p*/2 + *a p*/2 + *b q*/2 + *b q*/2 = *u*"),
        title="twice as wide",
    )  # fmt: skip
    return small, large


def _block(first: str, before: str, after: str, second: str, title: str, *, right: bool) -> Panel:
    """A feed-forward block from its input at the bottom to its output, with the scales between."""
    middle, role = 120, "output" if right else "wrong"
    return Panel(
        320, 410,
        text(middle, 44, "*y*/√*k*"), arrow((middle, 96), (middle, 56)),
        node(middle, 108), arrow((226, 108), (133, 108)),
        box(226, 92, 86, 32, "*b*_{2} / ?", role="weight"),
        arrow((middle, 146), (middle, 121)),
        box(middle - 62, 146, 124, 38, second, role="weight"),
        arrow((middle, 222), (middle, 186)),
        box(middle + 12, 190, 178, 28, after, role=role, rounded=8, size=14),
        box(middle - 62, 222, 124, 36, "activation *A*", role="quiet", rounded=8, size=14),
        arrow((middle, 296), (middle, 260)),
        text(middle + 14, 280, before, anchor="start"),
        box(middle - 62, 296, 124, 38, first, role="weight"),
        arrow((middle, 372), (middle, 336)),
        text(middle, 390, "*x*/√*k*, each *k* times"),
        title=title,
    )  # fmt: skip


@picture(
    "What stands on the wires of a grown block. Left, the activation sees an argument that is "
    "too small. Right, it sees the old one, and the second matrix divides. And the bias?",
    "Two feed-forward blocks, each read from bottom to top. The input x over root k goes through "
    "a first matrix, an activation and a second matrix, and a bias, over a question mark, is "
    "added, to give y over root k. In the first block both matrices are divided by k, and the "
    "activation sees u over root k, which for most activations is wrong. In the second the first "
    "matrix is divided by root k only, the activation sees u as before, and the second matrix is "
    "divided by k root k.",
)
def feed_forward_scales() -> Panels:
    """Return a grown feed-forward block twice: divided throughout, and with the root moved."""
    return (
        _block(
            "*W*_{1}/*k*",
            "*u*/√*k*",
            "*A*(*u*/√*k*) ≠ *A*(*u*)/√*k*",
            "*W*_{2}/*k*",
            "divided throughout",
            right=False,
        ),
        _block(
            "*W*_{1}/√*k*",
            "*u*",
            "*A*(*u*), *k* times",
            "*W*_{2}/(*k*√*k*)",
            "the root moved",
            right=True,
        ),
    )


def _upwards(steps: tuple[tuple[str, str], ...], bottom: float, middle: float = 130) -> str:
    """Boxes one above the other, from the bottom, with what stands on the wire above each."""
    marks, y = "", bottom
    for label, wire in steps:
        marks += box(middle - 92, y - 34, 184, 34, label, role="weight", size=14)
        marks += arrow((middle, y - 34), (middle, y - 66))
        marks += text(middle + 10, y - 50, wire, anchor="start", size=14)
        y -= 66
    return marks


@picture(
    "What stands on the wires of a grown BERT. Where copies are plain, the next part reads them "
    "as they are; everywhere else they are divided. (Query and key, which are seen by the scores "
    "only, and the sums with the stream are left out.)",
    "Two columns of boxes, each read from bottom to top, with a label on the wire above each "
    "box. In a layer all wires hold x over root k but the one between the two matrices of the "
    "feed-forward block, which holds plain copies. In the output the dense layer gives plain "
    "copies, its norm gives x over root k, the embedding makes the old scores of it, and the "
    "output bias is kept.",
)
def grown_bert() -> Panels:
    """Return a grown BERT: what stands on its wires, in a layer and in its output."""
    layer = (
        ("values, heads", "*x*/√*k*"), ("norm", "*x*/√*k*"),
        ("first matrix", "plain copies"), ("second matrix", "*x*/√*k*"),
        ("norm", "*x*/√*k*, and so on"),
    )  # fmt: skip
    output = (
        ("dense layer", "plain copies"),
        ("norm", "*x*/√*k*"),
        ("embedding, rows/√*k*", "scores, as before"),
        ("output bias, kept", "logits"),
    )
    return (
        Panel(
            320,
            420,
            text(130, 402, "*x*/√*k*, each *k* times"),
            arrow((130, 388), (130, 374)),
            _upwards(layer, 374),
            title="a layer",
        ),
        Panel(
            320,
            420,
            text(130, 402, "*x*/√*k*, each *k* times"),
            arrow((130, 388), (130, 374)),
            _upwards(output, 374),
            title="the output",
        ),
    )
