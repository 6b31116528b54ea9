"""What a page can do without: marks that change nothing."""

from __future__ import annotations

import re
from decimal import Decimal

# Code has colours for what structures it: keywords, strings, comments, names that it defines.
PLAIN = re.compile(r'<span class="(?:n|nn|nx|p|pm|w|o|mi|mf|nb|bp|si|sa|ne|fm|vm)">([^<]*)</span>')
# Two marks of one class side by side, such as the quotes of an f-string.
TWINS = re.compile(r'(<span class="(s1|s2|k)">[^<]*)</span><span class="\2">')
# What a record and a card carry for Jupyter and Colab; here the style sheets say the same.
BOXES = re.compile(r' style="border-left:4px solid #[0-9a-f]{6};padding:\.1em \.7em"')
# In a table of measurements every number is one of the run's; the style sheet says so at once.
OF_A_RUN = re.compile(r'<td><span class="vt-volatile">([^<]*)</span></td>')
# The places of a line in a picture, each from the picture's corner.
LINE = re.compile(r'(?<= d="M)[\d. -]+(?:L[\d. -]+){2,}')
# What a drawing says of its parts for frames without style sheets, or what goes without saying.
DRAWN = re.compile(r"<(?:text|tspan|line|rect|circle) [^>]*>")
SAID = {
    re.compile(' font-family="Georgia,\'Times New Roman\',serif" font-style="italic"'): (
        ' class="vtd-letter"'
    ),
    re.compile(r' text-anchor="start"| rx="0"'): "",
    re.compile(r'(="-?\d+)\.0"'): r'\1"',
}
AS_IT_IS = re.compile(r"(?s)(<(pre|textarea|script|style)\b.*?</\2>)")
NOTES = re.compile(r"(?s)<!--(?!\[).*?-->")  # a template's to itself
INDENTS = re.compile(r"\s*\n\s*")
# The theme looks for a class on the chapters' links alone, where a marker opens their sections.
SECTIONS = re.compile(r'(<li class="toctree-l2[^"]*"><a) class="reference internal"')


def lighter(body: str) -> str:
    """The same page with fewer bytes: no reader and no style sees a difference.

    Example:
        >>> lighter('<span class="n">x</span><span class="s2">a</span><span class="s2">b</span>')
        'x<span class="s2">ab</span>'
    """
    body = DRAWN.sub(plainly, body)
    body = LINE.sub(stepwise, OF_A_RUN.sub(r"<td>\1</td>", body))
    return TWINS.sub(r"\1", PLAIN.sub(r"\1", BOXES.sub("", body)))


def plainly(part: re.Match[str]) -> str:
    """A part of a drawing without what the book's style sheet says, or nobody needs to say.

    Args:
        part: what was found by `DRAWN`.

    Example:
        >>> DRAWN.sub(plainly, '<text x="8.0" y="7.5" text-anchor="start">')
        '<text x="8" y="7.5">'
    """
    said = part[0]
    for pattern, shorter in SAID.items():
        said = pattern.sub(shorter, said)
    return said


def stepwise(line: re.Match[str]) -> str:
    """The places of a line, each as a step from the one before: the same line in fewer letters.

    Args:
        line: what was found by `LINE`.

    Example:
        >>> LINE.sub(stepwise, '<path d="M16 135.4L18.7 135L20 135.1L20.5 100"/>')
        '<path d="M16 135.4l2.7-.4 1.3 .1 .5-35.1"/>'
    """
    first, *places = ([Decimal(n) for n in place.split()] for place in line[0].split("L"))
    made, before = "", first
    for place in places:
        for step in (now - then for now, then in zip(place, before, strict=True)):
            said = f"{step.normalize() + 0:f}"
            said = said.replace("0.", ".") if abs(step) < 1 else said
            made += f" {said}" if made and not said.startswith("-") else said
        before = place
    return f"{first[0]} {first[1]}l{made}"


def squeezed(page: str) -> str:
    r"""A whole page without what its templates put in for nobody; what is preformatted stays.

    Example:
        >>> squeezed("<ul>\n <!-- one -->\n  <li>a</li>\n</ul><pre>a\n  b</pre>")
        '<ul>\n<li>a</li>\n</ul><pre>a\n  b</pre>'
    """
    parts = AS_IT_IS.split(page)  # text, preformatted, its tag, text, …
    return "".join(
        part if i % 3 == 1 else SECTIONS.sub(r"\1", INDENTS.sub("\n", NOTES.sub("", part)))
        for i, part in enumerate(parts)
        if i % 3 < 2
    )
