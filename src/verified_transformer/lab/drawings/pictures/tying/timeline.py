"""Who studied tying, and who tied: a line of years."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import line, node

_EVENTS = (
    ("2007", "log-bilinear model: one table", "output"),
    ("2016, August", "Press and Wolf, first version", "input"),
    ("2016, November", "Inan, Khosravi and Socher", "input"),
    ("2017", "both papers at conferences", "input"),
    ("2018, 2019", "GPT, BERT, GPT-2 tie", "output"),
    ("2023", "LLaMA: a head of its own", "wrong"),
    ("2024, 2025", "small models tie again", "output"),
)


@picture(
    "Equals: one table. Dash: two. Empty: papers. The idea is older than its papers; large "
    "models dropped it, and small ones took it up again.",
    "A line of years. 2007: the log-bilinear model has one table. August 2016: Press and Wolf's "
    "paper is public. November 2016: Inan, Khosravi and Socher's. 2017: both appear at "
    "conferences. 2018 and 2019: GPT, BERT and GPT-2 tie. 2023: LLaMA has a head of its own. "
    "2024 and 2025: small models tie again.",
)
def tying_timeline() -> Panels:
    """Return a line of years with those who tied, studied tying, or did without."""
    marks = "".join(line((24, 51 + 48 * k), (24, 77 + 48 * k)) for k in range(len(_EVENTS) - 1))
    for place, (when, what, role) in enumerate(_EVENTS):
        y = 40 + 48 * place
        marks += node(24, y, "–" if role == "wrong" else "=" if role == "output" else "", role=role)
        marks += text(48, y - 8, when, anchor="start", size=13)
        marks += text(48, y + 10, what, anchor="start", size=14)
    return Panel(320, 356, marks, title="one table, or two?")
