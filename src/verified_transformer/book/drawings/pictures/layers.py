"""Drawings of layers at the start, of a grown BERT, and of what may stand before a tied head."""

from __future__ import annotations

import math

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import Point, arrow, box, brace, line, node

_INPUTS, _OUTPUTS = 5, 3
_LEFT, _RIGHT = 84, 228


@picture(
    "Forward, one output is a sum of *m* products, so *m* sets its variance. Backward, the "
    "gradient of one input is a sum of *n* products, so *n* sets that.",
    "A layer with five inputs and three outputs, drawn twice, every input wired to every output. "
    "Forward, the five wires that end in the second output are strong: it is a sum of m "
    "products. Backward, the three wires from the third input are strong and dashed, and run "
    "backwards: its gradient is a sum of n products.",
)
def fans() -> Panels:
    """Return a dense layer twice: the fan into one output, and the fan back out of one input."""
    return _fan(forward=True), _fan(forward=False)


def _end(side: str, place: int) -> tuple[float, float]:
    return (_LEFT, 66 + 44 * place) if side == "in" else (_RIGHT, 88 + 66 * place)


def _fan(*, forward: bool) -> Panel:
    marks = [
        line(*_between(_end("in", i), _end("out", j)), faint=True, width=1)
        for i in range(_INPUTS) for j in range(_OUTPUTS)
    ]  # fmt: skip
    if forward:
        marks += [_strong(_end("in", i), _end("out", 1), "weight") for i in range(_INPUTS)]
        marks += [brace((_LEFT - 18, 250), (_LEFT - 18, 58)), text(38, 154, "*m*"),
                  text(_RIGHT + 22, 154, "*y*_{j}", anchor="start"),
                  text(160, 284, "*y*_{j} = *x*_{1}*w*_{1j} + … + *x*_{m}*w*_{mj}")]  # fmt: skip
    else:
        marks += [_strong(_end("out", j), _end("in", 2), "gradient") for j in range(_OUTPUTS)]
        marks += [brace((_RIGHT + 18, 80), (_RIGHT + 18, 228)), text(276, 154, "*n*"),
                  text(_LEFT - 18, 154, "δ*x*_{i}", anchor="end"),
                  text(160, 284,
                       "δ*x*_{i} = *w*_{i1} δ*y*_{1} + … + *w*_{in} δ*y*_{n}")]  # fmt: skip
    marks += [node(*_end("in", i), "", role="input" if forward or i == 2 else "quiet")
              for i in range(_INPUTS)]  # fmt: skip
    marks += [node(*_end("out", j), "", role="output" if not forward or j == 1 else "quiet")
              for j in range(_OUTPUTS)]  # fmt: skip
    marks += [text(_LEFT, 40, "*m* inputs", size=14), text(_RIGHT, 40, "*n* outputs", size=14)]
    title = "forward: fan-in *m*" if forward else "backward: fan-out *n*"
    return Panel(320, 302, *marks, title=title)


def _strong(start: Point, end: Point, role: str) -> str:
    return arrow(*_between(start, end), role=role, width=2)


def _between(start: Point, end: Point) -> tuple[Point, Point]:
    """The points at which the way from one node to another crosses their rims."""
    (x1, y1), (x2, y2) = start, end
    rim = 12 / ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    across, down = rim * (x2 - x1), rim * (y2 - y1)
    return (x1 + across, y1 + down), (x2 - across, y2 - down)


def _curve(
    low: float, top: float, role: str, *, middle: float, unit: float, ground: float, high: float
) -> str:
    """A piece of a bell over the ground; the unit is its standard deviation, in pixels."""
    ends = [low + (top - low) * step / 60 for step in range(61)]
    bell = [(middle + unit * x, ground - high * math.exp(-(x**2) / 2)) for x in ends]
    return line(*bell, role=role, width=2)


@picture(
    "The upright lines are the bounds. Draws beyond them, where a bell is dashed, are drawn "
    "again. Left, the bounds shrink with the bell, and each bell loses the same share. Right, "
    "they stay where they are, and the narrow bell loses nothing.",
    "Two panels, each with a wide bell above and a narrow bell below. Left, both are cut by two "
    "upright lines that lie close to the narrow bell and far apart at the wide one. Right, the "
    "lines stand at the same two places for both bells; they cut the wide one and stand far "
    "outside the narrow one.",
)
def cut_bells() -> Panels:
    """Return two bells twice: with bounds that move with their width, and with fixed bounds."""
    return _bells(moving=True), _bells(moving=False)


