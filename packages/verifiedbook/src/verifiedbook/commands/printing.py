"""The whole book as one PDF: the built pages in one document, which a browser prints.

One document and not one PDF a page: so the page numbers run through, the outline is that of the
book, and a link to another section leads there on paper, too. What is a list to be searched
(ledger, claim graph, state, reference) stays on the web; links to it lead to the published book.
"""

from __future__ import annotations

import functools
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

import yaml

from ..account.rendering.held_answers import answers_last

_LEFT_OUT = frozenset(
    {"book/problem-sets", "book/ledger", "book/claim-graph", "book/status", "book/api"}
)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
_EXERCISE = re.compile(r"<strong>Exercise ([\d.]+)</strong>")
_FOLDED = re.compile(r"<details><summary>(Hint|Solution)</summary>(.*?)</details>", re.DOTALL)
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
_STYLE = '<link rel="stylesheet" href="_static/print.css" />'
_FOOT = (
    '<div style="font: 9px sans-serif; width: 100%; text-align: center">'
    '<span class="pageNumber"></span></div>'
)
_NUMBERED = """numbers => document.querySelectorAll(".vt-contents li").forEach(line =>
  line.lastChild.textContent = numbers[line.firstChild.hash.slice(1)])"""


class NotPrinted(RuntimeError):
    """The book could not be printed; the message says what is missing."""


def print_book(root: Path, built: str = "_build") -> Path:
    """Print the built book.

    Args:
        root: the repository; the pages are built (`make book`).
        built: the folder beneath it that has them, in ``html``; that of a course is another.

    Returns:
        The file there, `the-verified-transformer.pdf`.

    Raises:
        NotPrinted: where the pages are not built, or no browser is installed.
    """
    html, paper = root / built / "html", root / built / "the-verified-transformer.pdf"
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise NotPrinted(f"no browser to print with; accepted: {', '.join(_BROWSERS)}")
    whole = html / "whole.html"
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    whole.write_text(whole_book(html, contents), encoding="utf-8")
    try:
        _print(html, whole.name, paper, browser)
    finally:
        whole.unlink()
    return paper


def whole_book(html: Path, toc: dict[str, Any]) -> str:
    """The pages of the table of contents as one document.

    Returns:
        The document. Anchors' names begin with their page's; links between pages lead to them.

    Raises:
        NotPrinted: where a page is not built.
    """
    pages = dict(_pages(toc))
    first = _read(html, toc["root"])
    published = re.search(r'rel="canonical" href="(.*?)book/', first)
    frame = re.sub(r'\b(href|src)="\.\./', r'\1="', first).replace("</head>", _STYLE + "</head>")
    place = _ARTICLE.search(frame)
    if place is None or published is None:
        raise NotPrinted(f"{toc['root']}.html has no article, or no address; build it: make book")
    read = {page: _read(html, page) for page in pages}
    inside = "".join(
        _section(read[page], page, depth, pages, published[1]) for page, depth in pages.items()
    )
    inside, solved = _solutions(inside)
    front = _front(read, pages, published[1])
    return frame[: place.start(1)] + front + inside + solved + frame[place.end(1) :]


def _front(read: dict[str, str], pages: dict[str, int], published: str) -> str:
    """A title page, and the contents, each line a link."""
    title = _heading(next(iter(read.values())))
    lines = "".join(
        f'<li class="vt-depth-{depth}"><a href="#{_name(page)}">{_heading(read[page])}</a>'
        "<span></span></li>"
        for page, depth in pages.items()
    )
    return (
        f'<section class="vt-title-page"><p class="vt-book">{title}</p>'
        f'<p><a href="{published}">{published}</a></p></section>'
        f'<section class="vt-page vt-contents"><h1>Contents</h1><ul>{lines}</ul></section>'
    )


def _heading(text: str) -> str:
    """The title of a page without the links that the theme puts there."""
    found = _HEADING.search(text)
    return re.sub(r"<a\b.*?</a>|<[^>]+>", "", found[1], flags=re.DOTALL) if found else ""


