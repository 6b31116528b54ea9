"""HTML for claims: functions from the typed ledger to strings, by the macros of a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from verified_transformer.account import evidence as table
from verified_transformer.account.ledger import Entry, Ledger, Summary
from verified_transformer.account.registry import OWN, Article
from verified_transformer.account.rendering.cards import in_brackets, typeset
from verified_transformer.account.verdicts.decide import RULES

Link = Callable[[str], str]  # the address of a claim, by its id, seen from the page being written

EMPTY_BADGE = re.compile(r'<span class="vt-badge" data-claim="([^"]+)"[^>]*></span>')
ERRATA = ("wrong", "holds-if")
AGAINST = (table.Weight.REFUTES, table.Weight.LIMITS)


def statement(text: str | None) -> str:
    """Text with `$latex$` as HTML in which MathJax finds the formulas."""
    return typeset(text or "", formula)


def formula(latex: str) -> str:
    """LaTeX as HTML in the form that Sphinx gives to its own."""
    return f'<span class="math notranslate nohighlight">{in_brackets(latex)}</span>'


@cache
def _environment() -> Environment:
    folder = Path(__file__).with_name("templates")
    made = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    made.filters["statement"] = lambda text: Markup(statement(text))
    made.globals["verdicts"] = table.VERDICTS
    made.globals["kinds"] = table.KINDS
    made.globals["rules"] = RULES
    made.globals["against"] = [n for n, row in table.KINDS.items() if row.weight in AGAINST]
    return made


def _render(macro: str, *things: Any, link: Link | None = None) -> str:
    module = _environment().get_template("claims.html").make_module({"linked": link})
    return str(getattr(module, macro)(*things))


def badge(claim: Entry) -> str:
    """The verdict of a claim as a small label: sign, word and colour."""
    return _render("badge", claim)


def fill_badges(html: str, claims: Mapping[str, Entry]) -> tuple[str, list[str]]:
    """The HTML with its empty badges filled, and the ids that no claim has."""
    unknown = []

    def fill(found: re.Match[str]) -> str:
        if found[1] in claims:
            return badge(claims[found[1]])
        unknown.append(found[1])
        return found[0]

    return EMPTY_BADGE.sub(fill, html), unknown


def decided(summary: Summary) -> str:
    """How many statements are decided, and how, of the book or of an article."""
    return _render("decided", summary)


def _of(data: Ledger, key: str, verdicts: Iterable[str] = tuple(table.VERDICTS)) -> list[Entry]:
    return [c for c in data.claims if c.article == key and c.verdict in verdicts]


def ledger(data: Ledger, link: Link, article: str | None) -> str:
    """The ledger of one article, or of all, as a table that reads without JavaScript."""
    groups = [(a, _of(data, a.key)) for a in data.articles if article in (None, a.key)]
    speaker = "book" if article == OWN else "article"
    return _render("ledger", groups, article is None, speaker, link=link)


def errata(data: Ledger, link: Link) -> str:
    """Every claim found wrong, or true only under a condition that the article leaves out."""
    return _render("errata", [(a, _of(data, a.key, ERRATA)) for a in data.articles], link=link)


def corrections(data: Ledger, link: Link, article: str) -> str:
    """What an article says beside what is true, for each claim that does not hold as it stands."""
    return _render("corrections", _of(data, article, ERRATA), link=link)


def article(source: Article) -> str:
    """Title, author, date and address of the article that a chapter follows."""
    return _render("article", source)


def result(claim: Entry, link: Link) -> str:
    """The head of a teaser: verdict and evidence of a claim."""
    return _render("result", claim, link=link)


def verdict_table() -> str:
    """The table of verdicts: what each means, and what it takes."""
    return _render("verdict_table")


def evidence_table() -> str:
    """The table of evidence: what each kind shows, what it can do, and what it needs."""
    return _render("evidence_table")
