"""A finding as a box with its number and its verdict, and a figure that a notebook has stored."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from verifiedbook.sphinx import render
from verifiedbook.sphinx.claims import Claims, claim_uri, page_uri, raw

LIVE = "<vt-live"
BOOK = "book"  # the statements that no article makes


class Finding(SphinxDirective):
    """A claim as something found: words as the content, `:number:` in large, the way to the run."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"number": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        claim = Claims.of(self.env).by_id.get(self.arguments[0])
        if claim is None or not claim.notebook:
            raise self.error(f"unknown, or decided nowhere: {self.arguments[0]}")
        box = nodes.container(classes=["vt-finding"])
        if number := self.options.get("number"):
            shown, _ = self.state.inline_text(number, self.lineno)
            box += nodes.paragraph("", "", *shown, classes=["vt-finding-number"])
        self.state.nested_parse(self.content, self.content_offset, box)
        way = nodes.paragraph(classes=["vt-finding-way"])
        way += nodes.reference(
            "", f"Section {render.section(claim)}", refuri=claim_uri(self.env, claim.id)
        )
        way += nodes.Text(" · our statement " if claim.article == BOOK else " · the statement ")
        page = partial(page_uri, self.env)
        way += nodes.reference("", claim.id, refuri=page(claim.id))
        way += nodes.Text(" ")
        way += raw(render.badge(claim, page))
        box += way
        return [box]


class Stored(SphinxDirective):
    """A live figure that a notebook has stored: its path, and `:number:` where it has several."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"number": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / self.arguments[0]
        if not path.is_file():
            raise self.error(f"there is no notebook {self.arguments[0]}")
        self.env.note_dependency(str(path))
        found, number = figures(path), self.options.get("number", 1)
        if number > len(found):
            raise self.error(f"{self.arguments[0]} has {len(found)} live figures, not {number}")
        return [raw(found[number - 1])]


def figures(notebook: Path) -> list[str]:
    """The live figures that a notebook has stored, as HTML, in their order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    shown = (
        "".join(output.get("data", {}).get("text/html", []))
        for cell in cells
        for output in cell.get("outputs", [])
    )
    return [html for html in shown if LIVE in html]
