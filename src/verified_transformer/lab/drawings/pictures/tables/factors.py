"""A table that nobody stores: factors of a token on their way into a model, and gradients back."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, vector

_FILLS = ("up", "dots", "down")


def _panel(title: str, below: str, *, back: bool) -> Panel:
    role = "gradient" if back else "quiet"
    marks = []
    for i, fill in enumerate(_FILLS):
        y = 52 + 38 * i
        marks.append(vector(20, y, 4, role="weight", cell=16, fill=fill))
        ends = [(88, y + 8), (120, 98)]
        marks.append(arrow(*(ends[::-1] if back else ends), role=role, width=1.4))
    through = [[(154, 98), (178, 98)], [(232, 98), (256, 98)]]
    marks += [arrow(*(w[::-1] if back else w), role=role) for w in through]
    marks += [box(122, 82, 32, 32, "⊗", role="quiet"), vector(180, 90, 8, role="output", cell=6.5),
              box(258, 62, 44, 72, "model", role="weight", size=13)]  # fmt: skip
    return Panel(320, 204, *marks, text(160, 190, below, size=14), title=title)


@picture(
    "A token keeps three short vectors. Their tensor product goes into the model; the gradient "
    "comes back through the product to each of them.",
    "First: three bars of four cells, with arrows to a box with a tensor sign, from there to a "
    "long bar and on to a box named model. Second: the same with dashed arrows the other way.",
)
def factors_in_a_model() -> Panels:
    """Return the way of a token's factors into a model, and of the gradient back to them."""
    return (
        _panel("forward", "multiply out, then as always", back=False),
        _panel("backward", "each gets it times the others", back=True),
    )
