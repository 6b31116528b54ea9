"""Style sheets of the drawings and of the exercises."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_css_file("drawings.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
