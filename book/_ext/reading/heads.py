"""The head of a section and its end: how long it takes, what it needs, what to remember.

The time is computed from what stands open: words, displays, figures and lines of code. What is
folded, such as evidence and the code of checks, is not counted; neither are the exercises.
"""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

SECTIONS = "notebooks/"
NEEDS, REMEMBER = "Needs:", "Remember."
WORDS_A_MINUTE = 200
SECONDS = {"display": 15, "figure": 25, "line of code": 3}
EXERCISE = "vt-exercise"
FIGURE = "tag_figure"
FOLDED = {"cell_output", FIGURE, "tag_set-up", "tag_card", "tag_check", "tag_folded"}


def dress(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the time under a section's title, and mark what it needs and what to remember."""
    for paragraph in doctree.findall(nodes.paragraph):
        if _begins(paragraph, nodes.emphasis, NEEDS):
            paragraph["classes"].append("vt-needs")
    for quote in doctree.findall(nodes.block_quote):
        first = quote.next_node(nodes.paragraph)
        if first is not None and _begins(first, nodes.strong, REMEMBER):
            quote["classes"].append("vt-remember")
    if docname.startswith(SECTIONS) and (section := doctree.next_node(nodes.section)):
        section.insert(1, nodes.raw("", _said(doctree), format="html"))


def _begins(paragraph: nodes.paragraph, kind: type[nodes.Element], word: str) -> bool:
    first = next((part for part in paragraph.children if part.astext()), None)
    return isinstance(first, kind) and first.astext().startswith(word)


def _said(doctree: nodes.document) -> str:
    exercises = _exercises(doctree)
    parts = [f"{minutes(doctree)} minutes to read"]
    if exercises:
        parts.append(f"{exercises} exercise{'s' if exercises > 1 else ''}")
    return f'<p class="vt-minutes">{" · ".join(parts)}</p>'


def minutes(doctree: nodes.document) -> int:
    """How long it takes to read what stands open on a page, at least one minute.

    Args:
        doctree: the page, as Sphinx has read it.
    """
    seconds = 0.0
    for node in _open(doctree):
        if isinstance(node, nodes.math_block):
            seconds += SECONDS["display"]
        elif isinstance(node, nodes.literal_block):
            seconds += SECONDS["line of code"] * len(node.astext().strip().splitlines())
        elif isinstance(node, nodes.image):
            seconds += SECONDS["figure"]
        elif isinstance(node, nodes.TextElement):
            seconds += 60 * len(node.astext().split()) / WORDS_A_MINUTE
    for cell in doctree.findall(nodes.container):
        if FIGURE in cell["classes"] and not _exercises(cell):
            seconds += SECONDS["figure"]
    return max(1, round(seconds / 60))


def _exercises(part: nodes.Element) -> int:
    shown = (node.astext() for node in part.findall(nodes.raw) if node.get("format") == "html")
    return sum(html.count(f'class="{EXERCISE}"') for html in shown)


def _open(node: nodes.Element) -> Iterator[nodes.Node]:
    """What a reader sees without a click, each text once."""
    for child in node.children:
        if not isinstance(child, nodes.Element) or isinstance(child, nodes.comment | nodes.raw):
            continue
        if FOLDED & set(child.get("classes", [])):
            continue
        if isinstance(child, nodes.TextElement | nodes.math_block | nodes.image):
            yield child
        else:
            yield from _open(child)
