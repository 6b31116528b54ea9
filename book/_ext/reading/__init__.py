"""What helps to read: findings and stored figures on pages of prose, heads of sections, the state.

Nothing here decides anything, and nothing that is shown was typed: it is read from the claims, from
stored outputs and from files of data.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import heads
from .findings import Finding, Stored
from .notation import Notation
from .state import State


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("finding", Finding)
    app.add_directive("stored", Stored)
    app.add_directive("notation", Notation)
    app.add_directive("state", State)
    app.connect("doctree-resolved", heads.dress)
    app.add_css_file("reading.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
