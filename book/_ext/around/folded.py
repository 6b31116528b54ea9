"""What a reader need not load: evidence and code that is folded, in a script beside the page.

A script and no data file: a page that is opened from the disk may read nothing else.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

# What `verifiedbook.sphinx.folding` puts around what a fold holds.
HELD = re.compile(r"<!--held ([\w-]+)-->\n?(.*?)<!--/held-->\n?", re.S)
NAME = "{page}.evidence.js"


def taken(body: str) -> tuple[str, dict[str, str]]:
    """A page without what its folds hold, and what that is by their anchors.

    Args:
        body: of a page, as HTML.

    Example:
        >>> taken("<details>A<!--held A-1--><p>B</p><!--/held-->C</details>")
        ('<details>AC</details>', {'A-1': '<p>B</p>'})
    """
    return HELD.sub("", body), {found[1]: found[2] for found in HELD.finditer(body)}


def script(parts: dict[str, str]) -> str:
    r"""The script that hands over what folds hold: a template for each.

    Args:
        parts: HTML by anchor.

    Example:
        >>> print(script({"A-1": r"`\(x\)` ${y}"}))
        vtEvidence(String.raw`<template data-of="A-1">&#96;\(x\)&#96; &#36;{y}</template>
        `);
        <BLANKLINE>
    """
    shown = "".join(f'<template data-of="{of}">{html}</template>\n' for of, html in parts.items())
    plain = shown.replace("`", "&#96;").replace("${", "&#36;{")
    return f"vtEvidence(String.raw`{plain}`);\n"


def put_beside(folder: Path, page: str, parts: dict[str, str]) -> str:
    """Write the script of a page, and return the mark in the page's head that names it.

    Args:
        folder: of the pages.
        page: its name, without an ending.
        parts: HTML by anchor.

    Returns:
        A meta element; the address has a mark of the contents, so that no browser keeps an old one.
    """
    file = folder / NAME.format(page=page)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text := script(parts), encoding="utf-8")
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f'<meta name="vt-evidence" content="{file.name}?v={mark}" />\n'
