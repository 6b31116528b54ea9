"""Gates on the built book: each takes the folder of its HTML and says in words what is wrong."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import changed
import folded_parts
import page_facts
from bs4 import BeautifulSoup, Comment
from page_facts import Facts, facts

# Markup that a reader must never see: MyST and reST roles, fences, raw TeX delimiters. What stands
# between the backticks of a role that was not understood has become code: the name is left.
LEAKED = re.compile(r"(?<![_^])\{[a-zA-Z]{2}[\w:+.-]*\}|:[a-z]+:\s*`|`{3}|:{3,}|\]\(|\$\$|\\[([]")
NEVER_SHOWN = ("script", "style", "code", "pre", "title", "math")
LOADING_LINKS = {
    "stylesheet", "icon", "shortcut", "preload", "modulepreload", "prefetch", "preconnect",
    "dns-prefetch", "manifest", "apple-touch-icon",
}  # fmt: skip
BY_SOURCE = ("script", "img", "iframe", "source", "video", "audio", "embed", "input", "track")
LOADING = {"object": "data", "image": "href", "use": "href"} | dict.fromkeys(BY_SOURCE, "src")
IN_CSS = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", re.I)


FACTS = changed.BOOK / "pages.pickle"  # what a run that passed knew of its pages
AS_PUBLISHED = ["--all", "-n", "-W", "--keep-going"]


def build(root: Path, out: Path, options: Sequence[str] = AS_PUBLISHED) -> tuple[int, str]:
    """Build the book at `root` into `out`, warnings as errors; return exit code and output."""
    command = [Path(sys.executable).parent / "jupyter-book", "build", root, "--path-output", out]
    run = subprocess.run(
        [*command, *options],
        env=os.environ | {"NO_COLOR": "1", "PYTHONWARNINGS": "default"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return run.returncode, run.stdout


@dataclass(frozen=True)
class Page:
    """What the gates want to know of a page, read once.

    Attributes:
        name: path from the folder of the pages.
        leaked: texts with markup in them that a reader should not see.
        loads: pairs of tag and address of all that the page would load.
        facts: what it shows of the claims.
        images: pairs of source and description of the images in the text.
        anchors: the ids of its elements.
        links: addresses of the links in the text.
    """

    name: str
    leaked: tuple[str, ...]
    loads: tuple[tuple[str, str], ...]
    facts: Facts
    images: tuple[tuple[str, str], ...]
    anchors: frozenset[str]
    links: tuple[str, ...]


def pages(html: Path) -> Iterator[Page]:
    """The pages of a book, their folds filled; each is parsed once, whichever gates ask for it."""
    for path in _files(html):
        yield _page(path.relative_to(html).as_posix(), folded_parts.whole(path))


def _files(html: Path) -> list[Path]:
    return [path for path in sorted(html.rglob("*.html")) if "_static" not in path.parts]


def _page(name: str, text: str) -> Page:
    """What is known of a page: in this process, or in a run that passed, by the same code."""
    key = sha256(f"{name}\n{text}".encode()).hexdigest()
    if key not in _known():
        _known()[key] = _parsed(name, text)
    return _known()[key]


@cache
def _known() -> dict[str, Page]:
    """The pages that were parsed, by their texts; under `--changed` those that passed as well."""
    if not (changed.partly() and FACTS.is_file()):
        return {}
    by, known = pickle.loads(FACTS.read_bytes())
    return known if by == _parser() else {}


def _parser() -> str:
    """A hash of what reads a page."""
    files = (folded_parts.__file__, page_facts.__file__, __file__)
    return sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


def keep_pages(html: Path) -> None:
    """Keep what is known of a book's pages beside it, where this process parsed them all."""
    names = {path.relative_to(html).as_posix() for path in _files(html)}
    known = {key: page for key, page in _known().items() if page.name in names}
    if len(known) >= len(names):
        (html.parents[1] / FACTS.name).write_bytes(pickle.dumps((_parser(), known)))


