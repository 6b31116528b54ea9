"""Drawings of heads: how they meet a state, and what may stand between state and table."""

from __future__ import annotations

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import arrow, box, line, vector


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


_STATE = (("*p*", "*p*", "*q*", "*q*"), ("plain", "plain", "up", "up"))
_ROW = (("*a*", "*a*", "*b*", "*b*"), ("dots", "dots", "down", "down"))


def _line(y: float, name: str, cells: tuple[tuple[str, ...], tuple[str, ...]], scale: str) -> str:
    """A named vector of four numbers and what all of them are multiplied by."""
    role = "input" if cells is _STATE else "weight"
    return text(12, y + 13, name, anchor="start", size=14) + vector(
        92, y, list(cells[0]), role=role, cell=36, fill=cells[1], across=26, right=scale
    )


@picture(
    "One logit of a model twice as wide. Each number of the state stands twice, with a scale s. "
    "A matrix of its own makes up for that. The embedding was grown for the input, with its own "
    "scale, and has to be taken as it is.",
    "First: a state p, p, q, q times s meets a row a, a, b, b over 2 s, and gives a p plus b q. "
    "Second: the same state meets the row a, a, b, b times s zero, and gives twice s times s "
    "zero times that; an arrow says that this row is the one that the input has.",
)
def own_and_tied_head() -> Panels:
    """Return how a head of its own and a tied one meet a state whose numbers stand twice."""
    own = Panel(
        320, 290,
        _line(52, "state", _STATE, "· *s*"), _line(100, "matrix", _ROW, "· 1/(2*s*)"),
        arrow((164, 132), (164, 196)), text(176, 164, "multiply and add", anchor="start", size=14),
        box(92, 200, 144, 34, "*a p* + *b q*", role="output"),
        text(160, 264, "free to divide by what is needed", size=14),
        title="a matrix of its own",
    )  # fmt: skip
    tied = Panel(
        320, 290,
        _line(52, "state", _STATE, "· *s*"), _line(100, "matrix", _ROW, "· *s*_{0}"),
        arrow((164, 132), (164, 152)),
        box(72, 156, 184, 34, "2*s s*_{0} (*a p* + *b q*)", role="output"),
        _line(232, "input", _ROW, "· *s*_{0}"),
        arrow((284, 232), (284, 130), both=True, role="copy"),
        text(160, 214, "one parameter, two places", size=14),
        title="the embedding again",
    )  # fmt: skip
    return own, tied
