"""What a page's folds hold: read from the script beside the page, and put where it opens.

The gates read a page as somebody does who has opened every fold.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path

NAMED = re.compile(r'<meta name="vt-evidence" content="([^"?]+)\?v=[0-9a-f]+"')
HANDED = re.compile(r"vtEvidence\(String\.raw`((?:[^`$]|\$(?!\{))*)`\);\n")
PART = re.compile(r'(?s)<template data-of="([^"]+)">(.*?)</template>')
FOLD = re.compile(
    r'(?s)<details class="vt-(?:strip|code|set-up)" id="([^"]+)"[^>]*><summary>.*?</summary>\n?'
)
STRANGE = "a script that hands over something else"


def whole(page: Path) -> str:
    """The HTML of a page with every fold filled; of other pages, as it stands.

    Args:
        page: a file; its script lies beside it. What has no place is left out: see `astray`.
    """
    text = page.read_text(encoding="utf-8")
    return _filled(text, _said(page, text) or "")


@cache
def _filled(text: str, said: str) -> str:
    """The text of a page, filled from what its script says; the same page is asked for often."""
    parts = _handed(said)[0]
    return FOLD.sub(lambda fold: fold[0] + parts.get(fold[1], ""), text)


def astray(html: Path) -> list[str]:
    """Folds that hold nothing, what has no fold to stand in, and scripts not a page's own."""
    found, read = [], set()
    for page in sorted(html.glob("notebooks/*/*.html")):
        text = page.read_text(encoding="utf-8")
        parts, faults = _parts(page, text)
        folds = [fold[1] for fold in FOLD.finditer(text)]
        if folds and not NAMED.search(text):
            faults = ["names no script"]
        elif not faults:
            faults = [f"the fold {name} holds nothing" for name in folds if name not in parts]
            faults += [f"no fold for what {name} holds" for name in parts.keys() - set(folds)]
        found += [f"{page.relative_to(html).as_posix()}: {fault}" for fault in faults]
        read |= {page.parent / name for name in NAMED.findall(text)}
    others = set(html.rglob("*.evidence.js")) - read
    return found + [f"{path.relative_to(html)}: no page names it" for path in sorted(others)]


def _parts(page: Path, text: str) -> tuple[dict[str, str], list[str]]:
    """What the script of a page holds by its folds, and what is wrong with the script."""
    named = NAMED.search(text)
    if not named:
        return {}, []
    said = _said(page, text)
    return _handed(said) if said is not None else ({}, [f"{named[1]} is missing"])


def _said(page: Path, text: str) -> str | None:
    """What stands in the script that a page names, or nothing."""
    named = NAMED.search(text)
    file = named and page.parent / unescape(named[1])
    return file.read_text(encoding="utf-8") if file and file.exists() else None


@cache
def _handed(said: str) -> tuple[dict[str, str], list[str]]:
    """What a script hands over, by folds, and what is wrong with it."""
    handed = HANDED.fullmatch(said)
    if not handed or PART.sub("", handed[1]).strip():
        return {}, [STRANGE]
    return {of: html for of, html in PART.findall(handed[1]) if html.strip()}, []
