"""A page for every claim, `claims/LOSS-14.html`: made from the ledger, and found by the search.

The pages stand in no table of contents. They have no source, so Sphinx is handed their HTML, and
its index a text in which formulas stand as letters: `2dσ⁴` finds what says it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config

from ..account import registry
from ..account.ledger import Entry
from ..account.registry import Article
from ..account.rendering import plain
from . import render, runs
from .claims import Claims, colab_address
from .runs import Run

FOLDER = "claims"
TITLE = 90  # letters of a statement in the title of its page
_DATE = re.compile(r"\d{4}")


def page(name: str) -> str:
    """The name of a claim's page, as Sphinx names pages."""
    return f"{FOLDER}/{name}"


def title(claim: Entry) -> str:
    """A claim's name and the beginning of its statement."""
    said = plain.text(claim.says)
    cut = said if len(said) <= TITLE else f"{said[:TITLE].rsplit(' ', 1)[0]} …"
    return f"{claim.id}: {cut}"


def collect_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The pages that have changed, for Sphinx to write; all are put into the search index."""
    claims = Claims.of(app.env)
    articles = {article.key: article for article in claims.ledger.articles}
    entries = claims.ledger.claims
    ran = runs.by_claim(Path(app.srcdir))
    for before, claim, after in zip((None, *entries), entries, (*entries[1:], None), strict=False):
        run, found = _run(app, claim), ran.get(claim.id, [])
        _feed(app, claim, run)
        if not _changed(app, claim, [near.id for near in (before, after) if near], found):
            continue
        yield (
            page(claim.id),
            {
                "title": title(claim),
                "body": _body(app, claim, articles[claim.article], run, found),
                "meta": {"html_theme.sidebar_secondary.remove": "true"},
                "metatags": "",
                "parents": [{"link": "../book/ledger.html", "title": "Ledger"}],
                "prev": _neighbour(before),
                "next": _neighbour(after),
                "vt_claim": claim.id,
                "vt_nav": _nav(app, claim),
            },
            "page.html",
        )


def _changed(app: Sphinx, claim: Entry, beside: list[str], ran: list[Run]) -> bool:
    """Whether a claim's page shows another claim than last time, or a notebook read anew."""
    env: Any = app.env
    shown = {claim.id, claim.article, *beside, *claim.uses, *claim.used_by}
    pages = {*(run.page for run in ran), (claim.notebook or "").removesuffix(".ipynb")}
    target, proofs = (
        Path(app.outdir, f"{page(claim.id)}.html"),
        Path(app.srcdir, "proofs", "checked.json"),
    )
    missing = not target.exists()
    if not missing and proofs.exists() and proofs.stat().st_mtime > target.stat().st_mtime:
        return True
    return bool(missing or shown & Claims.of(env).changed or pages & env.verified_read) or (
        env.verified_read >= env.found_docs
    )


def _neighbour(claim: Entry | None) -> dict[str, str] | None:
    return {"link": f"{claim.id}.html", "title": claim.id} if claim else None


def _nav(app: Sphinx, claim: Entry) -> list[dict[str, Any]]:
    """The pages of the book, and under the claim's chapter the claims of its section."""
    ledger = Claims.of(app.env).ledger
    chapter = next(a.chapter for a in ledger.articles if a.key == claim.article)
    home = f"book/chapter-{chapter}" if chapter else "book/ledger"
    here = (claim.article, render.section(claim))
    beside = [c.id for c in ledger.claims if (c.article, render.section(c)) == here]
    root = app.config.root_doc
    pages = [root, *app.env.toctree_includes.get(root, [])]
    return [
        {
            "page": name,
            "title": app.env.titles[name].astext(),
            "beside": beside if name == home else [],
        }
        for name in pages
        if name in app.env.found_docs
    ]