def _bells(*, moving: bool) -> Panel:
    marks = []
    for sd, ground, high in ((1.0, 136, 76), (0.3, 262, 84)):
        bound = 2 * sd if moving else 2.0
        of_bell = {"middle": 160, "unit": 46 * sd, "ground": ground, "high": high}
        kept = min(bound / sd, 3.1)  # in standard deviations
        marks += [
            _curve(-kept, kept, "weight", **of_bell),
            line((16, ground), (304, ground), width=1),
        ]
        if kept < 3.1:
            marks += [_curve(*ends, "wrong", **of_bell) for ends in ((-3.1, -kept), (kept, 3.1))]
        marks.append(text(8, ground - 62, f"*σ* = {sd:g}", anchor="start", size=14))
        for end, label in ((-bound, "−2"), (bound, "2")):
            x = 160 + 46 * end
            marks.append(line((x, ground - high - 4), (x, ground + 4), width=1.2))
            marks.append(text(x, ground + 16, f"{label}*σ*" if moving else label, size=13))
    title = "bounds at ±2 standard deviations" if moving else "bounds at ±2"
    return Panel(320, 290, *marks, title=title)


@picture(
    "The bells show how large the weights are, the arrows one step of an optimiser that moves "
    "each weight by its rate. Both layers compute the same *y*. The same step is most of a small "
    "weight, and little of a large one.",
    "Two panels. Left, a narrow high bell, and below it an arrow that is longer than the bell is "
    "wide. Right, a wide low bell, and an arrow of the same length that is short beside it.",
)
def one_step_two_units() -> Panels:
    """Return a step of one length twice: among small weights, and among weights of size one."""
    return (
        _one_step("small weights, no factor", 12, 120, "*w* ~ 1/√*m*", "*y* = Σ *x*_{i}*w*_{i}"),
        _one_step("weights of size 1, a factor", 48, 56, "*u* ~ 1",
               "*y* = (1/√*m*) Σ *x*_{i}*u*_{i}"),
    )  # fmt: skip


def _one_step(title: str, sd: float, high: float, size: str, layer: str) -> Panel:
    return Panel(
        320, 286, line((12, 190), (308, 190), width=1),
        _curve(-3, 3, "weight", middle=160, unit=sd, ground=190, high=high),
        text(222, 194 - high, size, anchor="start", size=14),
        arrow((160, 210), (194, 210), role="gradient", width=2.4),
        text(208, 210, "one step *η*", anchor="start", size=14), text(160, 254, layer),
        title=title,
    )  # fmt: skip


_CENTRE, _RADIUS, _TURN = (116.0, 190.0), 78.0, math.radians(38)


@picture(
    "Forward, all vectors on a ray end at the same point of the circle. Backward, the part of "
    "the gradient along the ray is lost, and the rest is divided by the length of *x*.",
    "Two panels with the same circle and the same ray out of its centre. Forward, two vectors of "
    "different lengths on the ray both end at the point y where it crosses the circle. Backward, "
    "a gradient arrives at y; its dashed part along the ray is dropped, and its part along the "
    "circle goes on.",
)
def norm_circle() -> Panels:
    """Return a normalisation twice: a vector on its way forward, a gradient on its way back."""
    return _forward(), _backward()


def _on_ray(distance: float, aside: float = 0.0) -> Point:
    """A point so far along the ray, and so far to its left."""
    (x, y), along, across = _CENTRE, math.cos(_TURN), math.sin(_TURN)
    return x + distance * along - aside * across, y - distance * across - aside * along


def _circle() -> str:
    (x, y), turns = _CENTRE, [2 * math.pi * k / 72 for k in range(73)]
    rim = [(x + _RADIUS * math.cos(t), y + _RADIUS * math.sin(t)) for t in turns]
    return line(*rim, width=1.2) + line(_on_ray(0), _on_ray(230), faint=True)


def _forward() -> Panel:
    x, y = _CENTRE
    return Panel(
        320, 304, _circle(),
        arrow(_on_ray(0), _on_ray(208), role="input"),
        arrow(_on_ray(0), _on_ray(46), role="input", width=3),
        arrow(_on_ray(206, -14), _on_ray(92, -14), role="output"),
        text(*_on_ray(212, 18), "*x*"), text(*_on_ray(46, 18), "also *x*", size=13),
        text(*_on_ray(_RADIUS + 14, 14), "*y*"),
        text(x, y + _RADIUS + 20, "radius √*d*", size=14),
        title="forward: the length is lost",
    )  # fmt: skip


