"""Drawings of layers, blocks and models that grow."""

from __future__ import annotations

from functools import partial

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import arrow, blocks, box, brace, node, vector

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
        blocks(60, 108, 48, named, fills=_FILLS, above="*W*"), text(172, 156, "·"),
        vector(186, 122, ["*p*", "*q*"], upright=True, cell=34, fill=("plain", "up"),
               above="*x*"), text(234, 156, "="),
        vector(248, 122, ["*u*", "*v*"], upright=True, cell=34, role="output",
               fill=("plain", "dots"), above="*y*"),
        text(160, 240, "*u* = *a p* + *b q*"),
        title="the small layer",
    )  # fmt: skip
    large = Panel(
        320, 262,
        blocks(16, 56, 38, grown, fills=fills, size=14, above="repeated, divided by 2"),
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
        _block("*W*_{1}/*k*", "*u*/√*k*", "*A*(*u*/√*k*) ≠ *A*(*u*)/√*k*", "*W*_{2}/*k*",
               "divided throughout", right=False),
        _block("*W*_{1}/√*k*", "*u*", "*A*(*u*), *k* times", "*W*_{2}/(*k*√*k*)",
               "the root moved", right=True),
    )  # fmt: skip


def _column(title: str, *steps: tuple[str, str]) -> Panel:
    """Boxes one above the other, from the bottom, with what stands on the wire above each."""
    marks, middle, y = "", 130, 374
    for label, wire in steps:
        marks += box(middle - 92, y - 34, 184, 34, label, role="weight", size=14)
        marks += arrow((middle, y - 34), (middle, y - 66))
        marks += text(middle + 10, y - 50, wire, anchor="start", size=14)
        y -= 66
    below = text(middle, 402, "*x*/√*k*, each *k* times")
    return Panel(320, 420, below, arrow((middle, 388), (middle, 374)), marks, title=title)


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
    layer = _column(
        "a layer", ("values, heads", "*x*/√*k*"), ("norm", "*x*/√*k*"),
        ("first matrix", "plain copies"), ("second matrix", "*x*/√*k*"),
        ("norm", "*x*/√*k*, and so on"),
    )  # fmt: skip
    output = _column(
        "the output", ("dense layer", "plain copies"), ("norm", "*x*/√*k*"),
        ("embedding, rows/√*k*", "scores, as before"), ("output bias, kept", "logits"),
    )  # fmt: skip
    return layer, output


_E = [["1", "0"], ["1", "0"], ["0", "1"], ["0", "1"]]
_L = [["½", "½", "0", "0"], ["0", "0", "½", "½"]]


@picture(
    "Read the second panel from the right: L takes the mean of two copies, W computes what it "
    "always did, E writes each result twice.",
    "First: a matrix of two rows and four columns with halves, times one of four rows and two "
    "columns with ones, is the unit matrix. Second: u, u, v, v is E times W times L times p, p, "
    "q, q; a brace calls the three matrices the large matrix.",
)
def undo_and_grow() -> Panels:
    """Return a left inverse that undoes a growth, and a large layer made of the small one."""
    inverse = Panel(
        320, 206,
        blocks(24, 86, 24, _L, size=13, above="*L*"), text(134, 110, "·"),
        blocks(148, 62, 24, _E, size=13, above="*E*"), text(218, 110, "="),
        blocks(240, 86, 24, [["1", "0"], ["0", "1"]], role="quiet", size=13),
        title="*L* undoes *E*",
    )  # fmt: skip
    small = [["*a*", "*b*"], ["*c*", "*d*"]]
    chain = Panel(
        320, 206,
        blocks(60, 62, 24, _E, size=13, above="*E*"),
        blocks(116, 86, 24, small, size=13, fills=_FILLS, above="*W*"),
        blocks(172, 86, 24, _L, size=13, above="*L*"),
        vector(284, 62, ["*p*", "*p*", "*q*", "*q*"], upright=True, cell=24,
               fill=("plain", "plain", "up", "up")),
        vector(4, 62, ["*u*", "*u*", "*v*", "*v*"], upright=True, cell=24, role="output",
               fill=("plain", "plain", "dots", "dots")),
        text(44, 110, "="),
        brace((268, 166), (60, 166), "the large matrix"),
        title="undo, compute, grow",
    )  # fmt: skip
    return inverse, chain


