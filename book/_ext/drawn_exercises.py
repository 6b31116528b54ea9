"""The book's side of drawings and exercises: style sheets, and a way from a question to Colab."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from verified_book.claims import colab_address

CHECK = '<p class="vt-exercise-check">'
# In Jupyter and Colab a drawing carries its looks with it; here they stand once, in drawings.css.
LOOKS = re.compile(
    r'(?<=<g class="vtd-)([a-z]+") (?:fill|stroke)="[^"]*"(?: stroke="[^"]*")?'
    r'|(?<=<figure )(class="vt-[^"]*") style="[^"]*"'
    r'|(?<=<div role="img") style="[^"]*"'
    r'|(?<=<figcaption) style="[^"]*"'
    r'|(?<=aria-hidden="true") style="[^"]*" font-family="[^"]*" fill="currentColor"'
)


def lighten(_: Sphinx, doctree: nodes.document) -> None:
    """Leave out of each drawing what the style sheet says."""
    for node in doctree.findall(nodes.raw):
        text = node.astext()
        if node.get("format") == "html" and '<figure class="vt-drawing' in text:
            node.rawsource = LOOKS.sub(lambda found: found[1] or found[2] or "", text)
            node.children = [nodes.Text(node.rawsource)]


def link_to_colab(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Say under each exercise where its answer can be checked: a page has no kernel."""
    url = colab_address(app.config, f"{docname}.ipynb")
    link = f' <a class="vt-colab" href="{url}">Check it in Colab</a></p>'
    for node in doctree.findall(nodes.raw):
        if node.get("format") == "html" and CHECK in node.astext():
            text = node.astext()
            start = text.index(CHECK)
            text = text[:start] + text[start:].replace("</p>", link, 1)
            node.children = [nodes.Text(text)]
            node.rawsource = text


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", lighten)
    app.connect("doctree-resolved", link_to_colab)
    app.add_css_file("drawings.css")
    app.add_css_file("exercises.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
