"""A residual stream with its branches: the normalisation on the branch, or on the stream."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, line, node

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
    return _panel(pre=True), _panel(pre=False)


def _panel(*, pre: bool) -> Panel:
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


@picture(
    "Each branch is at a right angle to all that came before, so the branches together are the "
    "upright side. The cosine is the length of the lower side over that of the slanted one.",
    "Two right triangles. The lower side is the token's vector, the upright side a pile of six "
    "short arrows, the branches, and the slanted side the last state. Left: a long lower side "
    "and a low pile; the last state points almost along the token. Right: a short lower side and "
    "a high pile; the last state points almost upwards.",
)
def right_angles() -> Panels:
    """Return how branches at right angles turn a stream away: small ones, and large ones."""
    return _triangle(180, 7, "small branches"), _triangle(84, 27, "large branches")


def _triangle(base: float, step: float, title: str) -> Panel:
    left, ground = 160 - (base + 40) / 2, 222
    right, top = left + base, ground - 6 * step
    piled = [arrow((right, ground - i * step), (right, ground - (i + 1) * step), role="weight",
                   width=2) for i in range(6)]  # fmt: skip
    return Panel(
        320, 262,
        arrow((left, ground), (right, ground), role="input", width=2.6),
        *piled,
        arrow((left, ground), (right, top), role="output", width=2.6),
        text(left + base / 2, ground + 20, "token *x*_{0}"),
        text(right + 10, (ground + top) / 2, "branches", anchor="start"),
        text((left + right) / 2 - 12, (ground + top) / 2 - 14, "last state",
             anchor="middle" if base > 150 else "end"),
        title=title,
    )  # fmt: skip
