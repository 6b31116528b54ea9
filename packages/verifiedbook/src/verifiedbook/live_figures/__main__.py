"""Write the present script and style sheet into stored outputs, without running a notebook.

python -m verifiedbook.live_figures notebooks/*/*.ipynb
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat

from ..writing import write_whole
from .figure import script_tag, style_tag

CARRIED = re.compile(r'<(script|style) class="vt-live-\1">.*?</\1>', re.S)


def rewritten(html: str) -> str:
    """An output with the present script and style instead of those that it has.

    Example:
        >>> old = '<script class="vt-live-script">1</script>'
        >>> rewritten(old) == script_tag()
        True
    """
    present = {"script": script_tag(), "style": style_tag()}
    return CARRIED.sub(lambda found: present[found[1]], html)


def main(paths: list[str]) -> None:
    """Rewrite the notebooks that are named, and say which have changed."""
    for path in map(Path, paths):
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        changed = False
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                before = data.get("text/html", "")
                if "vt-live-script" in before:
                    data["text/html"] = rewritten(before)
                    changed |= data["text/html"] != before
        if changed:
            write_whole(path, nbformat.writes(notebook) + "\n")
            print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
