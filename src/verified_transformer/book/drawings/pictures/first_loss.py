"""Drawings of the loss with which a tied model starts, and of what brings it down."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import arrow, box, line, node

_MANY = (22, 9, 15, 31, 12, 18, 26, 7, 14, 20, 11, 24, 8, 17)
_FEW = (1, 0.5, 1, 96, 1, 0.5, 38, 0.5, 1, 0.5, 14, 1, 0.5, 1)
_ONE = (134, 4, 7, 12, 5, 8, 10, 3, 6, 8, 5, 9, 3, 7)
_SUM_FLOOR, _SUM_LEFT, _STEP = 176, 10, 12


@picture(
    "What each token adds to the sum in the softmax. The hatched bar is the token that was read. "
    "Who makes up most of the sum?",
    "Three rows of fourteen bars, one bar for each token. Annealed: all bars are of similar, "
    "moderate height. Frozen: three bars stand high and all others are almost nothing. Planted: "
    "the first bar, of the token that was read, is far higher than all others.",
)
def carried_sums() -> Panels:
    """Return the sum of a softmax three times: annealed, frozen and planted."""
    return (
        _bars(_MANY, "annealed", "everybody"),
        _bars(_FEW, "frozen", "the few highest"),
        _bars(_ONE, "planted", "the token that was read"),
    )


def _bars(heights: Sequence[float], title: str, words: str) -> Panel:
    bars = [
        box(_SUM_LEFT + place * _STEP, _SUM_FLOOR - height, _STEP - 3, height,
            role="input" if place == 0 else "output", fill="up" if place == 0 else "plain",
            rounded=0)
        for place, height in enumerate(heights)
    ]  # fmt: skip
    return Panel(
        190, 206, *bars,
        line((_SUM_LEFT - 8, _SUM_FLOOR), (_SUM_LEFT + 14 * _STEP + 2, _SUM_FLOOR)),
        text(95, 194, words, size=14), title=title,
    )  # fmt: skip


_RIM, _WIDE, _GROUND, _CHORD_UNIT = 54.0, 160.0, 196.0, 56.0
_LEFT, _RIGHT, _FLOOR, _HIGH = 16.0, 304.0, 186.0, 142.0
_LOW, _UP = -7.0, 2.0  # of u
_STEPS = [_LOW + 0.15 * k for k in range(61)]


@picture(
    "The curve that belongs to a sum *x* is the curve of 1, moved to the left by log *x*. Every "
    "slice of the area between them is log *x* long. Right: the mean curve of three random sums "
    "encloses the mean of their areas.",
    "Two panels with curves that fall from one to nought. Left, two equal curves side by side, "
    "with arrows of one length between them. Right, three such curves, paler, a less steep one "
    "through their middle, and the curve of one at the right.",
)
def logarithm_as_a_shift() -> Panels:
    """Return the curve of exp(−exp(u)), moved by the logarithm of a sum, and of several."""
    slices = [arrow((_at(_inverse(h) - 3), _height(h)), (_at(_inverse(h)), _height(h)), both=True,
                    width=1.1) for h in (0.15, 0.38, 0.62, 0.85)]  # fmt: skip
    many = (2.4, 3.2, 4.8)
    one = Panel(
        320, 210, *slices, _curve(_falling(0), "quiet"), _curve(_falling(3), "output"),
        *_frame(), text(_at(-3.5), _height(0.25), "*x*", anchor="end"),
        text(_at(1.2), _height(0.4), "1"), text(_at(-1.6), _height(0.5), "log *x*"),
        title="one sum",
    )  # fmt: skip
    mean = Panel(
        320, 210, *(_curve(_falling(s), "output", faint=True) for s in many),
        _curve(_falling(0), "quiet"),
        _curve(lambda u: sum(_falling(s)(u) for s in many) / 3, "weight"),
        *_frame(), text(_at(-1.2), _height(0.5), "mean"),
        text(_at(-1.2), _height(0.36), "log *x*"),
        text(_at(1.2), _height(0.4), "1"),
        title="many sums, and their mean",
    )  # fmt: skip
    return one, mean


def _at(u: float) -> float:
    return _LEFT + (u - _LOW) / (_UP - _LOW) * (_RIGHT - _LEFT)


def _height(share: float) -> float:
    return _FLOOR - share * _HIGH


def _falling(moved: float) -> Callable[[float], float]:
    return lambda u: math.exp(-math.exp(u + moved))


def _inverse(share: float) -> float:
    return math.log(-math.log(share))


def _curve(falling: Callable[[float], float], role: str, *, faint: bool = False) -> str:
    points = [(_at(u), _height(falling(u))) for u in _STEPS]
    return line(*points, role=role, width=1.4 if faint else 2.4, faint=faint)


def _frame() -> tuple[str, ...]:
    return (
        line((_LEFT, _FLOOR), (_RIGHT, _FLOOR), width=1),
        text(_LEFT - 12, _height(1) - 10, "1", size=13, anchor="start"),
        text(_RIGHT - 4, _FLOOR + 16, "*u*", size=13),
    )


@picture(
    "The exponential gains more by a step up than it loses by a step down. The thick piece is "
    "what the formula leaves out for each token.",
    "A curve that rises ever more steeply, with dots at −1, 0 and 1. The middle of the straight "
    "line between the outer two lies above the middle dot.",
)
def gain_by_a_step() -> Panels:
    """Return the exponential with a step up and a step down, and the middle of its chord."""
    curve = [_on(-1.2 + 0.1 * k) for k in range(25)]
    down, up = _on(-1), _on(1)
    middle, own = ((down[0] + up[0]) / 2, (down[1] + up[1]) / 2), _on(0)
    return Panel(
        320, 226, line((_RIM - 6, _GROUND), (_RIM + _WIDE + 16, _GROUND), width=1),
        *(line((x, y), (x, _GROUND), width=1, faint=True) for x, y in (down, up, own)),
        line(*curve, role="output", width=2.4), line(down, up, role="weight"),
        line(own, middle, role="weight", width=3),
        *(node(x, y, "", role="output", radius=4) for x, y in (down, up, own)),
        node(*middle, "", role="weight", radius=4),
        *(text(_on(x)[0], _GROUND + 18, words, size=14)
          for x, words in ((-1, "−1"), (0, "0"), (1, "1"))),
        text(up[0] + 10, up[1], "*e*^{1} = 2.72", size=14, anchor="start"),
        text(down[0] - 8, down[1] - 26, "*e*^{−1} = 0.37", size=14),
        text(middle[0] - 8, middle[1] - 12, "mean: 1.54", size=14, anchor="end"),
        text(own[0] + 10, own[1] + 12, "*e*^{0} = 1", size=14, anchor="start"),
    )  # fmt: skip


def _on(x: float) -> tuple[float, float]:
    return _RIM + (x + 1.2) / 2.4 * _WIDE, _GROUND - _CHORD_UNIT * math.exp(x)


_STREAM_LEFT, _STREAM_FLOOR, _STREAM_UNIT = 90, 236, 78


@picture(
    "The stream after each layer is the long side of a triangle with a right angle: the token's "
    "own embedding lies along the bottom, and what all branches have added stands upright. The "
    "cosine is that of the angle at the left. What would the fourth layer do?",
    "Two fans of right-angled triangles over a base. Left the base is long, and the angle grows "
    "from layer to layer. Right the base is short, and after one layer the state stands nearly "
    "upright.",
)
def buried_token() -> Panels:
    """Return what is left of a token in the stream: a loud embedding, and a faint one."""
    return (
        _buried(0.82**0.5, 1.86, (1, 2, 3), "a loud embedding"),
        _buried(0.25, 1.86, (1, 2, 3), "a faint embedding"),
    )


def _buried(own: float, branch: float, layers: tuple[int, ...], title: str) -> Panel:
    right = _STREAM_LEFT + _STREAM_UNIT * own
    parts = [
        arrow((_STREAM_LEFT, _STREAM_FLOOR), (right, _STREAM_FLOOR), role="input"),
        text(
            (_STREAM_LEFT + right) / 2,
            _STREAM_FLOOR + 20,
            "own" if own < 0.5 else "own embedding",
            size=13,
        ),
    ]
    before: float = _STREAM_FLOOR
    for layer in layers:
        top = _STREAM_FLOOR - _STREAM_UNIT * math.sqrt(layer * branch)
        parts += [
            arrow((right, before), (right, top), role="weight"),
            line(
                (_STREAM_LEFT, _STREAM_FLOOR), (right, top), role="output", faint=layer < layers[-1]
            ),
            text(right + 12, (before + top) / 2 + 5, f"layer {layer}", size=13, anchor="start"),
        ]
        before = top
    return Panel(320, 270, *parts, title=title)


_ZERO, _NAT = 46, 16  # where the logit 0 stands, and how many units a nat is
_OWN, _FAIR = 15.4, 10.8  # own logit and log n of GPT-2's sizes
_BEFORE, _AFTER = 92, 186  # the two axes


@picture(
    "Logits of all tokens, of GPT-2's sizes. The hill is the strangers, the bar the token that "
    "was read. It does harm where it stands to the right of log *n*.",
    "Two panels, each with two axes of logits, before above and after below, and a vertical line "
    "at log n, 10.8. Before: a narrow hill of strangers at 0 and the own token's bar at 15.4, "
    "right of the line. After shrinking: a narrower hill, and the bar at half its place, left of "
    "the line. After turning: the same hill, and the bar in its midst.",
)
def shrink_or_turn() -> Panels:
    """Return the logits of a tied identity model before and after each of the two cures."""
    return (
        _cure("shrink: all logits move", own=7.7, width=6),
        _cure("turn: only the own one moves", own=0.6, width=12),
    )


def _nats_at(nats: float) -> float:
    return _ZERO + _NAT * nats


def _logits(axis: int, own: float, width: float, role: str) -> list[str]:
    """An axis with the strangers' hill, as wide as said, and the own token's bar."""
    hill = [(_ZERO + width * t / 4, axis - 34 * math.exp(-((t / 4) ** 2) / 2))
            for t in range(-14, 15)]  # fmt: skip
    return [
        line((12, axis), (308, axis)),
        line(*hill, role="input", width=2),
        line((_nats_at(own), axis), (_nats_at(own), axis - 46), role=role, width=4),
    ]


def _cure(title: str, own: float, width: float) -> Panel:
    marks = [
        line((_nats_at(_FAIR), 44), (_nats_at(_FAIR), _AFTER), faint=True),
        text(_nats_at(_FAIR), 40, "log *n*", size=13),
        *_logits(_BEFORE, _OWN, 12, "wrong"),
        text(_nats_at(_OWN), 40, "own", size=13),
        text(_ZERO, _BEFORE + 16, "0", size=13),
        text(_nats_at(_OWN), _BEFORE + 16, f"{_OWN}", size=13),
        text(_ZERO + 22, 66, "strangers", anchor="start", size=13),
        *_logits(_AFTER, own, width, "output"),
        arrow(
            (_nats_at(_OWN), _BEFORE + 22),
            (_nats_at(own) + 6, _AFTER - 42),
            role="output",
            width=1.4,
        ),
        text(_ZERO, _AFTER + 16, "0", size=13),
    ]
    return Panel(320, 210, *marks, title=title)


_SIZE, _CELL = 8, 11  # of a small matrix
_SWAP = [(i, (i + 4) % 8) for i in range(8)]


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
    shift = [(i, (i + 1) % 8) for i in range(8)]
    shuffle = [(4 * (i % 2) + i // 2, i) for i in range(8)]
    first = (("identity", [(i, i) for i in range(8)], "8"), ("shift", shift, "0"),
             ("shuffle", shuffle, "2"))  # fmt: skip
    second = (("minus", [(i, i) for i in range(8)], "−8"), ("halves", _SWAP, "0"),
              ("rotate half", _SWAP, "0"))  # fmt: skip
    return (
        Panel(320, 168, *_three(first), title="no cell mirrored but the diagonal"),
        Panel(320, 168, *_three(second), title="all cells mirrored"),
    )


def _three(drawn: tuple[tuple[str, list[tuple[int, int]], str], ...]) -> list[str]:
    """Small matrices in a row, each with its name above and its trace below."""
    marks = []
    for place, (name, cells, trace) in enumerate(drawn):
        left, top, side = 12 + 104 * place, 50, _SIZE * _CELL
        marks += [text(left + side / 2, top - 10, name, size=13),
                  box(left, top, side, side, role="quiet", rounded=0),
                  line((left, top), (left + side, top + side), faint=True),
                  text(left + side / 2, top + side + 20, f"trace {trace}", size=13)]  # fmt: skip
        for row, column in cells:
            minus = name == "minus" or (name == "rotate half" and column < _SIZE // 2)
            role = "wrong" if minus else "weight"
            marks.append(box(left + column * _CELL, top + row * _CELL, _CELL, _CELL, role=role,
                             fill="plain" if minus else "up", rounded=0))  # fmt: skip
    return marks