def _pages(toc: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Every page in order with its depth: 0 a chapter, 1 a section."""
    yield toc["root"], 0
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            if chapter["file"] not in _LEFT_OUT:
                yield chapter["file"], 0
                yield from ((section["file"], 1) for section in chapter.get("sections", ()))


def _read(html: Path, page: str) -> str:
    try:
        return (html / f"{page}.html").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotPrinted(f"{page}.html is not built; build it: make book") from None


def _section(text: str, page: str, depth: int, pages: dict[str, int], published: str) -> str:
    found = _ARTICLE.search(text)
    if found is None:
        raise NotPrinted(f"{page}.html has no article; build it: make book")
    body = re.sub(r"<script\b.*?</script>", "", answers_last(found[1]), flags=re.DOTALL)
    name = _name(page)
    body = re.sub(
        r'\b(href|src)="([^"]*)"',
        lambda m: f'{m[1]}="{_target(m[2], page, pages, published)}"',
        body,
    )
    body = re.sub(r'\b(id|for|aria-\w+by|aria-controls)="([^"]*)"', rf'\1="{name}--\2"', body)
    body = body.replace("url(#", f"url(#{name}--")
    if depth:
        body = re.sub(r"(</?)h([1-5])\b", lambda m: f"{m[1]}h{int(m[2]) + depth}", body)
    kind = "vt-page vt-section" if depth else "vt-page"
    return f'<section class="{kind}" id="{name}">{body}</section>'


def _solutions(text: str) -> tuple[str, str]:
    """The pages without hints and solutions, folded on paper for ever; and these as a section."""
    pieces, solved = re.split(r'(?=<div class="vt-exercise")', text), []
    title = "Hints and solutions" if "<summary>Solution</summary>" in text else "Hints"
    for place, piece in enumerate(pieces):
        if number := _EXERCISE.search(piece):
            found = "".join(
                f"<p><strong>{number[1]} · {kind}.</strong></p>{words}"
                for kind, words in _FOLDED.findall(piece)
            )
            solved.append(f'<div class="vt-solved">{found}</div>')
            pieces[place] = _FOLDED.sub("", piece)
    return "".join(pieces), (
        f'<section class="vt-page" id="solutions"><h1>{title}</h1>{"".join(solved)}</section>'
    )


def _target(url: str, page: str, pages: dict[str, int], published: str) -> str:
    """Where a link of a page leads in the one document."""
    if re.match(r"[a-z]+:", url):
        return url
    path, _, anchor = url.partition("#")
    file = normpath(join(dirname(page), path)) if path else f"{page}.html"
    if (other := file.removesuffix(".html")) in pages:
        return f"#{_name(other)}--{anchor}" if anchor else f"#{_name(other)}"
    if file.startswith(("_images/", "_static/")):
        return file
    return f"{published}{file}" + (f"#{anchor}" if anchor else "")


def _name(page: str) -> str:
    return page.replace("/", "-")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: the pages are asked for some hundred files."""


def page_numbers(paper: bytes) -> dict[str, int]:
    """The page on which each anchor stands that a link leads to, in a PDF as Chromium writes it.

    >>> page_numbers(b"7 0 obj\\n<</Type /Page /Parent 9 0 R>>\\n<</why [7 0 R /XYZ 6 7 0]>>")
    {'why': 1}
    """
    pages = re.findall(rb"(\d+) 0 obj\s*<</Type /Page\b", paper)
    anchors = re.findall(rb"/([\w-]+) \[(\d+) 0 R /XYZ", paper)
    return {name.decode(): pages.index(page) + 1 for name, page in anchors if page in pages}


def _print(html: Path, name: str, paper: Path, browser: str) -> None:
    from playwright.sync_api import sync_playwright

    handler = functools.partial(_Quiet, directory=str(html))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = running.new_page(viewport={"width": 1000, "height": 1400})
        page.set_default_timeout(0)
        page.goto(f"http://127.0.0.1:{server.server_port}/{name}")
        page.evaluate("() => document.fonts.ready")
        page.emulate_media(media="print", color_scheme="light")
        for _ in range(2):  # once to learn the numbers of the pages, which the contents then have
            page.pdf(
                path=str(paper), prefer_css_page_size=True, outline=True, tagged=True,
                print_background=True, display_header_footer=True,
                header_template="<span></span>", footer_template=_FOOT,
            )  # fmt: skip
            page.evaluate(_NUMBERED, page_numbers(paper.read_bytes()))
        running.close()
        server.shutdown()