def _parsed(name: str, text: str) -> Page:
    soup = folded_parts.parsed(text)
    articles = soup.find_all("article")
    images = [image for article in articles for image in article.find_all("img")]
    links = [link for article in articles for link in article.find_all("a", href=True)]
    return Page(
        name=name,
        leaked=tuple(_leaked(soup)),
        loads=tuple(_loads(soup)),
        images=tuple((i.get("src"), i.get("alt") or "") for i in images),
        anchors=frozenset(tag["id"] for tag in soup.find_all(id=True)),
        links=tuple(link["href"] for link in links),
        facts=facts(soup),
    )


def _leaked(soup: BeautifulSoup) -> Iterator[str]:
    for text in soup.find_all(string=LEAKED):
        inside = {parent.name for parent in text.parents}
        if not isinstance(text, Comment) and not inside & set(NEVER_SHOWN):
            yield text.strip()


def _loads(soup: BeautifulSoup) -> Iterator[tuple[str, str]]:
    for tag in soup.find_all(True):
        address = tag.get(LOADING.get(tag.name, ""), "") or ""
        if tag.name == "link" and set(tag.get("rel", [])) & LOADING_LINKS:
            address = tag.get("href", "")
        styles = (tag.get("style") or "") + (tag.get_text() if tag.name == "style" else "")
        for wanted in (address, *(tag.get("srcset", "").split()), *IN_CSS.findall(styles)):
            yield tag.name, wanted


def leaked_markup(html: Path) -> list[str]:
    """Roles, fences and TeX delimiters that stand in the text instead of what they mean."""
    return [f"{p.name}: leaked markup: {text[:80]}" for p in pages(html) for text in p.leaked]


def foreign_origins(html: Path) -> list[str]:
    """Whatever a page would load from elsewhere; ordinary links are no load."""
    found = [
        f"{page.name}: <{tag}> loads {address}"
        for page in pages(html)
        for tag, address in page.loads
        if re.match(r"(https?:)?//", address)
    ]
    for path in html.rglob("*.css"):
        for address in IN_CSS.findall(path.read_text(encoding="utf-8", errors="replace")):
            found.append(f"{path.relative_to(html)}: loads {address}")
    return found


def missing_alt(html: Path) -> list[str]:
    """Images in the text without a description; a file's name is none."""
    return [
        f"{page.name}: no alternative text: {source}"
        for page in pages(html)
        for source, said in page.images
        if not said.strip() or said == source or said.strip().endswith((".png", ".svg", ".jpg"))
    ]


def dead_links(html: Path) -> list[str]:
    """Links inside the book whose page or whose anchor does not exist."""
    anchors = {(html / page.name).resolve(): page.anchors for page in pages(html)}
    found = []
    for page in pages(html):
        for href in page.links:
            parts = urlsplit(href)
            if parts.scheme or parts.netloc:
                continue
            target, anchor = html / page.name, unquote(parts.fragment)
            if parts.path:
                target = target.parent / unquote(parts.path)
            known = anchors.get(target.resolve(), {anchor})
            if not target.exists() or (anchor and anchor not in known):
                found.append(f"{page.name}: dead link: {href}")
    return found


def claims(html: Path) -> list[dict[str, Any]]:
    """The claims that are published beside the pages."""
    return _claims((html / "claims.json").read_text(encoding="utf-8"))


@cache
def _claims(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["claims"]
    return found


def ledger_rows(html: Path) -> list[str]:
    """Claims that the ledger page does not list exactly once, or with another verdict.

    Alone it sees a row that stands twice, and one that is filtered by another verdict.
    """
    page = BeautifulSoup((html / "book/ledger.html").read_text(encoding="utf-8"), "html.parser")
    listed = [(row["id"], row["data-verdict"]) for row in page.select("tr.vt-row")]
    expected = [(claim["id"], claim["verdict"]) for claim in claims(html)]
    found = [
        f"ledger: {c} ({v}) listed {listed.count((c, v))} times"
        for c, v in expected
        if listed.count((c, v)) != 1
    ]
    return found + [f"ledger: no such claim: {row}" for row in listed if row not in expected]


GATES = (leaked_markup, foreign_origins, missing_alt, dead_links, ledger_rows)
