"""The search: what people type leads to the section that answers it.

`terms.yaml` gives pages the words that they are searched by and do not use; they become entries of
Sphinx's index, which its search puts first. `scorer.js` is what Sphinx takes for its order. The
index says whether a page has a word; how often it has it is counted here, for the same scorer. A
page whose text is not searched (``nosearch``) is found by its title and its terms.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish

from verifiedbook.account.registry import contents

HERE = Path(__file__).parent
WORD = re.compile(r"[^\W\d_]{2,}|\d+")
COUNTS = "searched.js"
stem = cache(SearchEnglish({}).stem)


class English(SearchEnglish):
    """English whose words are stemmed once each: a seventh of a build went into stemming."""

    def stem(self, word: str) -> str:
        return stem(word)


@cache
def terms() -> dict[str, list[str]]:
    """By page, what it is searched by."""
    found: dict[str, list[str]] = contents(HERE / "terms.yaml")
    return found


def set_scorer(app: Sphinx, config: Config) -> None:
    """Give Sphinx's search our order of results."""
    config.html_search_scorer = str(HERE / "scorer.js")


def add_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Put a page's terms into Sphinx's index."""
    entries = [("single", term, "", "main", None) for term in terms().get(app.env.docname, ())]
    if entries:
        app.env.note_dependency(str(HERE / "terms.yaml"))
        doctree += addnodes.index(entries=entries)


def stems(text: str) -> list[str]:
    """The words of a text by their stems; British and American spelling are one."""
    return [stem(word.replace("iz", "is")) for word in WORD.findall(text.lower())]


def count_words(app: Sphinx, doctree: nodes.document) -> None:
    """Keep how often a page's sentences have each word, if more than once or in a heading."""
    env: Any = app.env
    said = {
        kind: stems(" ".join(part.astext() for part in doctree.findall(kind)))
        for kind in (nodes.paragraph, nodes.title)
    }
    often = {word: many for word, many in Counter(said[nodes.paragraph]).items() if many > 1}
    found = {**Counter(said[nodes.title]), **often}
    env.searched = {**getattr(env, "searched", {}), env.docname: found}


def merge_counts(app: Sphinx, env: Any, pages: set[str], other: Any) -> None:
    """Take over what another process has counted."""
    theirs = getattr(other, "searched", {})
    found = {page: theirs[page] for page in pages if page in theirs}
    env.searched = {**getattr(env, "searched", {}), **found}


def forget_counts(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget a page that is read again, or is no more."""
    getattr(env, "searched", {}).pop(page, None)


def load_counts(app: Sphinx, page: str, template: str, context: dict[str, Any], _: object) -> None:
    """Let the page of the search have the counts, and no other."""
    if page == "search":
        app.add_js_file(COUNTS)


def write_counts(app: Sphinx, exception: Exception | None) -> None:
    """Write the counts beside the pages."""
    static = Path(app.outdir) / "_static"
    if exception is None and static.is_dir():
        counts: dict[str, dict[str, int]] = getattr(app.env, "searched", {})
        titles = {page: app.env.titles[page].astext() for page in counts if page in app.env.titles}
        pages = {
            page: [
                title,
                {} if "nosearch" in app.env.metadata[page] else counts[page],
                terms().get(page, []),
            ]
            for page, title in sorted(titles.items())
        }
        said = json.dumps(pages, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        (static / COUNTS).write_text(f"const counted = {said};\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_search_language(English)
    app.connect("config-inited", set_scorer)
    app.connect("doctree-read", add_entries)
    app.connect("doctree-read", count_words)
    app.connect("env-merge-info", merge_counts)
    app.connect("env-purge-doc", forget_counts)
    app.connect("html-page-context", load_counts)
    app.connect("build-finished", write_counts)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
