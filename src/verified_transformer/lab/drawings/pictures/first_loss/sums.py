"""Who makes up a sum of exponentials: everybody, a few, or one."""

from __future__ import annotations

from collections.abc import Sequence

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import box, line

_MANY = (22, 9, 15, 31, 12, 18, 26, 7, 14, 20, 11, 24, 8, 17)
_FEW = (1, 0.5, 1, 96, 1, 0.5, 38, 0.5, 1, 0.5, 14, 1, 0.5, 1)
_ONE = (134, 4, 7, 12, 5, 8, 10, 3, 6, 8, 5, 9, 3, 7)
_FLOOR, _LEFT, _STEP = 176, 10, 12


@picture(
    "What each token adds to the sum in the softmax. The hatched bar is the token that was read. "
    "Who makes up most of the sum?",
    "Three rows of fourteen bars, one bar for each token. Annealed: all bars are of similar, "
    "moderate height. Frozen: three bars stand high and all others are almost nothing. Planted: "
    "the first bar, of the token that was read, is far higher than all others.",
)
def carried_sums() -> Panels:
    """Return the sum of a softmax three times: annealed, frozen and planted."""
    return (
        _panel(_MANY, "annealed", "everybody"),
        _panel(_FEW, "frozen", "the few highest"),
        _panel(_ONE, "planted", "the token that was read"),
    )


def _panel(heights: Sequence[float], title: str, words: str) -> Panel:
    bars = [
        box(_LEFT + place * _STEP, _FLOOR - height, _STEP - 3, height,
            role="input" if place == 0 else "output", fill="up" if place == 0 else "plain",
            rounded=0)
        for place, height in enumerate(heights)
    ]  # fmt: skip
    return Panel(
        190, 206, *bars, line((_LEFT - 8, _FLOOR), (_LEFT + 14 * _STEP + 2, _FLOOR)),
        text(95, 194, words, size=14), title=title,
    )  # fmt: skip