def _row(y: float, label: str, cells: str, piece: int, role: str) -> str:
    """A vector of numbered entries, cut into pieces, hatched by the head they come from."""
    fills = ("plain", "up", "dots")
    wide = 22
    marks = text(4, y - 12, label, anchor="start", size=14)
    for k in range(0, len(cells), piece):
        part = cells[k : k + piece]
        marks += vector(
            6 + k * wide + 14 * (k // piece), y, list(part), cell=wide, role=role,
            fill=[fills[(int(c) - 1) // 2] for c in part],
        )  # fmt: skip
    return marks


@picture(
    "The gaps are where the code cuts. Hatches are old heads: in which row does a new head hold "
    "two of them?",
    "Rows of numbered cells, cut into three heads. Six numbers in pairs; then twelve in pieces "
    "of four: 1122, 3344, 5566; then 1212, 3434, 5656; last 1234, 5612, 3456, where each piece "
    "mixes two old heads.",
)
def cut_into_heads() -> Panels:
    """Return six numbers in three heads, and three ways to write each of them twice."""
    return Panel(
        320, 240,
        _row(26, "before: three heads of two", "123456", 2, "input"),
        _row(84, "each number twice", "112233445566", 4, "output"),
        _row(142, "each head twice", "121234345656", 4, "output"),
        _row(200, "the whole vector twice", "123456123456", 4, "wrong"),
    )  # fmt: skip


def _output(bias: str, sums: str, title: str, *, right: bool) -> Panel:
    """Two copies of a hidden unit and a bias, added up to one output."""
    role = "output" if right else "wrong"
    return Panel(
        320, 214,
        node(46, 70, "*y*", role="input", radius=18), node(46, 130, "*y*", role="input", radius=18),
        arrow((64, 72), (172, 96)), arrow((64, 128), (172, 104)),
        text(120, 68, "*v*/(2√2)", size=14), text(120, 134, "*v*/(2√2)", size=14),
        box(18, 168, 56, 30, bias, role="weight" if right else "wrong"),
        arrow((76, 183), (186, 114), role="quiet"),
        node(186, 100, "+", role="quiet", radius=13),
        arrow((200, 100), (220, 100)),
        box(222, 82, 94, 36, sums, role=role, rounded=8, size=13),
        title=title,
    )  # fmt: skip


@picture(
    "Two copies of a unit, but one bias. The copies add up, and their weights pay for it; the "
    "bias has nothing to pay for.",
    "Two sums. In each, two copies of y with weights v over two root two and one bias are added. "
    "With the bias over two the sum has the bias over root two, which is wrong; with the bias "
    "over root two it is y v plus the bias, all over root two.",
)
def bias_added_once() -> Panels:
    """Return the last sum of a grown block twice: with the bias over two, and over its root."""
    return (
        _output("*b*′/2", "(*yv*+*b*′/√2)/√2", "as printed", right=False),
        _output("*b*′/√2", "(*yv*+*b*′)/√2", "as it must be", right=True),
    )


@picture(
    "Both ways from the first corner to the last end at the same weights, where growing keeps "
    "lengths.",
    "A square with four boxes. Above the small model before and after a step, below the large "
    "one; arrows say train and grow, and two ways lead to the same large model.",
)
def grow_and_train() -> Panels:
    """Return four models, small and large, before and after a step: two ways to the last."""
    corners = (
        (14, 14, "*θ*"), (206, 14, "*θ* − *η*∇*L*"),
        (14, 128, "*Sθ*"), (206, 128, "*S*(*θ* − *η*∇*L*)"),
    )  # fmt: skip
    return Panel(
        320, 182,
        *(box(x, y, 100, 40, label, role="weight" if y < 100 else "output", rounded=8,
              size=13) for x, y, label in corners),
        *(arrow((116, y), (204, y)) + text(160, y - 14, "train", size=14) for y in (34, 148)),
        *(arrow((x, 56), (x, 126)) + text(x + 26, 90, "grow", size=14) for x in (64, 256)),
    )  # fmt: skip


def _dropped(stream: tuple[str, ...], units: tuple[str, str], below: str, title: str) -> Panel:
    """A stream of copies at the bottom, two hidden units that are copies above."""
    hatches = ("plain", "plain", "up", "up")
    cells = "".join(
        box(88 + 38 * i, 186, 38, 30, f"*{name}*" if name else "0", rounded=0,
            role="input" if name else "wrong", fill=hatches[i] if name else "plain")
        for i, name in enumerate(stream)
    )  # fmt: skip
    hidden = "".join(
        box(84 + 96 * i, 96, 64, 34, f"*{name}*" if name else "0",
            role="output" if name else "wrong", fill="dots" if name else "plain")
        + arrow((164, 182), (116 + 96 * i, 132))
        for i, name in enumerate(units)
    )  # fmt: skip
    return Panel(
        320, 270, text(164, 52, "the layer above"),
        arrow((116, 94), (152, 64)), arrow((212, 94), (176, 64)),
        hidden, text(12, 114, "units", anchor="start", size=14),
        cells, text(12, 202, "stream", anchor="start", size=14),
        text(160, 248, below, size=14), title=title,
    )  # fmt: skip


@picture(
    "A dashed 0 was dropped. Which copies still get equal gradients, on the left and on the right?",
    "First: a stream p, 0, q, q; two hidden units read it and both give h. Second: the stream is "
    "p, p, q, q, but of the two units only one gives h, the other gives 0.",
)
def dropout_on_copies() -> Panels:
    """Return a pair of hidden units that are copies, under two kinds of dropout."""
    return (
        _dropped(("p", "", "q", "q"), ("h", "h"), "both units read the same", 
               "dropout on the stream"),
        _dropped(("p", "p", "q", "q"), ("h", ""), "one of them is gone", "dropout on the units"),
    )  # fmt: skip


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


def _banded(x: float, y: float, high: float, role: str, **beside: str) -> str:
    """A matrix whose columns are those of three heads."""
    return blocks(x, y, 28, [[""] * 3], role=role, fills=[_BANDS], high=high, **beside)


def _cut() -> Panel:
    heads = "".join(
        box(48 + 88 * i, 216, 48, 60, role="output", fill=fill, below=f"head {i + 1}",
            left="" if i else "*T*")
        + arrow((228 + 28 * i, 124), (228 + 28 * i, 152), (72 + 88 * i, 196), (72 + 88 * i, 214),
                width=1.2)
        for i, fill in enumerate(_BANDS)
    )  # fmt: skip
    return Panel(
        320, 322,
        box(22, 62, 56, 60, "*x*", role="input", above="*d*", left="*T*"), text(90, 92, "·"),
        _banded(102, 62, 84, "weight", above="*d* × *d*"), text(144, 104, "*W*_{q}"),
        text(200, 92, "="), _banded(214, 62, 60, "output", above="*T* × *d*"),
        heads, text(160, 312, "*h* arrays, each *T* × *d*/*h*"),
        title="cut",
    )  # fmt: skip


def _one_head() -> Panel:
    of_head = partial(box, role="output", fill="up")
    return Panel(
        320, 322,
        of_head(14, 62, 30, 60, "*Q*", above="*d*/*h*"), text(54, 92, "·"),
        of_head(64, 77, 60, 30, "*K*^{T}", above="*T*"), text(136, 92, "="),
        box(148, 62, 60, 60, "scores", role="quiet", size=14, above="*T* × *T*",
            below="softmax, row by row"), text(219, 92, "·"),
        of_head(230, 62, 30, 60, "*V*"), text(271, 92, "="),
        of_head(282, 62, 30, 60),
        arrow((297, 126), (297, 158), (62, 168), (62, 196)),
        brace((20, 214), (104, 214)), _banded(20, 218, 60, "output", below="*T* × *d*"),
        text(118, 248, "·"), box(132, 204, 90, 88, "*W*_{o}", below="*d* × *d*"),
        text(238, 248, "="), box(252, 218, 56, 60, "*y*", role="output", below="*T* × *d*"),
        title="one head, and all side by side",
    )  # fmt: skip
