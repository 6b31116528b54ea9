"""A dense layer as wires: what one output sees going forward, and one input going back."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, brace, line, node

_Point = tuple[float, float]
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
    return _panel(forward=True), _panel(forward=False)


def _at(side: str, place: int) -> tuple[float, float]:
    return (_LEFT, 66 + 44 * place) if side == "in" else (_RIGHT, 88 + 66 * place)


def _panel(*, forward: bool) -> Panel:
    marks = [
        line(*_between(_at("in", i), _at("out", j)), faint=True, width=1)
        for i in range(_INPUTS) for j in range(_OUTPUTS)
    ]  # fmt: skip
    if forward:
        marks += [_strong(_at("in", i), _at("out", 1), "weight") for i in range(_INPUTS)]
        marks += [brace((_LEFT - 18, 250), (_LEFT - 18, 58)), text(38, 154, "*m*"),
                  text(_RIGHT + 22, 154, "*y*_{j}", anchor="start"),
                  text(160, 284, "*y*_{j} = *x*_{1}*w*_{1j} + … + *x*_{m}*w*_{mj}")]  # fmt: skip
    else:
        marks += [_strong(_at("out", j), _at("in", 2), "gradient") for j in range(_OUTPUTS)]
        marks += [brace((_RIGHT + 18, 80), (_RIGHT + 18, 228)), text(276, 154, "*n*"),
                  text(_LEFT - 18, 154, "δ*x*_{i}", anchor="end"),
                  text(160, 284,
                       "δ*x*_{i} = *w*_{i1} δ*y*_{1} + … + *w*_{in} δ*y*_{n}")]  # fmt: skip
    marks += [node(*_at("in", i), "", role="input" if forward or i == 2 else "quiet")
              for i in range(_INPUTS)]  # fmt: skip
    marks += [node(*_at("out", j), "", role="output" if not forward or j == 1 else "quiet")
              for j in range(_OUTPUTS)]  # fmt: skip
    marks += [text(_LEFT, 40, "*m* inputs", size=14), text(_RIGHT, 40, "*n* outputs", size=14)]
    title = "forward: fan-in *m*" if forward else "backward: fan-out *n*"
    return Panel(320, 302, *marks, title=title)


def _strong(start: _Point, end: _Point, role: str) -> str:
    return arrow(*_between(start, end), role=role, width=2)


def _between(start: _Point, end: _Point) -> tuple[_Point, _Point]:
    """The points at which the way from one node to another crosses their rims."""
    (x1, y1), (x2, y2) = start, end
    rim = 12 / ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    across, down = rim * (x2 - x1), rim * (y2 - y1)
    return (x1 + across, y1 + down), (x2 - across, y2 - down)
