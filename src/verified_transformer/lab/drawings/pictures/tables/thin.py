"""Smaller tables: thin matrices in the place of one, narrower bands, and what a basis sees."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box, brace, line

_TOP, _HIGH, _WIDE, _THIN = 66, 170, 130, 22  # thin to wide as 128 to 768


@picture(
    "A row is looked up on the left, and made on the right: the token's r numbers are looked up "
    "and multiplied by B, which all tokens share.",
    "Left: a tall rectangle, the table W, of n tokens and width d; one of its rows is marked. "
    "Right: a rectangle A just as tall and a sixth as wide, with one short row marked, and a "
    "small flat matrix B of r rows and width d; an arrow says that the short row times B is the "
    "row of W.",
)
def thin_matrices() -> Panels:
    """Return a table with one row marked, and the two thin matrices that make the same row."""
    row, high = _TOP + 96, 12
    plain = Panel(
        320, 276,
        box(84, _TOP, _WIDE, _HIGH, rounded=0),
        box(84, row, _WIDE, high, role="output", fill="up", rounded=0),
        text(84 + _WIDE / 2, _TOP - 14, "width *d*", size=14),
        text(38, _TOP + _HIGH / 2, "*n* tokens", size=14),
        arrow((84 + _WIDE + 2, row + 6), (84 + _WIDE + 30, row + 6)),
        text(268, row + 6, "a row", size=14),
        text(149, _TOP + _HIGH + 20, "*W*:  *nd* numbers", size=14),
        title="one table",
    )  # fmt: skip
    thin = Panel(
        320, 276,
        box(38, _TOP, _THIN, _HIGH, rounded=0),
        box(38, row, _THIN, high, role="input", fill="dots", rounded=0),
        text(49, _TOP - 14, "*r*", size=14),
        text(49, _TOP + _HIGH + 20, "*A*:  *nr*", size=14),
        box(150, _TOP, _WIDE, _THIN, rounded=0),
        text(215, _TOP - 14, "*B*:  *rd*", size=14),
        arrow((38 + _THIN + 2, row + 6), (148, row + 6)),
        text(104, row - 10, "times *B*", size=14),
        box(150, row, _WIDE, high, role="output", fill="up", rounded=0),
        text(215, row + 30, "the same row", size=14),
        title="two thin matrices",
    )  # fmt: skip
    return plain, thin


@picture(
    "Areas are numbers stored. Left: every word gets 1024 numbers. Right: only the most frequent "
    "do, the next get 256, and the long tail 64.",
    "Left: a rectangle for 267 735 words of width 1024. Right, at the same scale, three "
    "rectangles below each other: a wide, flat one for the 20 000 most frequent words, one of a "
    "quarter of the width for the next 40 000, and a long sliver of a sixteenth of the width for "
    "all others. Together they have a sixth of the area.",
)
def narrowing_bands() -> Panels:
    """Return a table of full width, and the bands of Baevski and Auli's, areas to scale."""
    bands = ((20_000, 1024), (40_000, 256), (207_735, 64))
    scale, wide, left, top = 210 / 267_735, 120 / 1024, 104, 58
    parts, y = [], float(top)
    for (tokens, width), fill in zip(bands, ("up", "dots", "down"), strict=True):
        parts += [box(left, y, width * wide, tokens * scale, fill=fill, rounded=0)]
        y += tokens * scale
    whole = Panel(
        320, 294,
        box(left, top, 120, 210, rounded=0),
        text(left + 60, top - 13, "1024", size=14),
        brace((left - 6, top + 210), (left - 6, top)),
        text(48, top + 105, "267 735", size=14),
        title="one width for all",
    )  # fmt: skip
    cut = Panel(
        320, 294, *parts,
        text(left + 60, top - 13, "1024", size=14),
        text(left + 44, top + 31, "256", anchor="start", size=14),
        text(left + 20, top + 130, "64", anchor="start", size=14),
        text(left - 8, top + 8, "20 000", anchor="end", size=14),
        text(left - 8, top + 31, "40 000", anchor="end", size=14),
        text(left - 8, top + 130, "207 735", anchor="end", size=14),
        title="width by frequency",
    )  # fmt: skip
    return whole, cut


@picture(
    "What a table of rank *r* sees of a hidden state: its shadow on the plane of the basis.",
    "A plane, with an arrow h that leaves it. Its shadow lies in the plane and is what the "
    "logits see; a dashed arrow at a right angle to the plane is what they never see.",
)
def part_unseen() -> Panels:
    """Return a hidden state above the plane of a basis: the part that is seen, and the other."""
    corner, tip, foot = (96, 164), (206, 56), (206, 150)
    plane = ((20, 192), (96, 116), (300, 116), (224, 192), (20, 192))
    return Panel(
        320, 214,
        line(*plane, role="weight"), text(52, 206, "the rows of *B*", size=14),
        arrow(corner, tip, role="input", width=2.2), text(196, 44, "*h*"),
        arrow(corner, foot, role="output", width=2.2),
        text(152, 178, "the logits see this", size=14),
        arrow(foot, tip, role="wrong", width=2.2),
        text(216, 92, "and never this", anchor="start", size=14),
    )  # fmt: skip
