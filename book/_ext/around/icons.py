"""The icons in use, as a style sheet: masks in the text's colour, cut out of the theme's own file.

The theme draws its icons by a script of 1.5 MB, of which the book shows twenty. What stands in the
built pages and in the theme's scripts is collected, so that no list has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from pydata_sphinx_theme import __file__ as theme

FILE = "icons.css"
SCRIPT = Path("scripts/fontawesome.js")
SOURCE = Path(theme).parent / "theme/pydata_sphinx_theme/static" / SCRIPT
NAME = re.compile(r"\bfa-([a-z][a-z0-9-]*)\b")
TAG = re.compile(r"<(?:i|span)\s[^>]*\bfa-[^>]*>")
# Words of the same form that are no icons.
MODIFIERS = {"solid", "regular", "brands", "lg", "xs", "sm", "fw", "inline"}
ICON = re.compile(
    r"""(?P<quote>"?)(?P<name>[a-z0-9-]+)(?P=quote):\[(?P<width>\d+),(?P<height>\d+),"""
    r"""\[[^\]]*\],"[0-9a-f]+",\s*"(?P<path>[^"]+)"\]"""
)
HEAD = "/* Those icons of Font Awesome Free (fontawesome.com, CC BY 4.0) that are in use. */\n"
BOX = (
    "{content:'';display:inline-block;width:var(--icon-width);height:1em;vertical-align:-.125em;"
    "background:currentColor;mask:var(--icon) center/contain no-repeat;"
    "-webkit-mask:var(--icon) center/contain no-repeat}"
)


def used(html: Path) -> set[str]:
    """The names of the icons on the pages of a folder, and of those that its scripts put there."""
    return set(_names(html)) - MODIFIERS


def _names(html: Path) -> Iterator[str]:
    for page in html.rglob("*.html"):
        for tag in TAG.findall(page.read_text(encoding="utf-8")):
            yield from NAME.findall(tag)
    for script in (html / "_static").rglob("*.js"):
        if script.name != SCRIPT.name:
            yield from NAME.findall(script.read_text(encoding="utf-8"))


def drawn(names: set[str]) -> dict[str, tuple[int, int, str]]:
    """Width, height and path of icons; of several styles the last, which is the solid one.

    Raises:
        ValueError: an icon that the theme's file does not hold.
    """
    found = {
        icon["name"]: (int(icon["width"]), int(icon["height"]), icon["path"])
        for icon in ICON.finditer(SOURCE.read_text(encoding="utf-8"))
        if icon["name"] in names
    }
    if missing := sorted(names - set(found)):
        raise ValueError(f"icons: {missing} are not in {SOURCE.name}")
    return found


def style_sheet(names: set[str]) -> str:
    """A rule for each icon, and one that all share."""
    rules = []
    for name, (width, height, path) in sorted(drawn(names).items()):
        box = f"xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'"
        svg = f"<svg {box}><path d='{path}'/></svg>"
        image = quote(svg, safe=" =:/'")
        size = f"--icon-width:{width / height:.3g}em"
        rules.append(f'.fa-{name}{{--icon:url("data:image/svg+xml,{image}");{size}}}')
    # A browser fetches the theme's fonts for the height of a line; no letter of them shows.
    plain = ':is(i,span)[class*="fa-"]'
    unread = f"html {plain},html {plain}::before{{font-family:inherit}}"
    shared = ",".join(f".fa-{name}::before" for name in sorted(names))
    return HEAD + "\n".join([unread, f"{shared}{BOX}", *rules]) + "\n"