def _backward() -> Panel:
    x, y = _CENTRE
    start = _on_ray(_RADIUS)
    return Panel(
        320, 304, _circle(),
        arrow(start, _on_ray(_RADIUS + 48, 66), role="gradient", width=2),
        arrow(start, _on_ray(_RADIUS + 48), role="wrong"),
        arrow(start, _on_ray(_RADIUS, 66), role="output", width=2.4),
        text(*_on_ray(_RADIUS + 60, 72), "arrives", size=14),
        text(*_on_ray(_RADIUS + 46, -22), "lost", size=14),
        text(*_on_ray(_RADIUS - 18, 84), "goes on", size=14),
        text(x, y + _RADIUS + 20, "radius √*d*", size=14),
        title="backward: the radial part is lost",
    )  # fmt: skip


_KEYS = (-1.75, -1.1, -0.6, -0.2, 0.3, 0.8, 1.5, 1.64)  # standard normal, before the spread
_AXIS, _FLOOR, _RULER_UNIT = 96, 250, 74.0  # heights of the axis and of the bars' feet; pixels


@picture(
    "Eight keys on the axis of their logits, and below each the attention that it gets. The dots "
    "stand alike in both panels; what differs is the length of the ruler, a difference of one.",
    "Two panels with eight dots on a line, at the same places, and a bar below each dot. On the "
    "left a ruler of length one reaches over several dots, and all bars have some height. On the "
    "right the ruler is eight times as short; the two dots at the right end, which lie within "
    "one ruler's length, have all of the attention, 75 and 25 per cent.",
)
def softmax_ruler() -> Panels:
    """Return eight keys on the axis of logits, with the attention that each of them gets, twice."""
    return _ruler(1, "divided: spread 1"), _ruler(8, "not divided: spread 8")


def _ruler(spread: float, title: str) -> Panel:
    weights = [math.exp(spread * z) for z in _KEYS]
    shares = [w / sum(weights) for w in weights]
    places = [160 + _RULER_UNIT * z for z in _KEYS]
    end = 24 + _RULER_UNIT / spread
    marks = [
        line((24, 56), (end, 56), width=2.4),
        *(line((x, 50), (x, 62), width=1.6) for x in (24, end)),
        text(end + 8, 56, "1, the softmax's ruler", size=14, anchor="start"),
        line((14, _AXIS), (306, _AXIS)),
        text(306, _AXIS + 20, "logit", size=14, anchor="end"),
        line((14, _FLOOR), (306, _FLOOR)),
        text(160, _FLOOR + 20, "attention", size=14),
    ]
    for x, share in zip(places, shares, strict=True):
        marks.append(node(x, _AXIS, "", role="input", radius=4.5))
        if share > 0.002:
            high = 150 * share
            marks.append(box(x - 4.5, _FLOOR - high, 9, high, role="output", fill="up", rounded=0))
    return Panel(320, 284, *marks, title=title)


_STREAM, _BRANCH, _BACK = 96, 226, 58  # where the stream, the branches and the way back run
_BOTTOM, _TOP = 378, 38
_LAYERS = (364, 206)  # where each branch leaves the stream
_NORMS = (223, 65)  # tops of the norms on the stream


@picture(
    "Follow the stream on the left from bottom to top, and the dashed gradient back. With Pre "
    "Norm nothing stands in their way; with Post Norm every layer rescales all that came before.",
    "Two residual networks of two layers, side by side, read from bottom to top. Each layer adds "
    "the output of a branch F to the stream. With Pre Norm the norm stands at the beginning of "
    "the branch and the stream runs through untouched; a dashed arrow, the gradient, runs back "
    "beside it without a break. With Post Norm the norm stands on the stream, after each sum, "
    "and the way back is broken by both norms.",
)
def residual_streams() -> Panels:
    """Return two layers of a residual network with Pre Norm, and with Post Norm."""
    return _residual(pre=True), _residual(pre=False)


def _residual(*, pre: bool) -> Panel:
    joins = [bottom - (126 if pre else 92) for bottom in _LAYERS]
    stops = [] if pre else [(top + 28, top) for top in _NORMS]
    back = "way back" if pre else "way back, through norms"
    return Panel(
        320, 404, *_stream(joins, stops), *_gradient(stops),
        *(_branch(bottom, join, number, pre=pre)
          for number, (bottom, join) in enumerate(zip(_LAYERS, joins, strict=True))),
        *(box(_BACK - 14, top, _STREAM - _BACK + 44, 28, "norm", role="quiet", rounded=6)
          for _, top in stops),
        f'<g transform="rotate(-90 30 208)">{text(30, 208, back, size=14)}</g>',
        text(_STREAM, 391, "*x*_{0}"), text(_STREAM + 14, 44, "*x*_{2}", anchor="start"),
        title="Pre Norm" if pre else "Post Norm",
    )  # fmt: skip


