"""Directives for the book's prose: ledger, errata, corrections, an article's source, a result."""

from __future__ import annotations

from functools import partial

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from . import render
from .roles import claim_uri, raw


class Ledger(SphinxDirective):
    """The ledger of all claims, or with `:article: key` of one article."""

    option_spec = {"article": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        data = self.env.verified_claims
        article = self.options.get("article")
        if article and article not in {a["key"] for a in data["articles"]}:
            raise self.error(f"unknown article: {article}")
        link = partial(claim_uri, self.env)
        up = "../" * self.env.docname.count("/")
        file = f'<p>The same data as a file: <a href="{up}claims.json" download>claims.json</a></p>'
        table = render.ledger(data, self.env.verified_by_id, link, article)
        return [raw(table if article else file + table)]


class Errata(SphinxDirective):
    """What the articles got wrong or left out: said, true, and the run that shows it."""

    def run(self) -> list[nodes.Node]:
        return [raw(render.errata(self.env.verified_claims, partial(claim_uri, self.env)))]


class Corrections(SphinxDirective):
    """What an article, by its key, says beside what is true, where the two differ."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        data, article = self.env.verified_claims, self.arguments[0]
        if article not in {a["key"] for a in data["articles"]}:
            raise self.error(f"unknown article: {article}")
        return [raw(render.corrections(data, partial(claim_uri, self.env), article))]


class Article(SphinxDirective):
    """Title, author, date and address of an article, by its key."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        for source in self.env.verified_claims["articles"]:
            if source["key"] == self.arguments[0]:
                return [raw(render.article(source))]
        raise self.error(f"unknown article: {self.arguments[0]}")


class Result(SphinxDirective):
    """A claim as a teaser: our words as the content, verdict and evidence from its records."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        claim = self.env.verified_by_id.get(self.arguments[0])
        if claim is None:
            raise self.error(f"unknown claim: {self.arguments[0]}")
        box = nodes.container(classes=["vt-result"])
        self.state.nested_parse(self.content, self.content_offset, box)
        uri = claim_uri(self.env, claim)
        head = f'<p class="vt-head"><a href="{uri}">{claim["id"]}</a> {render.badge(claim)}</p>'
        box += raw(head + render.evidence(claim))
        return [box]