def set_sidebar(app: Sphinx, config: Config) -> None:
    """Give the pages a sidebar of their own."""
    config.templates_path = [*config.templates_path, str(Path(__file__).with_name("templates"))]
    theme = ["navbar-logo.html", "icon-links.html", "search-button-field.html"]
    config.html_sidebars = {f"{FOLDER}/*": [*theme, "claims-nav.html"], **config.html_sidebars}


def _run(app: Sphinx, claim: Entry) -> dict[str, str] | None:
    """Where a claim is decided: its section's title, the place in the page, and the notebook."""
    if not claim.notebook:
        return None
    source = PurePosixPath(claim.notebook)
    name = str(source.with_suffix(""))
    heading = app.env.titles.get(name)
    return {
        "section": heading.astext() if heading else render.section(claim),
        "href": f"../{name}.html#{claim.anchor}",
        "colab": colab_address(app.config, claim.notebook),
    }


def _body(
    app: Sphinx, claim: Entry, article: Article, run: dict[str, str] | None, ran: list[Run]
) -> str:
    known = Claims.of(app.env).by_id
    chapter = f"book/chapter-{article.chapter}"
    return render.page(
        claim, article, known, run, _book(app), lambda name: f"{name}.html",
        chapter if chapter in app.env.found_docs else None,
        [render.found(r, _highlighted(app, r.code)) for r in ran],
        proved(Path(app.srcdir)).get(claim.id, []),
        enclosed(Path(app.srcdir)).get(claim.id, []),
    )  # fmt: skip


def proved(root: Path) -> dict[str, list[dict[str, Any]]]:
    """The theorems that a kernel has checked, by claim, as `proofs/checked.json` has them."""
    file = root / "proofs" / "checked.json"
    if not file.exists():
        return {}
    checked = json.loads(file.read_text(encoding="utf-8"))
    found: dict[str, list[dict[str, Any]]] = {}
    for one in checked["theorems"]:
        for name in one["claims"]:
            claim, _, case = name.partition(" ")
            more = {"case": case, "kernel": checked["kernel"], "when": checked["when"]}
            found.setdefault(claim, []).append({**one, **more})
    return found


def enclosed(root: Path) -> dict[str, list[str]]:
    """The printed numbers that a ball certifies, by claim, as `make digits` has kept them."""
    file = root / "tests" / "status" / "digits.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))["claims"]) if file.exists() else {}


def _highlighted(app: Sphinx, code: str | None) -> str | None:
    builder: Any = app.builder
    return builder.highlighter.highlight_block(code, "python") if code else None


def _book(app: Sphinx) -> dict[str, str]:
    found = _DATE.search(app.config.copyright)
    return {
        "author": app.config.author,
        "year": found[0] if found else "",
        "title": app.config.html_title,
        "version": _version(Path(app.srcdir) / "pyproject.toml"),
        "url": app.config.html_theme_options["repository_url"],
    }


@cache
def _version(file: Path) -> str:
    project = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    return str(project.get("version", "0"))


def _feed(app: Sphinx, claim: Entry, run: dict[str, str] | None) -> None:
    """Put a claim's words into the search index, its name as an entry that comes first."""
    indexer = getattr(app.builder, "indexer", None)
    if indexer is None:
        return
    words = [claim.says, claim.reading, claim.truth, claim.where, claim.kind, claim.verdict]
    words += [run["section"] if run else None, claim.id]
    words.append(PurePosixPath(claim.notebook or "").stem.replace("-", " "))  # norm variance
    document = new_document("")
    entries = [claim.id, *registry.load()[1][claim.id].keywords]
    document += addnodes.index(entries=[("single", e, "", "main", None) for e in entries])
    document += nodes.paragraph("", " ".join(plain.text(part) for part in words if part))
    indexer.feed(page(claim.id), f"{page(claim.id)}.html", title(claim), document)
    # The index drops what is no document, and the inventory asks for the title of each.
    app.env.all_docs.setdefault(page(claim.id), 0)
    app.env.titles.setdefault(page(claim.id), nodes.title("", title(claim)))
