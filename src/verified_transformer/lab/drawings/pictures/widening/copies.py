"""What copies are for a layer: grown and undone, on a diagonal, and added once or often."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, blocks, box, brace, line, node, vector

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
        blocks(24, 86, 24, _L, size=13), text(72, 68, "*L*"), text(134, 110, "·"),
        blocks(148, 62, 24, _E, size=13), text(172, 46, "*E*"), text(218, 110, "="),
        blocks(240, 86, 24, [["1", "0"], ["0", "1"]], role="quiet", size=13),
        title="*L* undoes *E*",
    )  # fmt: skip
    small = [["*a*", "*b*"], ["*c*", "*d*"]]
    chain = Panel(
        320, 206,
        blocks(60, 62, 24, _E, size=13), text(84, 46, "*E*"),
        blocks(116, 86, 24, small, size=13, fills=(("plain", "up"), ("dots", "down"))),
        text(140, 68, "*W*"),
        blocks(172, 86, 24, _L, size=13), text(220, 68, "*L*"),
        vector(284, 62, ["*p*", "*p*", "*q*", "*q*"], upright=True, cell=24,
               fill=("plain", "plain", "up", "up")),
        vector(4, 62, ["*u*", "*u*", "*v*", "*v*"], upright=True, cell=24, role="output",
               fill=("plain", "plain", "dots", "dots")),
        text(44, 110, "="),
        brace((268, 166), (60, 166), "the large matrix"),
        title="undo, compute, grow",
    )  # fmt: skip
    return inverse, chain


def _axes(x: float, y: float, size: float, first: str, second: str) -> str:
    """Two axes from a corner, and the dashed line on which copies agree."""
    return (
        arrow((x, y), (x + size, y)) + arrow((x, y), (x, y - size))
        + text(x + size, y + 16, first, anchor="end", size=14)
        + text(x + 8, y - size + 4, second, anchor="start", size=14)
        + line((x, y), (x + size - 24, y - size + 24), role="copy", width=1.4)
    )  # fmt: skip


@picture(
    "All states lie on the diagonal. A step of the weights across it is seen by none of them.",
    "Two axes and a diagonal, on which all states lie. The weights w, w are a point on it; an "
    "arrow at a right angle to the diagonal leads to w plus z, w minus z.",
)
def noise_across_the_diagonal() -> Panels:
    """Return weights on two copies, moved across the line on which all states lie."""
    x, y = 60.0, 186.0
    return Panel(
        320, 212,
        _axes(x, y, 164, "for the first copy", "for the second"),
        node(x + 74, y - 74, "", role="weight", radius=6),
        text(x + 64, y - 82, "(*w*, *w*)", anchor="end", size=14),
        arrow((x + 78, y - 70), (x + 121, y - 27), role="weight", width=2),
        node(x + 127, y - 21, "", role="weight", radius=6),
        text(x + 106, y - 62, "(*w* + *z*, *w* − *z*)", anchor="start", size=14),
        text(x + 146, y - 128, "all states", size=14, anchor="start"),
    )  # fmt: skip


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
        (14, 14, "*θ*"),
        (206, 14, "*θ* − *η*∇*L*"),
        (14, 128, "*Sθ*"),
        (206, 128, "*S*(*θ* − *η*∇*L*)"),
    )
    return Panel(
        320, 182,
        *[box(x, y, 100, 40, label, role="weight" if y < 100 else "output", rounded=8,
              size=13) for x, y, label in corners],
        arrow((116, 34), (204, 34)), text(160, 20, "train", size=14),
        arrow((116, 148), (204, 148)), text(160, 134, "train", size=14),
        arrow((64, 56), (64, 126)), text(74, 90, "grow", anchor="start", size=14),
        arrow((256, 56), (256, 126)), text(246, 90, "grow", anchor="end", size=14),
    )  # fmt: skip
