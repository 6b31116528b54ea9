"""Directives for the book's prose: ledger, errata, corrections, a source, a result, the tables."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from ..account.registry import Article as Source
from . import render
from .claims import ERRATA, LEDGER, Claims, claim_uri, colab_address, page_uri, raw


class ClaimsDirective(SphinxDirective):
    """A directive that shows claims."""

    @property
    def claims(self) -> Claims:
        """The ledger that the extension has read."""
        return Claims.of(self.env)

    @property
    def link(self) -> render.Link:
        """The address of a claim, seen from this page."""
        return partial(claim_uri, self.env)

    @property
    def page(self) -> render.Link:
        """The address of a claim's own page, seen from this page."""
        return partial(page_uri, self.env)

    def source(self, key: str) -> Source:
        """The article of this key."""
        for article in self.claims.ledger.articles:
            if article.key == key:
                return article
        raise self.error(f"unknown article: {key}")


class Ledger(ClaimsDirective):
    """The ledger of all claims, or with `:article: key` a summary of one article's."""

    option_spec: ClassVar[dict[str, Any]] = {"article": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        data, key = self.claims.ledger, self.options.get("article")
        if key:
            to = self.env.app.builder.get_relative_uri(self.env.docname, LEDGER)
            return [raw(render.summary(data, self.source(key), self.link, self.page, to))]
        up = "../" * self.env.docname.count("/")
        file = (
            f'<p>The same data as a file: <a href="{up}claims.json" download>claims.json</a>, '
            f'described by <a href="{up}claims.schema.json" download>claims.schema.json</a></p>'
        )
        return [raw(render.ledger(data, self.link, self.page) + file)]


class Errata(ClaimsDirective):
    """The errata of an article, by its key, by how much they matter; or of each, in a few lines."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        data = self.claims.ledger
        if not self.arguments:
            return [raw(render.errata_index(data, self._home))]
        article = self.source(self.arguments[0])
        colab = partial(colab_address, self.config)
        made: list[nodes.Node] = [raw(render.errata_head(data, article))]
        for name, title, html in render.errata(data, article, self.link, self.page, colab):
            part = nodes.section(ids=[name], names=[name])
            part += [nodes.title("", title), raw(html)]
            made.append(part)
        return made

    def _home(self, article: Source) -> str | None:
        name = f"{ERRATA}-{article.chapter}"
        builder = self.env.app.builder
        known = name in self.env.found_docs
        return builder.get_relative_uri(self.env.docname, name) if known else None


class Corrections(ClaimsDirective):
    """The headlines of an article's errata, by its key; each leads to the erratum."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        article = self.source(self.arguments[0])
        to = self.env.app.builder.get_relative_uri(self.env.docname, f"{ERRATA}-{article.chapter}")
        return [raw(render.corrections(self.claims.ledger, article, to))]


class ClaimGraph(ClaimsDirective):
    """Which claims of an article, by its key, rest on which."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        article = self.source(self.arguments[0])
        return [raw(render.claim_graph(self.claims.ledger, article, self.page))]


class Article(ClaimsDirective):
    """Title, author, date and address of an article, by its key."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [raw(render.article(self.source(self.arguments[0])))]


class Result(ClaimsDirective):
    """A claim as a teaser: our words as the content, verdict and evidence from its records."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        claim = self.claims.by_id.get(self.arguments[0])
        if claim is None:
            raise self.error(f"unknown claim: {self.arguments[0]}")
        box = nodes.container(classes=["vt-result"])
        self.state.nested_parse(self.content, self.content_offset, box)
        box += raw(render.result(claim, self.link, self.page))
        return [box]


class Verdicts(SphinxDirective):
    """The table of verdicts."""

    def run(self) -> list[nodes.Node]:
        return [raw(render.verdict_table())]


class EvidenceTable(SphinxDirective):
    """The table of the kinds of evidence."""

    def run(self) -> list[nodes.Node]:
        return [raw(render.evidence_table())]


DIRECTIVES: dict[str, type[SphinxDirective]] = {
    "ledger": Ledger, "errata": Errata, "corrections": Corrections, "article": Article,
    "claim-graph": ClaimGraph, "result": Result, "verdicts": Verdicts, "evidence": EvidenceTable,
}  # fmt: skip
