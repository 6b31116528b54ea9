"""What search engines and messengers read: description, card, sitemap; a page for a lost reader."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from docutils import nodes

LONGEST = 200  # letters of a description
CARD = "_static/card.png"
NEEDS = "vt-needs"  # the line under a title that says what a section needs
NOT_LISTED = {"404.html", "genindex.html", "search.html"}


def description(doctree: nodes.document | None, otherwise: str) -> str:
    """The first paragraph of a page, cut at a word.

    Args:
        doctree: the page as Sphinx read it; None where a page has no source.
        otherwise: what to say of a page without a paragraph.
    """
    paragraphs = doctree.findall(nodes.paragraph) if doctree is not None else ()
    first = next((p for p in paragraphs if NEEDS not in p["classes"]), None)
    said = " ".join(first.astext().split()) if first is not None else ""
    said = said or otherwise
    return said if len(said) <= LONGEST else f"{said[:LONGEST].rsplit(' ', 1)[0]} …"


def tags(title: str, said: str, page: str, base: str, site: str) -> str:
    """The meta elements of a page.

    Example:
        >>> tags("A", "B & C", "a.html", "https://x.org/", "S").splitlines()[0]
        '<meta name="description" content="B &amp; C" />'
    """
    properties = {
        "og:title": title, "og:description": said, "og:type": "article", "og:site_name": site,
        "og:url": base + page, "og:image": base + CARD,
        "og:image:alt": f"{site}: the algebra of Transformer weights, every statement checked",
    }  # fmt: skip
    lines = [f'<meta name="description" content="{escape(said)}" />']
    lines += [f'<meta property="{k}" content="{escape(v)}" />' for k, v in properties.items()]
    return "\n".join([*lines, '<meta name="twitter:card" content="summary_large_image" />', ""])


def write_sitemap(html: Path, base: str) -> None:
    """List every page that is worth finding."""
    names = sorted(
        path.relative_to(html).as_posix()
        for path in html.rglob("*.html")
        if "_static" not in path.parts and path.name not in NOT_LISTED
    )
    rows = "\n".join(f"<url><loc>{escape(base + name)}</loc></url>" for name in names)
    (html / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}\n</urlset>\n',
        encoding="utf-8",
    )


# Sections that had another number once: where they stood, and where they stand.
MOVED = {
    "3-first-loss/9-the-law-of-the-first-loss": "3-first-loss/6-the-law-of-the-first-loss",
    "3-first-loss/6-remedies": "3-first-loss/7-remedies",
    "3-first-loss/7-projections-and-shuffles": "3-first-loss/8-projections-and-shuffles",
    "3-first-loss/10-what-moves-it": "3-first-loss/9-what-moves-it",
    "3-first-loss/8-convergence": "3-first-loss/10-convergence",
}
LOST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>No such page · {site}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1.1rem/1.6 system-ui, sans-serif }}
main {{ max-width: 36rem; margin: 15vh auto; padding: 0 1rem }}
</style>
<script>
for (const [old, now] of Object.entries({moved}))
  if (location.pathname.endsWith(`notebooks/${{old}}.html`))
    location.replace(`{base}notebooks/${{now}}.html` + location.hash)
</script></head>
<body><main><h1>No such page</h1>
<p>Nothing stands here. A claim keeps its address for ever, as <code>claims/LOSS-14.html</code>;
other pages may have moved.</p>
<ul>
<li><a href="{base}book/welcome.html">The front page</a></li>
<li><a href="{base}book/ledger.html">Every statement</a></li>
<li><a href="{base}search.html">Search</a></li>
</ul></main></body></html>
"""


def write_lost(html: Path, base: str, site: str) -> None:
    """Write 404.html, shown under any address: so it loads nothing, and links in full.

    Whoever asks for a section under a number that it had once is led to it.
    """
    text = LOST.format(base=base, site=escape(site), moved=json.dumps(MOVED))
    (html / "404.html").write_text(text, encoding="utf-8")
