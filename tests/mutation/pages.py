"""Mutants of the built pages: of what they show of claims, and of nothing else."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from . import sites
from .mutant import Maker, Mutant
from .sites import Site, chosen

ID = re.compile(r"\b(?:BOOK|[A-Z]{3,5})-\d{2,}\b")
SHOWN = re.compile(
    r'(?s)<span class="vt-decided">.*?</small></span>|<span class="vt-badge[^>]*>[^<]*</span>'
    r'|<code class="vt-line">[^<]*</code>|<p><b>(?:What is true|Only if)</b>.*?</p>'
    r'|<section class="vt-erratum".*?</section>|<tr class="vt-(?:row|pair)".*?</tr>'
    r'|<div class="vt-card".*?</div></div>|<div class="vt-record.*?</div></div>'
    r'|<a class="vt-ref[^>]*>.*?</a>|<td class="vt-(?:says|decision)">.*?</td>'
)  # fmt: skip
IN_HTML = {
    "left out": r"\A.*\Z",
    "truth left out": r"<p><b>(?:What is true|Only if)</b>.*?</p>",
    "digit": r"(?<=>)[^<>\\]*?\d(?=[^<>]*<)",
    "verdict": "✓ holds|✗ wrong|◐ holds if|↻ reproduced",
    "class": '(?<=vt-is-)(?:holds|wrong|holds-if)(?=")',
    "link": r"(?<=#)[A-Z]+-\d{2,}(?=\")",
    "role": r"(?<=>)(?=[A-Z][a-z]+ )",
    "word": rf"(?<=[ >])(?:{'|'.join(sites.WORDS)})(?=[ ,.])(?=[^<>]*<)",
}
INSTEAD = {
    "✓ holds": "✗ wrong", "holds": "wrong", "wrong": "holds", "holds-if": "holds",
}  # fmt: skip


def units(html: Path) -> Iterator[Maker]:
    for path in sorted([*html.rglob("*.html"), *html.rglob("*.evidence.js")]):
        if "_static" in path.parts:
            continue
        name, text = path.relative_to(html).as_posix(), path.read_text(encoding="utf-8")
        boxes = list(SHOWN.finditer(text))
        for box in random.Random(name).sample(boxes, min(len(boxes), 40)):
            yield _box(name, text, box.span())


def _box(name: str, text: str, span: tuple[int, int]) -> Maker:
    def make(chance: random.Random) -> Mutant | None:
        found = []
        for way, pattern in IN_HTML.items():
            for match in re.compile(pattern, re.S).finditer(text[slice(*span)]):
                new = _in_html(way, match[0])
                start, end = span[0] + match.start(), span[0] + match.end()
                volatile = text.rfind("vt-volatile", start - 40, start) >= 0
                if not volatile:
                    found.append(Site(start, end, new, way))
        site = chosen(found, chance)
        claims = tuple(dict.fromkeys(ID.findall(text[slice(*span)])))
        return site and Mutant("page", name, -1, site.way, text, site, claims)

    return make


def _in_html(way: str, old: str) -> str:
    match way:
        case "digit":
            return old[:-1] + sites.changed_number(old[-1])
        case "link":
            return "LOSS-01" if old != "LOSS-01" else "LOSS-02"
        case "role":
            return "{term} <code>x</code> "
        case "verdict" | "class":
            return INSTEAD.get(old, "✓ holds")
        case "word":
            return sites.WORDS[old]
    return ""
