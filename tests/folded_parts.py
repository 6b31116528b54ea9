"""What a page's folds hold: read from the script beside the page, and put where it opens.

The gates read a page as somebody does who has opened every fold.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path

from bs4 import BeautifulSoup
from pygments.token import STANDARD_TYPES

NAMED = re.compile(r'<meta name="vt-evidence" content="([^"?]+)\?v=[0-9a-f]+"')
HANDED = re.compile(r"vtEvidence\(String\.raw`((?:[^`$]|\$(?!\{))*)`\);\n")
PART = re.compile(r'(?s)<template data-of="([^"]+)">(.*?)</template>')
FOLD = re.compile(
    r'(?s)<details class="vt-(?:strip|code|set-up)" id="([^"]+)"[^>]*><summary>.*?</summary>\n?'
)
# More than half of all tags only colour a word of code.
COLOURED = re.compile(
    rf'<span class="(?:{"|".join(filter(None, STANDARD_TYPES.values()))})">([^<]*)</span>'
)
TYPESET = re.compile(r'(?s)<math\b[^>]*\balttext="([^"]*)"[^>]*>.*?</math>')
_TEXTS: dict[tuple[int, int], str] = {}  # by the place of a file, and when it was written


def whole(page: Path) -> str:
    """The HTML of a page with every fold filled; of other pages, as it stands.

    Args:
        page: a file; its script lies beside it. What has no place, or comes from a script that does
            anything but hand over, is left out, so that the gates miss it.
    """
    text = _read(page)
    return _filled(text, _said(page, text) or "")


def parsed(text: str) -> BeautifulSoup:
    """The HTML of a page as a tree; its code has words without colours, its formulas are TeX."""
    return BeautifulSoup(TYPESET.sub(r"<math>\1</math>", COLOURED.sub(r"\1", text)), "html.parser")


def _read(file: Path) -> str:
    """What a file holds, read once: a spoiled book is links to the sound one, but for a page."""
    told = file.stat()
    known = told.st_ino, told.st_mtime_ns
    if known not in _TEXTS:
        _TEXTS[known] = file.read_text(encoding="utf-8")
    return _TEXTS[known]


@cache
def _filled(text: str, said: str) -> str:
    """The text of a page, filled from what its script says; the same page is asked for often."""
    parts = _handed(said)
    return FOLD.sub(lambda fold: fold[0] + parts.get(fold[1], ""), text)


def _said(page: Path, text: str) -> str | None:
    """What stands in the script that a page names, or nothing."""
    named = NAMED.search(text)
    file = named and page.parent / unescape(named[1])
    return _read(file) if file and file.exists() else None


@cache
def _handed(said: str) -> dict[str, str]:
    """What a script hands over, by folds; nothing where it does or says anything else."""
    handed = HANDED.fullmatch(said)
    if not handed or PART.sub("", handed[1]).strip():
        return {}
    return dict(PART.findall(handed[1]))
