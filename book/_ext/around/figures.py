"""Numbers of a section, in its title and on its figures, and the captions under these."""

from __future__ import annotations

import re
from itertools import count

from docutils import nodes
from sphinx.application import Sphinx

SECTION = re.compile(r"notebooks/(\d+)-[^/]+/(\d+)-")
# A drawing or a live figure has its caption; a plot has a text in place of a picture.
PICTURE = re.compile(
    r"(?P<caption><figcaption[^>]*>)"
    r'|<img alt="(?P<seen>[^"]*)" src="(?P<file>[^"]*_images/[^"]*)"[^>]*>'
)


def number_title(app: Sphinx, doctree: nodes.document) -> None:
    """Put a section's number before its title, for the page, the sidebar and the search."""
    section = SECTION.match(app.env.docname)
    title = next(doctree.findall(nodes.title), None)
    if section and title is not None:
        title.insert(0, nodes.Text(f"{section[1]}.{section[2]} · "))


def numbered(body: str, page: str) -> str:
    """The same page with numbers on its figures.

    What a plot shows was told to those alone who do not see it; it is the caption for everybody.

    Args:
        body: of a page, as HTML.
        page: its name; figures are numbered in sections of chapters alone.

    Example:
        >>> numbered('<img alt="A line." src="../_images/a.png" />', "notebooks/3-first/4-x")[:48]
        '<figure class="vt-plot"><img alt="Figure 3.4.1, '
    """
    section = SECTION.match(page)
    if not section:
        return body
    places = count(1)

    def name(found: re.Match[str]) -> str:
        number = f"Figure {section[1]}.{section[2]}.{next(places)}"
        label = f'<span class="vt-number">{number}</span> '
        if found["caption"]:
            return found["caption"] + label
        return (
            f'<figure class="vt-plot"><img alt="{number}, told below" src="{found["file"]}" />'
            f"<figcaption>{label}{found['seen']}</figcaption></figure>"
        )

    return PICTURE.sub(name, body)
