"""What a grown output head multiplies: a matrix of its own, or the embedding once more."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, vector

_STATE = (("*p*", "*p*", "*q*", "*q*"), ("plain", "plain", "up", "up"))
_ROW = (("*a*", "*a*", "*b*", "*b*"), ("dots", "dots", "down", "down"))


def _line(y: float, name: str, cells: tuple[tuple[str, ...], tuple[str, ...]], scale: str) -> str:
    """A named vector of four numbers and what all of them are multiplied by."""
    role = "input" if cells is _STATE else "weight"
    return (
        text(12, y + 13, name, anchor="start", size=14)
        + vector(92, y, list(cells[0]), role=role, cell=36, fill=cells[1], across=26)
        + text(244, y + 13, scale, anchor="start")
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
