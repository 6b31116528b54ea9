"""The search: what people type leads to the section that answers it.

`terms.yaml` gives pages the words that they are searched by and do not use; they become entries of
Sphinx's index, which its search puts first. `scorer.js` is what Sphinx takes for its order.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config

from verified_transformer.engine.account.registry import contents

HERE = Path(__file__).parent


@cache
def terms() -> dict[str, list[str]]:
    """By page, what it is searched by."""
    found: dict[str, list[str]] = contents(HERE / "terms.yaml")
    return found


def set_scorer(app: Sphinx, config: Config) -> None:
    """Give Sphinx's search our order of results."""
    config.html_search_scorer = str(HERE / "scorer.js")


def add_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Put a page's terms into Sphinx's index."""
    entries = [("single", term, "", "main", None) for term in terms().get(app.env.docname, ())]
    if entries:
        app.env.note_dependency(str(HERE / "terms.yaml"))
        doctree += addnodes.index(entries=entries)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", set_scorer)
    app.connect("doctree-read", add_entries)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
