"""What a dare or a guess comes to waits, until the reader has said something or asks for it.

A dare is a paragraph with **Break it** in it; what follows it in its own cell is what comes out. A
guess is asked in ``<span class="vt-guess name">``, answered in ``<span class="vt-guessed name">``.
On the page the answers are `noscript` elements: who has scripts cannot see, hear or find one before
its time (`waiting.js`), who has none finds a dare's in a fold, and a guess's in its place.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from ..account.rendering.held_answers import DARE, WHAT

_CELL = 10_000  # MyST-NB counts the lines of each cell from the next multiple


class Waiting(nodes.General, nodes.Element):
    """What comes out of a dare."""


def visit_waiting(writer: Any, _: Waiting) -> None:
    writer.body.append(f'<div class="vt-waits"><noscript><details><summary>{WHAT}</summary>\n')


def depart_waiting(writer: Any, _: Waiting) -> None:
    writer.body.append("</details></noscript></div>\n")


def nothing(writer: Any, node: nodes.Element) -> None:
    """In other formats what waits is what it holds."""


def hold_back(app: Sphinx, doctree: nodes.document) -> None:
    """Let the answers of a notebook's page wait."""
    if not str(app.env.doc2path(app.env.docname)).endswith(".ipynb"):
        return
    for dare in [*doctree.findall(is_dare)]:
        behind = dare.parent[dare.parent.index(dare) + 1 :]
        answer = [node for node in behind if _cell(node) == _cell(dare)]
        if answer:
            held = Waiting()
            dare.parent.insert(dare.parent.index(answer[0]), held)
            for node in answer:
                dare.parent.remove(node)
                held += node
    for begin in [*doctree.findall(_is_guessed)]:
        if not _within(begin):
            end = next(n for n in begin.findall(nodes.raw, descend=False, siblings=True)
                       if n is not begin and n.astext() == "</span>")  # fmt: skip
            _write(begin, begin.astext() + "<noscript>")
            _write(end, "</noscript></span>")


def is_dare(node: nodes.Node) -> bool:
    """Whether a node is a paragraph with a line to break in it."""
    return isinstance(node, nodes.paragraph) and any(
        strong.astext().startswith(DARE) for strong in node.findall(nodes.strong)
    )


def setup(app: Sphinx) -> dict[str, Any]:
    others = {name: (nothing, nothing) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(Waiting, html=(visit_waiting, depart_waiting), **others)
    app.connect("doctree-read", hold_back)
    app.add_css_file("waiting.css")
    app.add_js_file("waiting.js", priority=100, loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _cell(node: nodes.Node) -> int:
    return next(n.line for n in node.findall() if n.line) // _CELL


def _is_guessed(node: nodes.Node) -> bool:
    return isinstance(node, nodes.raw) and node.astext().startswith('<span class="vt-guessed ')


def _within(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, Waiting):
            return True
    return False


def _write(node: nodes.raw, html: str) -> None:
    node.rawsource, node.children = html, [nodes.Text(html)]
