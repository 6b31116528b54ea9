"""What a page can do without: marks that change nothing, and notes to the maintainers."""

from __future__ import annotations

import re

# Code has colours for what structures it: keywords, strings, comments, names that it defines.
PLAIN = re.compile(r'<span class="(?:n|nn|nx|p|pm|w|o|mi|mf|nb|bp|si|sa|ne|fm|vm)">([^<]*)</span>')
# Two marks of one class side by side, such as the quotes of an f-string.
TWINS = re.compile(r'(<span class="(s1|s2|k)">[^<]*)</span><span class="\2">')
OWNERS = re.compile(r"<!-- owners\b.*?-->\n?", re.S)
# What a record and a card carry for Jupyter and Colab; here the style sheets say the same.
BOXES = re.compile(r' style="border-left:4px solid #[0-9a-f]{6};padding:\.1em \.7em"')
# In a table of measurements every number is one of the run's; the style sheet says so at once.
OF_A_RUN = re.compile(r'<td><span class="vt-volatile">([^<]*)</span></td>')
AS_IT_IS = re.compile(r"(?s)(<(pre|textarea|script|style)\b.*?</\2>)")
INDENTS = re.compile(r"\s*\n\s*")
# The theme looks for a class on the chapters' links alone, where a marker opens their sections.
SECTIONS = re.compile(r'(<li class="toctree-l2[^"]*"><a) class="reference internal"')


def lighter(body: str) -> str:
    """The same page with fewer bytes: no reader and no style sees a difference.

    Example:
        >>> lighter('<span class="n">x</span><span class="s2">a</span><span class="s2">b</span>')
        'x<span class="s2">ab</span>'
    """
    body = OF_A_RUN.sub(r"<td>\1</td>", body)
    return TWINS.sub(r"\1", PLAIN.sub(r"\1", BOXES.sub("", OWNERS.sub("", body))))


def squeezed(page: str) -> str:
    r"""A whole page without what its templates put in for nobody; what is preformatted stays.

    Example:
        >>> squeezed("<ul>\n   \n  <li>a</li>\n</ul><pre>a\n  b</pre>")
        '<ul>\n<li>a</li>\n</ul><pre>a\n  b</pre>'
    """
    parts = AS_IT_IS.split(page)  # text, preformatted, its tag, text, …
    return "".join(
        part if i % 3 == 1 else SECTIONS.sub(r"\1", INDENTS.sub("\n", part))
        for i, part in enumerate(parts)
        if i % 3 < 2
    )