def _stream(joins: list[int], stops: list[tuple[int, int]]) -> list[str]:
    """The stream from bottom to top, with a gap where a sum or a norm stands on it."""
    gaps = sorted([(join + 11, join - 11) for join in joins] + stops, reverse=True)
    starts, ends = [_BOTTOM, *(after for _, after in gaps)], [*(before for before, _ in gaps), _TOP]
    ways = list(zip(starts, ends, strict=True))
    return [line((_STREAM, a), (_STREAM, b), width=3) for a, b in ways[:-1]] + [
        arrow((_STREAM, ways[-1][0]), (_STREAM, _TOP), width=3)
    ]


def _gradient(stops: list[tuple[int, int]]) -> list[str]:
    starts, ends = [_TOP + 4, *(low for low, _ in reversed(stops))], [
        *(high for _, high in reversed(stops)), _BOTTOM,
    ]  # fmt: skip
    return [
        arrow((_BACK, a), (_BACK, b - 1), role="gradient", width=2)
        for a, b in zip(starts, ends, strict=True)
    ]


def _branch(bottom: float, join: float, number: int, *, pre: bool) -> str:
    """A branch: it leaves the stream, passes a norm where there is one, and F, and joins again."""
    middle = (bottom + join) / 2
    low = middle + (36 if pre else 17)
    high = middle - (40 if pre else 17)
    marks = arrow((_STREAM, bottom), (_BRANCH, bottom), (_BRANCH, low + 14 * pre))
    marks += arrow((_BRANCH, high), (_BRANCH, join), (_STREAM + 12, join))
    if pre:
        marks += box(_BRANCH - 38, middle + 22, 76, 28, "norm", role="quiet", rounded=6)
        marks += arrow((_BRANCH, middle + 22), (_BRANCH, middle - 6))
        marks += box(_BRANCH - 38, middle - 40, 76, 34, f"*F*_{{{number}}}", rounded=6)
    else:
        marks += box(_BRANCH - 38, middle - 17, 76, 34, f"*F*_{{{number}}}", rounded=6)
    return marks + node(_STREAM, join)


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


@picture(
    "What may stand between state and table (filled: 1, dashed: −1). Count the diagonal: the "
    "trace is the own logit, in units of *σ*. Cells mirrored in the diagonal are its spread.",
    "Six tables of eight by eight with one marked cell in each row. Identity: the diagonal, "
    "trace 8. Shift: one beside the diagonal, trace 0. Shuffle: two on the diagonal, trace 2. "
    "Minus: the diagonal with minus signs, trace minus 8. Halves: two lines mirrored in the "
    "diagonal, trace 0. Rotate half: the same with minus signs in one of them.",
)
def matrices_in_between() -> Panels:
    """Return six orthogonal matrices between state and table, with trace and mirrored cells."""
    first = (("identity", [*range(8)], "8"), ("shift", [*range(1, 8), 0], "0"),
             ("shuffle", [0, 2, 4, 6, 1, 3, 5, 7], "2"))  # fmt: skip
    swap = [4, 5, 6, 7, 0, 1, 2, 3]
    second = ("minus", [*range(8)], "−8"), ("halves", swap, "0"), ("rotate half", swap, "0")
    return (
        Panel(320, 168, *map(_small, range(3), first), title="no cell mirrored but the diagonal"),
        Panel(320, 168, *map(_small, range(3), second), title="all cells mirrored"),
    )


def _small(place: int, drawn: tuple[str, list[int], str]) -> str:
    """A small matrix, by the column of each row's cell, with its name above and its trace below."""
    (name, columns, trace), left = drawn, 12 + 104 * place
    marks = box(left, 50, 88, 88, role="quiet", rounded=0, above=name, below=f"trace {trace}")
    marks += line((left, 50), (left + 88, 138), faint=True)
    for row, column in enumerate(columns):
        minus = name == "minus" or (name == "rotate half" and column < 4)
        marks += box(left + 11 * column, 50 + 11 * row, 11, 11, rounded=0,
                     role="wrong" if minus else "weight",
                     fill="plain" if minus else "up")  # fmt: skip
    return marks
