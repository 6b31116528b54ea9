"""The font of the formulas: a part of Latin Modern Math, changed and therefore under another name.

    python verifiedbook/sphinx/formulas/font.py latinmodern-math.otf

writes `verified-math.woff2` beside this file, under the licence beside it; fontTools and brotli are
needed. The font is that of Debian's `fonts-lmodern`, or of CTAN's `lm-math`. Two things are done
to it:

- Letters and signs that no formula of ours is likely to have are left out. A gate says which
  formula has one that is missing (`tests/test_typeset.py`).
- Chromium gives a bracket that may grow, and a root, the room of the widest of its sizes, however
  small it is drawn. So the sizes of each have one width here, and their blanks are cut.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = Path(__file__).with_name("verified-math.woff2")
NAME = "Verified Math"
# By what is shown: letters upright, as they come; others in italics, bold, script and so on.
SIGNS = (
    "\u00a0±×÷·°¬ˆ˜¯‖…′″‴←↑→↓↔↦⇐⇒⇔⟶⟹⟺∀∂∃∅∇∈∉∋∏∐∑−∓∕∗∘∙√∝∞∠∣∥∧∨∩∪∫∬∮∼≃≅≈≔≠≡≤≥≪≫≺≻⊂⊃⊆⊇⊕⊖⊗⊙⊤⊥⟂⋅⋮⋯⋱"
    "⌈⌉⌊⌋⟨⟩⏞⏟ıȷℓℏℝℕℤℚℂ⁡⁢⁣"
)
RANGES = (
    (0x20, 0x7E), (0x391, 0x3F6),  # ASCII, Greek
    (0x1D400, 0x1D467), (0x1D6A8, 0x1D6E1), (0x210E, 0x210E),  # bold, bold Greek, italic
    (0x1D468, 0x1D49B), (0x1D49C, 0x1D4B5),  # bold italic, script
    (0x1D538, 0x1D551), (0x1D6E2, 0x1D71B), (0x1D736, 0x1D755),  # double-struck, italic Greek, bold
    (0x300, 0x30C), (0x332, 0x332),  # accents
)  # fmt: skip
SCRIPT = "ℬℰℱℋℐℒℳℛ"  # letters that had a place before the others
# The width of each bracket that grows, in thousandths; those that share parts have the same.
WIDTHS = {
    "(": 640, ")": 640, "[": 480, "]": 480, "⌈": 480, "⌉": 480, "⌊": 480, "⌋": 480, "{": 700,
    "}": 700, "⟨": 720, "⟩": 720,
}  # fmt: skip
ROOT = "√"


def letters() -> set[int]:
    """The code points that the font keeps.

    Example:
        >>> ord("σ") in letters(), ord("字") in letters()
        (True, False)
    """
    found = {place for first, last in RANGES for place in range(first, last + 1)}
    return found | {ord(sign) for sign in SIGNS + SCRIPT + "".join(WIDTHS) + ROOT}


def level(font: Any) -> None:
    """Give the sizes of a bracket one width, and the sizes of the root that of the smallest."""
    from fontTools.misc.transform import Transform
    from fontTools.pens.boundsPen import BoundsPen

    variants = font["MATH"].table.MathVariants
    places = {name: place for place, name in enumerate(variants.VertGlyphCoverage.glyphs)}
    glyphs, named = font.getGlyphSet(), font.getBestCmap()

    def drawn(name: str) -> tuple[float, float]:
        pen = BoundsPen(glyphs)
        glyphs[name].draw(pen)
        return pen.bounds[0], pen.bounds[2]

    def sizes(sign: str) -> Iterator[set[str]]:
        """The larger ones, and the parts of which the largest is put together: they move as one."""
        made = variants.VertGlyphConstruction[places[named[ord(sign)]]]
        yield from ({row.VariantGlyph} for row in made.MathGlyphVariantRecord[1:])
        if made.GlyphAssembly:
            yield {part.glyph for part in made.GlyphAssembly.PartRecords}

    moved: set[str] = set()
    for sign, width in WIDTHS.items():
        for names in sizes(sign):
            if not names <= moved:
                edges = [drawn(name) for name in names]
                aside = (width - min(edges)[0] - max(right for _, right in edges)) / 2
                for name in names:
                    _draw(font, name, Transform(1, 0, 0, 1, aside, 0), width)
                moved |= names
    width = font["hmtx"][named[ord(ROOT)]][0]
    for name in set().union(*sizes(ROOT)):
        _draw(font, name, Transform(width / font["hmtx"][name][0], 0, 0, 1, 0, 0), width)


def _draw(font: Any, name: str, moved: Any, width: int) -> None:
    """Draw a glyph moved, and as wide as that."""
    from fontTools.pens.t2CharStringPen import T2CharStringPen
    from fontTools.pens.transformPen import TransformPen

    outlines = font["CFF "].cff.topDictIndex[0]
    before = outlines.CharStrings[name]
    pen = T2CharStringPen(width, None)
    font.getGlyphSet()[name].draw(TransformPen(pen, moved))
    outlines.CharStrings[name] = pen.getCharString(before.private, before.globalSubrs)
    font["hmtx"][name] = (width, font["hmtx"][name][1])


def main(source: Path) -> None:
    """Write the font."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    font = TTFont(source)
    options = subset.Options()
    options.drop_tables += ["FFTM"]
    options.layout_features = []  # letters drawn for small sizes are two thirds of it
    options.hinting = False
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13]
    cut = subset.Subsetter(options)
    cut.populate(unicodes=letters())
    cut.subset(font)
    level(font)
    for number, name in {1: NAME, 3: f"{NAME} 1", 4: NAME, 6: NAME.replace(" ", "")}.items():
        font["name"].setName(name, number, 3, 1, 0x409)
    outlines = font["CFF "].cff
    outlines.fontNames[0] = NAME.replace(" ", "")
    outlines.topDictIndex[0].FullName = outlines.topDictIndex[0].FamilyName = NAME
    font.flavor = "woff2"
    font.save(OUT)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
