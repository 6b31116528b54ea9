"""Gates on what stands around the pages: their weight, and who can read them."""

from __future__ import annotations

import gzip
import statistics
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import folded_parts
from bs4 import BeautifulSoup
from playwright.sync_api import Page

PAGE_KB = 25  # of HTML in the median section, as a server sends it; what folds hold lies beside it
FIRST_PAGE_KB = 250  # style sheets and scripts, fonts in them, as a server sends them
EVERY_RULE = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
COLOURS = {"type": "rule", "values": ["color-contrast"]}  # all that differs in the dark
GRAVE = ("serious", "critical")
# What moves has come to its end, or ten seconds are over: where a browser draws no frame there is
# none, and a test would wait for ever.
AT_REST = """Promise.race([
  new Promise(done => setTimeout(done, 10000)),
  new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(
    () => Promise.allSettled(document.getAnimations()
      .filter(a => isFinite(a.effect.getComputedTiming().endTime)).map(a => a.finished))),
])"""
# A colour that is on its way from one theme to the other is looked at when it is there.
ASK = (
    f"""async RULES => (await {AT_REST}, """
    + """await axe.run({
  preload: false, resultTypes: ["violations"],
  runOnly: RULES,
})).violations.map(v => ({id: v.id, impact: v.impact,
  nodes: v.nodes.map(n => n.html.slice(0, 80))}))"""
)


# What a browser calls a cumulative layout shift; 0.1 and less is good.
JUMPED = """() => new Promise(done => new PerformanceObserver(seen =>
  done(seen.getEntries().reduce((sum, entry) => sum + entry.value, 0))
).observe({type: "layout-shift", buffered: true}) ?? setTimeout(() => done(0), 300))"""


def heavy_pages(html: Path) -> list[str]:
    """A median section that is heavier than it may be."""
    pages = html.glob("notebooks/*/*.html")
    middle = statistics.median(len(gzip.compress(page.read_bytes())) / 1000 for page in pages)
    return [f"the median section has {middle:.0f} KB of HTML"] if middle > PAGE_KB else []


def unnumbered(html: Path) -> list[str]:
    """Figures of sections without a number or a caption, or out of turn."""
    found = []
    for path in sorted(html.glob("notebooks/*/*.html")):
        figures = folded_parts.parsed(folded_parts.whole(path)).select(
            "article figure, article .cell_output img"
        )
        name = path.relative_to(html).as_posix()
        place = 0
        for figure in figures:
            if figure.name == "img":
                found += (
                    [f"{name}: a plot without a caption"]
                    if not figure.find_parent("figure")
                    else []
                )
                continue
            place += 1
            number = figure.select_one("figcaption > .vt-number")
            if number is None or not number.text.endswith(f".{place}"):
                said = number.text if number is not None else "no number"
                found.append(f"{name}: figure {place} has {said}")
    return found


def undescribed(html: Path) -> list[str]:
    """Pages whose head does not say what they are about, or where they are published."""
    found = []
    for path in sorted(html.rglob("*.html")):
        name = path.relative_to(html).as_posix()
        if "_static" in path.parts or name in ("404.html", "index.html"):
            continue
        head = path.read_text(encoding="utf-8").split("</head>")[0]
        wanted = (
            'name="description" content="',
            'property="og:image"',
            'rel="canonical"',
            'rel="icon"',
        )
        found += [f"{name}: no {mark}" for mark in wanted if mark not in head]
    return found


def heavy_load(html: Path, page: str) -> list[str]:
    """A page whose style sheets and scripts are heavier than they may be."""
    sent = {file: len(gzip.compress(file.read_bytes())) for file in _loaded(html / page)}
    total, heaviest = sum(sent.values()) / 1000, max(sent, key=lambda file: sent[file])
    said = f"{page}: {total:.0f} KB of style sheets and scripts, most of all {heaviest.name}"
    return [said] if total > FIRST_PAGE_KB else []


def _loaded(page: Path) -> Iterator[Path]:
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    for tag in soup.select("script[src], link[rel=stylesheet][href]"):
        yield (page.parent / str(tag.get("src") or tag["href"]).split("?")[0]).resolve()


@cache
def _axe() -> str:
    files = metadata.files("axe-playwright-python") or []
    return Path(str(next(f for f in files if f.name == "axe.min.js").locate())).read_text("utf-8")


def barriers(page: Page, rules: dict[str, Any] = EVERY_RULE) -> list[str]:
    """What axe calls serious or critical on a page that stands open, in words."""
    page.evaluate(_axe())
    found: list[dict[str, Any]] = page.evaluate(ASK, rules)
    return [
        f"{fault['id']} ({fault['impact']}): {len(fault['nodes'])}, as {fault['nodes'][0]}"
        for fault in found
        if fault["impact"] in GRAVE
    ]
