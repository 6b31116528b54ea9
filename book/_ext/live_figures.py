"""Live figures in the book: one script and one style sheet serve all, and only pages that have one.

In a notebook's output the script and the style sheet travel with the figure, so that it works in
Jupyter and in Colab. Here they are taken out, and written once beside the pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "packages/verifiedbook/src"))

from docutils import nodes
from sphinx.application import Sphinx

from verifiedbook.sphinx.html_nodes import rewrite, static

FILES = ("live.js", "live.css")
SOURCE = Path(__file__).parents[2] / "packages/verifiedbook/src/verifiedbook/live_figures"
CARRIED = re.compile(r'<(script|style) class="vt-live-\1">.*?</\1>', re.S)


def write_files(app: Sphinx) -> None:
    """Write the script and the style sheet as the figures carry them."""
    from verifiedbook.live_figures.compressed import compressed

    for name in FILES:
        text = (SOURCE / name).read_text(encoding="utf-8")
        static(app, name).write_text(compressed(text, Path(name).suffix), encoding="utf-8")


def take_out(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Take script and style out of the figures of a page."""
    rewrite(doctree, 'class="vt-live"', lambda html: CARRIED.sub("", html))


def load_where_needed(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Load the files on pages with a live figure, and on no other."""
    if 'class="vt-live"' in (context.get("body") or ""):
        app.add_js_file("live.js", loading_method="defer")
        app.add_css_file("live.css")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_files)
    app.connect("doctree-resolved", take_out)
    app.connect("html-page-context", load_where_needed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
