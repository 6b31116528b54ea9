"""HTML in what Sphinx has read, and files beside the pages: what several extensions do to both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx


def rewrite(doctree: nodes.document, words: str, change: Callable[[str], str]) -> None:
    """Put other HTML instead of each piece of a page that holds certain words."""
    for node in list(doctree.findall(nodes.raw)):
        if node.get("format") == "html" and words in node.astext():
            node.rawsource = change(node.astext())
            node.children = [nodes.Text(node.rawsource)]


def static(app: Sphinx, name: str) -> Path:
    """The place of a file that lies beside the pages; its folder is there."""
    target = Path(app.outdir) / "_static" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
