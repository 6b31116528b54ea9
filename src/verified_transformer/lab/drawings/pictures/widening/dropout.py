"""Where dropout acts on a grown block, and which copies it tells apart."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box


def _block(stream: tuple[str, ...], units: tuple[str, str], below: str, title: str) -> Panel:
    """A stream of copies at the bottom, two hidden units that are copies above."""
    cells = "".join(
        box(88 + 38 * i, 186, 38, 30, "0" if not name else f"*{name}*",
            role="input" if name else "wrong", fill=("plain", "plain", "up", "up")[i] if name
            else "plain", rounded=0)
        for i, name in enumerate(stream)
    )  # fmt: skip
    hidden = "".join(
        box(84 + 96 * i, 96, 64, 34, "0" if not name else f"*{name}*",
            role="output" if name else "wrong", fill="dots" if name else "plain")
        + arrow((164, 182), (116 + 96 * i, 132))
        for i, name in enumerate(units)
    )  # fmt: skip
    return Panel(
        320, 270,
        text(164, 52, "the layer above"), arrow((116, 94), (152, 64)), arrow((212, 94), (176, 64)),
        hidden, text(12, 114, "units", anchor="start", size=14),
        cells, text(12, 202, "stream", anchor="start", size=14),
        text(160, 248, below, size=14),
        title=title,
    )  # fmt: skip


@picture(
    "A dashed 0 was dropped. Which copies still get equal gradients, on the left and on the right?",
    "First: a stream p, 0, q, q; two hidden units read it and both give h. Second: the stream is "
    "p, p, q, q, but of the two units only one gives h, the other gives 0.",
)
def dropout_on_copies() -> Panels:
    """Return a pair of hidden units that are copies, under two kinds of dropout."""
    return (
        _block(("p", "", "q", "q"), ("h", "h"), "both units read the same", 
               "dropout on the stream"),
        _block(("p", "p", "q", "q"), ("h", ""), "one of them is gone", "dropout on the units"),
    )  # fmt: skip
