"""Which of two weights an assignment keeps, and a model of 2007 with one table."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, node


def _assignment(title: str, kept: int) -> Panel:
    """Two names above two weights, the right ones kept by an assignment."""
    marks = []
    for k, (x, name, law) in enumerate(
        ((14, "embedding", "size 1"), (186, "head", "size 1/√(3*d*)"))
    ):
        gone = k != kept
        marks.append(box(x, 40, 120, 28, name, role="quiet", rounded=8, size=14))
        marks.append(box(x, 112, 120, 40, law, role="wrong" if gone else "weight",
                         fill="plain" if gone else "up", size=14))  # fmt: skip
        below = 74 + 172 * kept
        marks.append(arrow((x + 60, 70), (below + (10 if k else -10) * (1 if gone else 0), 110)))
        if gone:
            marks.append(text(x + 60, 168, "thrown away", size=13))
    return Panel(320, 184, *marks, title=title)


@picture(
    "Names above, weights below, with the size of their entries as PyTorch draws them. The name "
    "on the left of the sign of equality loses its own.",
    "Two panels with the names embedding and head above two weights. Left, both names lead to "
    "the embedding's weight, with entries of size 1, and the head's is thrown away. Right, both "
    "lead to the head's weight, with small entries, and the embedding's is thrown away.",
)
def assigned_weights() -> Panels:
    """Return the two ways to tie by an assignment, and the weight that each of them keeps."""
    return (
        _assignment("head.weight = embedding.weight", 0),
        _assignment("embedding.weight = head.weight", 1),
    )


@picture(
    "The log-bilinear model. Matrices *C*_{i} turn the rows of the words read into a prediction "
    "of the next row, which is compared with every row of the same table.",
    "On the left the rows of the words the, cat and sat; an arrow leads from each, through a "
    "matrix, to a sum. From the sum arrows lead to rows on the right, of a, cat, down and the. "
    "All rows have one hatch: they are of one table.",
)
def log_bilinear_model() -> Panels:
    """Return the model of 2007: words read from a table, and the next one scored by its rows."""
    marks = [text(64, 16, "words read", size=13), text(244, 16, "words scored", size=13)]
    for k, (word, i) in enumerate((("the", 1), ("cat", 2), ("sat", 3))):
        y = 40 + 44 * k
        marks.append(text(34, y, word, anchor="end", size=14))
        marks.append(box(40, y - 11, 50, 22, role="weight", fill="up", rounded=0))
        marks.append(arrow((92, y), (150, 84 + 4 * (k - 1))))
        marks.append(text(*((132, 48), (112, 73), (132, 122))[k], f"*C*_{{{i}}}", size=14))
    marks.append(node(162, 84, "+", role="output"))
    for k, word in enumerate(("a", "cat", "down", "the")):
        y = 36 + 32 * k
        marks.append(box(214, y - 11, 50, 22, role="weight", fill="up", rounded=0))
        marks.append(text(270, y, word, anchor="start", size=14))
        marks.append(arrow((175, 84), (212, y), role="output"))
    marks.append(text(160, 168, "rows of one table on both sides", size=14))
    return Panel(320, 182, *marks)
