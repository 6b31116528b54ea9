"""The number of a token and of a place, on the wheels of an odometer."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...parts import box, text


@picture(
    "Two odometers. A wheel with 37 signs goes round once before its left neighbour moves on: "
    "36·37² + 26·37 + 10 = 50 256. Do the same sum for the three on the right.",
    "Left: three wheels of 37 signs show the digits 36, 26 and 10 of token 50 256, with their "
    "neighbours above and below in grey. Right: wheels of 8, 8 and 12 signs show 1, 0 and 4, the "
    "digits of place 100.",
)
def odometers() -> Panels:
    """Return two odometers: GPT-2's last token in three digits, and a place in its row."""
    token = _wheels("token 50 256", (36, 26, 10), (37, 37, 37), "*t*")
    place = _wheels("place 100", (1, 0, 4), (8, 8, 12), "*j*")
    return token, place


def _wheels(title: str, digits: tuple[int, ...], signs: tuple[int, ...], letter: str) -> Panel:
    marks = []
    for i, (digit, base) in enumerate(zip(digits, signs, strict=True)):
        x = 58 + 72 * i
        marks.append(box(x, 44, 60, 96, role="quiet", rounded=8))
        marks.append(box(x, 76, 60, 32, str(digit), role="input", size=20))
        marks.append(text(x + 30, 60, str((digit - 1) % base), size=13))
        marks.append(text(x + 30, 124, str((digit + 1) % base), size=13))
        marks.append(text(x + 30, 156, f"{letter}_{{{i + 1}}}"))
        marks.append(text(x + 30, 178, f"of {base}", size=13))
    return Panel(320, 190, *marks, title=title)
