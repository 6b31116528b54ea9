r"""Numbers on displays of several lines.

Sphinx puts ``split`` around a formula with line breaks, in which MathJax refuses a ``\tag``.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def unsplit(app: Sphinx, doctree: nodes.document, _: str) -> None:
    r"""Pass displays with both a line break and a ``\tag`` to MathJax as they are written."""
    before, after = app.config.mathjax_display
    for display in doctree.findall(nodes.math_block):
        text = display.astext()
        if r"\\" in text and r"\tag" in text and not display.get("nowrap"):
            display["nowrap"] = True
            display.children = [nodes.Text(before + text + after)]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", unsplit)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
