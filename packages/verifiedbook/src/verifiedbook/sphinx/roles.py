"""Roles for the prose: a claim with its verdict, a record's line, the count of decided claims."""

from __future__ import annotations

from functools import partial

from docutils import nodes
from docutils.nodes import Node, system_message
from sphinx.util.docutils import ReferenceRole, SphinxRole

from . import render
from .claims import Claims, claim_uri, logger, page_uri, raw


class ClaimRole(ReferenceRole):
    """{claim}`LOSS-14` or {claim}`the variance <LOSS-14>`: a link to its run, and its verdict.

    The verdict leads to the claim's own page.
    """

    def run(self) -> tuple[list[Node], list[system_message]]:
        claim = Claims.of(self.env).by_id.get(self.target)
        if claim is None:
            logger.warning("unknown claim: %s", self.target, location=self.get_location())
            return [nodes.literal("", self.title)], []
        uri = claim_uri(self.env, claim.id)
        link = nodes.reference("", self.title, refuri=uri, internal=True, classes=["vt-ref"])
        return [link, raw("&nbsp;" + render.badge(claim, partial(page_uri, self.env)))], []


class RecordRole(SphinxRole):
    """{record}`LOSS-14 proof` or {record}`LOSS-14 measurement normal`: the line of that record."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        name, _, rest = self.text.partition(" ")
        kind, _, case = rest.partition(" ")
        claim = Claims.of(self.env).by_id.get(name)
        records = claim.evidence if claim else ()
        found = [e for e in records if e.kind == kind and case in ("", e.case)]
        if not found:
            logger.warning("no such record: %s", self.text, location=self.get_location())
            return [nodes.literal("", self.text)], []
        link = nodes.reference("", "", refuri=claim_uri(self.env, name), internal=True)
        link += nodes.literal("", found[0].text, classes=["vt-line"])
        return [link], []


class DecidedRole(SphinxRole):
    """{decided}`all` or {decided}`tied-loss`: how many statements are decided, and how."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        ledger = Claims.of(self.env).ledger
        part = ledger.summary if self.text == "all" else ledger.by_article.get(self.text)
        if part is None:
            logger.warning("unknown article: %s", self.text, location=self.get_location())
            return [nodes.literal("", self.text)], []
        return [raw(render.decided(part))], []
