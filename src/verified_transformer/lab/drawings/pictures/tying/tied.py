"""A language model with two tables, and with one."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, matrix, vector

_MIDDLE, _LEFT, _WIDE = 150, 100, 100


def _model(*marks: str, head: str, title: str) -> Panel:
    """A model from its token at the bottom to its scores at the top, with a hatch for its head."""
    bar = {"cell": 12.5, "across": 12}
    return Panel(
        320, 404, *marks,
        vector(_LEFT, 40, 8, role="output", **bar),  # type: ignore[arg-type]
        text(_LEFT - 8, 46, "scores (*n*)", anchor="end", size=14),
        arrow((_MIDDLE, 78), (_MIDDLE, 55)),
        matrix(_LEFT, 78, _WIDE, 66, "*E*" if head == "plain" else "*U*", rows="*n* × *d*",
               fill=head),
        arrow((_MIDDLE, 176), (_MIDDLE, 146)),
        vector(_MIDDLE - 25, 178, 4, role="output", **bar),  # type: ignore[arg-type]
        text(_MIDDLE - 33, 184, "state (*d*)", anchor="end", size=14),
        arrow((_MIDDLE, 220), (_MIDDLE, 193)),
        box(_LEFT - 10, 220, _WIDE + 20, 40, "layers", role="quiet", rounded=8),
        arrow((_MIDDLE, 284), (_MIDDLE, 262)),
        vector(_MIDDLE - 25, 286, 4, role="input", **bar),  # type: ignore[arg-type]
        text(_MIDDLE - 33, 292, "row *t* (*d*)", anchor="end", size=14),
        arrow((_MIDDLE, 336), (_MIDDLE, 301)),
        matrix(_LEFT, 314, _WIDE, 66, "", rows="*n* × *d*"),
        box(_LEFT, 336, _WIDE, 11, role="input", rounded=0),
        text(_LEFT + 18, 364, "*E*"),
        text(_MIDDLE, 394, "token number *t*", size=14),
        title=title,
    )  # fmt: skip


@picture(
    "Untied: two tables, *E* to read with and *U* to write with. Tied: one array in both places.",
    "Two models side by side, each read from bottom to top. A token number picks one row of the "
    "table E, with n rows of d numbers; the row goes through the layers and becomes a state of d "
    "numbers; a second table turns the state into n scores. In the untied model the second table "
    "is another array, U. In the tied model a double arrow joins both places: it is E again.",
)
def tied_model() -> Panels:
    """Return a language model drawn twice: with a table at each end, and with one for both."""
    right = _LEFT + _WIDE
    return (
        _model(text(right + 10, 111, "another", anchor="start", size=14),
               text(right + 10, 128, "array", anchor="start", size=14),
               head="up", title="untied"),
        _model(arrow((right + 4, 347), (right + 4, 111), both=True, bend=52, width=2.2,
                     role="weight"),
               text(right + 66, 221, "one", anchor="start"),
               text(right + 66, 239, "array", anchor="start"), head="plain", title="tied"),
    )  # fmt: skip
