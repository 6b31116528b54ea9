"""Rotary positions: pairs of coordinates as the hands of clocks that turn at different speeds."""

from __future__ import annotations

import math

from ..drawing import Panel, Panels, picture
from ..labels import text
from ..marks import arrow, dial, vector

_BASE, _SIZE, _STEPS = 10_000, 8, 6  # of RoFormer; a small head; positions that are drawn
_SLOWER = 10  # the base of two heads side by side, small: one sees all hands move
_RADIUS, _TURN = 52, 0.35  # of a face; of the pair on the right, at each position


@picture(
    "Each pair of coordinates is a hand. From one position to the next it turns by the angle "
    "below its clock. Query and key, moved on together, keep their angle, and so the score.",
    "First: four clock faces with hands at positions 0 to 6. The first pair turns by one radian "
    "at each position and almost goes round; the second turns by a tenth of that, the third and "
    "the fourth hardly move. Second: two faces, each with a hand for the query and one for the "
    "key. In the second both stand five positions further on. Both hands have turned, and the "
    "angle between them is the same.",
)
def rotary_clocks() -> Panels:
    """Return the pairs of a head as clocks, and why a score knows distances alone.

    The angles are those of a head of size 8 with the base 10 000, drawn to scale.
    """
    marks = []
    for pair in range(_SIZE // 2):
        speed = _BASE ** (-2 * pair / _SIZE)
        x, y = 82 + 156 * (pair % 2), 104 + 168 * (pair // 2)
        marks.append(dial(x, y, _RADIUS, [step * speed for step in range(_STEPS + 1)]))
        marks.append(text(x, y + 76, f"pair {pair}: {speed:g} rad"))
        marks += [_tip(x, y, step * speed, f"{step}") for step in range(_STEPS + 1) if not pair]
    return (
        Panel(320, 360, *marks, title="a query at positions 0 to 6"),
        Panel(320, 360, *_moved_on(), title="only the distance counts"),
    )


@picture(
    "Hands at the places 0, 1 and 2, for a base of only 10. Pair *m* and slot 2*m* turn alike. "
    "The faces without an arrow are new, at speeds that no pair has.",
    "Above, four clock faces with hands at the places 0, 1 and 2, each slower than the one "
    "before. Below, eight faces, whose speeds fall in half the steps. Arrows go from each face "
    "above to every second face below, which shows the same hands.",
)
def rotary_slots() -> Panels:
    """Return the clocks of a head of 8 and of 16, and which of the second keep the first's time.

    Both heads have the base 10; hands are drawn at the places 0, 1 and 2.
    """
    marks = [text(160, 36, "a head of 8: its pairs"), text(160, 196, "a head of 16: its slots")]
    for slot in range(_SIZE):
        x, pair = 20 + 40 * slot, slot // 2
        hands = [place * _SLOWER ** (-slot / _SIZE) for place in range(3)]
        marks.append(text(x, 170, f"{slot}"))
        if slot % 2:
            marks.append(dial(x, 136, 17, hands[-1:], roles=("quiet",)))
        else:
            marks.append(dial(x, 136, 17, hands))
            marks += [dial(x, 70, 17, hands), text(x + 27, 70, f"{pair}")]
            marks.append(arrow((x, 91), (x, 115), role="copy"))
    return Panel(320, 214, *marks)


@picture(
    "RoFormer's slots, from fast to slow. Which of the three rows keeps a pair together, and at "
    "its old speed?",
    "Rows of numbered cells in pairs. A head 12, 34; below it four slots, filled with 11, 22, "
    "33, 44; with 12, 12, 34, 34; and with 12, empty, 34, empty.",
)
def rotary_fillings() -> Panels:
    """Return a head of two pairs, and three ways to fill the four slots of one twice as large."""
    rows = (
        ("the small head: two pairs", "1234", "input"),
        ("every coordinate twice (eq. 2)", "11223344", "wrong"),
        ("every pair twice (eq. 15)", "12123434", "copy"),
        ("every second slot", "12··34··", "output"),
    )
    marks = []
    for k, (label, cells, role) in enumerate(rows):
        y = 26 + 58 * k
        marks.append(text(14, y - 12, label, anchor="start", size=14))
        for pair in range(len(cells) // 2):
            part = cells[2 * pair : 2 * pair + 2]
            marks.append(
                vector(14 + 74 * pair, y, [c.strip("·") for c in part], cell=28,
                       role="quiet" if part == "··" else role,
                       fill=["up" if c in "34" else "plain" for c in part])
            )  # fmt: skip
    return Panel(320, 240, *marks)


def _tip(x: float, y: float, angle: float, label: str) -> str:
    """A label just outside the rim, where a hand points."""
    out = _RADIUS + 11
    return text(x + out * math.cos(angle), y - out * math.sin(angle), label, size=14)


def _moved_on() -> list[str]:
    """Two faces of one pair: query and key three places apart, here and five places further on."""
    marks = []
    for row, (query, key) in enumerate(((2, 5), (7, 10))):
        y = 104 + 168 * row
        hands = (query * _TURN, key * _TURN)
        marks += [
            dial(90, y, _RADIUS, hands, roles=("input", "input"), arc=True),
            _tip(90, y, hands[0], "*q*"), _tip(90, y, hands[1], "*k*"),
            text(176, y - 24, f"*q* at place {query}", anchor="start"),
            text(176, y, f"*k* at place {key}", anchor="start"),
            text(176, y + 24, "3 places apart", anchor="start"),
        ]  # fmt: skip
    return marks
