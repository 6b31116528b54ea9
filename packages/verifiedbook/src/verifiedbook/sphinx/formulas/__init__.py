r"""Formulas are typeset when the book is built: MathML, which browsers draw themselves.

Markdown's formulas are nodes; those in raw HTML, of claims and records, stand there as ``\(…\)``.
A formula that the converter refuses is a warning, which fails the build. Its TeX is kept in the
attribute ``alttext``: a page copies it from there, and gates read it.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from ..html_nodes import static

logger = logging.getLogger(__name__)

FONT = Path(__file__).with_name("verified-math.woff2")
SHEET = "formulas.css"
# The letter of the code and of the records; then what SymPy and plain TeX write, in LaTeX's words.
MACROS = {
    "epsilon": r"\varepsilon",
    "substack": r"\begin{subarray}{c}#1\end{subarray}",
    "pmatrix": r"\begin{pmatrix}#1\end{pmatrix}",
    "cr": r"\\",
}
TAG = re.compile(r"\\tag\{([^{}]*)\}")
# What makes a bracket grow. Chromium gives a growing bracket the room of the font's widest: one
# around a line of letters stays as it is.
HIGH = {"mfrac", "mtable", "munder", "mover", "munderover", "msubsup"}
GROWING = frozenset("()[]{}⟨⟩⌈⌉⌊⌋")
SCRIPTED, LIMITED = {"msup", "msub", "msubsup"}, {"munder", "mover", "munderover"}
COMPACT = {"mfrac", "msqrt", "mroot", "mtable"}
SMALLEST = 2  # a script's script
CHANCERY = "\ufe00"  # asks for another shape of a script letter; the font has one
# A formula in HTML, or what holds none: comments, code, tags.
FORMULA = re.compile(
    r"""(?sx)\\\((?P<tex>[^<]*?)\\\)
    |<!--.*?-->|<(?P<plain>script|style|pre|code|textarea)\b.*?</(?P=plain)>
    |<(?:[^>"']|"[^"]*"|'[^']*')*>"""
)


@cache
def _converter() -> LatexToMathML:
    return LatexToMathML(macros=MACROS, fancy_error=False)


def _no_smaller(part: ET.Element, depth: int, display: bool) -> None:
    """Let no letter be smaller than those of a script's script, as in TeX; browsers go on."""
    depth = int(part.get("scriptlevel", depth))
    display = part.get("displaystyle", str(display).lower()) == "true"
    for place, child in enumerate(part):
        script = part.tag in SCRIPTED | LIMITED and place > 0
        deeper = depth + (script or (part.tag == "mfrac" and not display))
        if deeper > SMALLEST:
            child.set("scriptlevel", str(deeper := SMALLEST))
        _no_smaller(child, deeper, display and not script and part.tag not in COMPACT)


def _in_row(bracket: ET.Element) -> ET.Element:
    r"""A bracket of ``\Bigr)^2`` in a row, where Chromium draws it as large as is asked."""
    row = ET.Element("mrow")
    row.append(bracket)
    return row


@cache
def mathml(tex: str, *, display: bool = False) -> str:
    r"""A formula as MathML.

    Args:
        tex: the formula, as LaTeX; a display may have a ``\tag``.
        display: whether it stands alone.

    Raises:
        ValueError: it cannot be typeset; the message says why and where.

    Example:
        >>> mathml(r"\sigma^2")
        '<math alttext="\\sigma^2"><msup><mi>σ</mi><mn>2</mn></msup></math>'
        >>> mathml(r"\unknown x")
        Traceback (most recent call last):
        ...
        ValueError: \unknown x: 0: Unknown command "\unknown".
    """
    tex = tex.strip()
    numbered = TAG.search(tex) if display else None
    asked = tex
    if numbered:
        body = TAG.sub("", tex)
        asked = rf"\begin{{equation*}}{body}\tag{{{numbered[1]}}}\end{{equation*}}"
    try:
        made = _converter().convert_with_local_state(asked, displaystyle=display)
    except LatexError as error:
        raise ValueError(f"{tex}: {error}") from None
    tree = ET.fromstring(made.replace("&ApplyFunction;", "\u2061").replace(CHANCERY, ""))
    for part in [*tree.iter()]:
        if part.tag == "mrow":
            _keep_low(part)
        if part.tag in SCRIPTED and part[0].get("minsize"):
            part[0] = _in_row(part[0])
    _no_smaller(tree, 0, display)
    tree.set("alttext", re.sub(r"\s*\n\s*", " ", tex))
    return ET.tostring(tree, encoding="unicode")


def _keep_low(row: ET.Element) -> None:
    r"""Let brackets of ``\left`` and ``\right`` that hold but a line be those of a line."""
    ends = [part for part in (*row[:1], *row[-1:]) if part.tag == "mo" and part.text in GROWING]
    if ends and all(part.tag not in HIGH for part in row.iter()):
        for part in ends:
            part.set("stretchy", "false")


def typeset(html: str, place: object = None) -> str:
    r"""HTML with every ``\(…\)`` in its text typeset.

    Args:
        html: of a page, or a part; code is left as it is.
        place: what a warning names.

    Example:
        >>> typeset(r"<p>\(n\)</p><code>\(n\)</code>")
        '<p><span class="math"><math alttext="n"><mi>n</mi></math></span></p><code>\\(n\\)</code>'
    """

    def made(found: re.Match[str]) -> str:
        if found["tex"] is None:
            return found[0]
        return shown(unescape(found["tex"]), place)

    return FORMULA.sub(made, html)


def shown(tex: str, place: object = None, *, display: bool = False) -> str:
    """A formula as HTML; one that cannot be typeset is a warning, and stands as code.

    Args:
        tex: the formula, as LaTeX.
        place: what a warning names, a page or a node.
        display: whether it stands alone; without, it gets a box that scrolls where it is wide.
    """
    try:
        made = mathml(tex, display=display)
    except ValueError as error:
        logger.warning("formula cannot be typeset: %s", error, location=place)
        return f"<code>{escape(tex)}</code>"
    return made if display else f'<span class="math">{made}</span>'


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    writer.body.append(shown(node.astext(), node))
    raise nodes.SkipNode


def visit_display(writer: Any, node: nodes.math_block) -> None:
    """Write a formula that stands alone, with the number that Sphinx gives it, if any."""
    tex = node.astext()
    if node.get("number"):
        tex += rf"\tag{{{get_node_equation_number(writer, node)}}}"
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(shown(tex, node, display=True) + "</div>\n")
    raise nodes.SkipNode


def typeset_page(app: Sphinx, page: str, template: str, context: dict[str, Any], _: object) -> None:
    """Typeset what stands in the raw HTML of a page."""
    if body := context.get("body"):
        context["body"] = typeset(body, page)


def choose(app: Sphinx, config: Config) -> None:
    """Have formulas written by this module."""
    config.html_math_renderer = "mathml"


def write_sheet(app: Sphinx) -> None:
    """Write the style sheet with the font in it.

    As data: a page from the disk may load no font in every browser, and nothing is drawn twice.
    """
    font = base64.b64encode(FONT.read_bytes()).decode()
    sheet = Path(__file__).with_name(SHEET).read_text(encoding="utf-8")
    static(app, SHEET).write_text(sheet.replace("FONT", font), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.connect("config-inited", choose)
    app.connect("builder-inited", write_sheet)
    # Before what folds hold is taken out of a page, and Chinese words are marked.
    app.connect("html-page-context", typeset_page, priority=800)
    app.add_css_file(SHEET)
    # The font is in the sheet, but is read when something is drawn with it: lines would break anew.
    app.add_js_file(None, body="document.fonts.load('1em \"Verified Math\"')")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
