"""HTML for claims: plain functions from the claims' data to strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from verified_transformer.account.registry import OWN
from verified_transformer.account.rendering import breakable, words

Claim = Mapping[str, Any]
Link = Callable[[Claim], str]  # the address of a claim, seen from the page being written

# verdict: its badge, and how the front page counts it
VERDICTS = {
    "holds": ("✓ holds", "✓ {} hold"),
    "holds-if": ("◐ holds if", "◐ {} hold if"),
    "wrong": ("✗ wrong", "✗ {} wrong"),
    "reproduced": ("↻ reproduced", "↻ {} reproduced"),
    "not-reproduced": ("⊘ not reproduced", "⊘ {} not reproduced"),
    "open": ("? open", "? {} open"),
    "not-truth-apt": ("– not truth-apt", "– {} not truth-apt"),
    "undecided": ("· undecided", "· {} undecided"),
}

EMPTY_BADGE = re.compile(r'<span class="vt-badge" data-claim="([^"]+)"[^>]*></span>')


def statement(text: str | None) -> str:
    """Text with `$latex$` as HTML in which MathJax finds the formulas."""
    pieces = re.split(r"(?<!\\)\$", text or "")
    return "".join(
        " ".join(map(formula, breakable(p))) if k % 2 else words(p) for k, p in enumerate(pieces)
    )


def formula(latex: str) -> str:
    return f'<span class="math notranslate nohighlight">\\({escape(latex)}\\)</span>'


def badge(claim: Claim) -> str:
    """The verdict of a claim as a small label: sign, word and colour."""
    word = VERDICTS[claim["verdict"]][0]
    judged = " (judged)" if claim.get("judged") else ""
    return (
        f'<span class="vt-badge vt-is-{claim["verdict"]}" data-claim="{claim["id"]}"'
        f' title="{escape(claim.get("why") or "")}">{word}{judged}</span>'
    )


def fill_badges(html: str, claims: Mapping[str, Claim]) -> tuple[str, list[str]]:
    """The HTML with its empty badges filled, and the ids that no claim has."""
    unknown = []

    def fill(found: re.Match[str]) -> str:
        if found[1] in claims:
            return badge(claims[found[1]])
        unknown.append(found[1])
        return found[0]

    return EMPTY_BADGE.sub(fill, html), unknown


def decided(summary: Mapping[str, Any]) -> str:
    """How many statements are decided, and how, from the summary of the book or of an article."""
    head = f"<b>{summary['decided']} of {summary['total']} statements decided.</b>"
    counts = [(verdict, summary["by_verdict"].get(verdict, 0)) for verdict in VERDICTS]
    badges = " ".join(
        f'<span class="vt-badge vt-is-{verdict}">{VERDICTS[verdict][1].format(count)}</span>'
        for verdict, count in counts
        if count
    )
    notes = []
    mutants = summary.get("mutants") or {}
    if mutants.get("total"):
        notes.append(
            f"{mutants['killed']} of {mutants['total']} deliberately wrong formulas were rejected."
        )
    if summary.get("judged"):
        notes.append(f"Decided by comparison with a cited source: {summary['judged']}.")
    return f'<span class="vt-decided">{head} {badges} <small>{" ".join(notes)}</small></span>'


def evidence(claim: Claim) -> str:
    """The lines of the records that decide a claim."""
    lines = "".join(
        f'<li class="vt-{escape(e["kind"])}"><code class="vt-line">{escape(e["text"])}</code></li>'
        for e in claim["evidence"]
    )
    return f'<ul class="vt-lines">{lines}</ul>' if lines else ""


def truth(claim: Claim) -> str:
    """What is true instead, or under which conditions: HTML, empty where there is nothing to add.

    A claim that is read in several cases has one of either for each case that needs it.
    """
    parts = [("Only if", *found) for found in claim.get("conditions", [])]
    parts += [("What is true", *found) for found in claim.get("truths", [])]
    return "".join(
        f"<p><b>{label}</b>{f' (case “{escape(case)}”)' if case else ''} {statement(text)}</p>"
        for label, case, text in parts
    )


def links(label: str, ids: Iterable[str], claims: Mapping[str, Claim], link: Link) -> str:
    known = [claims[i] for i in ids if i in claims]
    inner = ", ".join(f'<a href="{link(c)}">{c["id"]}</a>' for c in known)
    return f'<p class="vt-uses">{label} {inner}</p>' if known else ""


def group(source: Mapping[str, Any]) -> str:
    """The heading of an article's claims, or of the book's own."""
    chapter = source["chapter"]
    return (f"Chapter {chapter} · " if chapter else "") + escape(source["title_en"])


def row(claim: Claim, chapter: int | None, claims: Mapping[str, Claim], link: Link) -> str:
    """One claim as a row of the ledger; on a phone the style sheet turns it into a card."""
    reading = claim.get("reading")
    read_as = f"<details><summary>How we read it</summary>{statement(reading)}</details>"
    where = escape(claim["where"])
    name = claim["id"]
    if claim["notebook"]:
        name = f'<a href="{link(claim)}" title="to the notebook">{name}</a>'
    why = f'<p class="vt-why">{statement(claim.get("why"))}</p>' if claim["notebook"] else ""
    return f"""<tr class="vt-row" id="{claim["id"]}" data-chapter="{chapter or "own"}"
 data-kind="{claim["kind"]}" data-verdict="{claim["verdict"]}">
<th scope="row"><b class="vt-id">{name}</b>
<span class="vt-where">{where}</span><span class="vt-kind">{claim["kind"]}</span></th>
<td class="vt-says">{statement(claim["says"])}{read_as if reading else ""}{truth(claim)}</td>
<td class="vt-decision">{badge(claim)}{why}{evidence(claim)}
{links("Rests on", claim.get("uses") or [], claims, link)}
{links("Used by", claim.get("used_by") or [], claims, link)}</td></tr>"""


def ledger(
    data: Mapping[str, Any], claims: Mapping[str, Claim], link: Link, article: str | None
) -> str:
    """The ledger of one article, or of all, as a table that reads without JavaScript."""
    bodies = []
    own = article == OWN
    for source in data["articles"]:
        if article in (None, source["key"]):
            rows = "\n".join(
                row(c, source["chapter"], claims, link)
                for c in data["claims"]
                if c["article"] == source["key"]
            )
            head = (
                f'<tr class="vt-group"><th colspan="3" scope="rowgroup">{group(source)}</th></tr>'
            )
            bodies.append(f"<tbody>{head if article is None else ''}\n{rows}</tbody>")
    return (
        '<div class="vt-ledger"><table class="vt-table"><thead><tr><th scope="col">Claim</th>'
        f'<th scope="col">What the {"book" if own else "article"} says</th>'
        '<th scope="col">Verdict and evidence</th></tr>'
        f"</thead>{''.join(bodies)}</table></div>"
    )


def erratum(claim: Claim, link: Link) -> str:
    """One entry of the errata: what is said, what is true, and the run that shows it."""
    shown = [e for e in claim["evidence"] if e["kind"] in ("counterexample", "witness")]
    return f"""<section class="vt-erratum" id="{claim["id"]}">
<p class="vt-head"><a href="{link(claim)}"><b>{claim["id"]}</b></a> {badge(claim)}
<span class="vt-where">{escape(claim["where"])}</span></p>
<p><b>The article says</b> {statement(claim["says"])}</p>{truth(claim)}
{evidence({"evidence": shown or claim["evidence"]})}</section>"""


def errata(data: Mapping[str, Any], link: Link) -> str:
    """Every claim found wrong, or true only under a condition that the article leaves out."""
    parts = []
    for source in data["articles"]:
        found = [
            c
            for c in data["claims"]
            if c["article"] == source["key"] and c["verdict"] in ("wrong", "holds-if")
        ]
        if found:
            parts.append(f'<p class="vt-group">{group(source)}</p>')
            parts += [erratum(c, link) for c in found]
    return "\n".join(parts) or "<p>No erratum has been decided yet.</p>"


def corrections(data: Mapping[str, Any], link: Link, article: str) -> str:
    """What an article says beside what is true, for each claim that does not hold as it stands."""
    rows = "".join(
        f'''<tr class="vt-pair"><th scope="row"><a href="{link(c)}"><b>{c["id"]}</b></a>
{badge(c)}</th><td>{statement(c["says"])}</td><td>{truth(c)}</td></tr>'''
        for c in data["claims"]
        if c["article"] == article and c["verdict"] in ("wrong", "holds-if")
    )
    head = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("Claim", "What the article says", "What is true")
    )
    return (
        '<div class="vt-corrections"><table class="vt-table vt-pairs">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def article(source: Mapping[str, Any]) -> str:
    """Title, author, date and address of the article that a chapter follows."""
    name = f'<cite lang="zh">{escape(source["title"])}</cite>'
    if source.get("url"):
        name = f'<a href="{escape(source["url"])}">{name}</a>'
    by = ", ".join(escape(x) for x in (source.get("author"), source.get("date")) if x)
    return (
        f'<p class="vt-article">The article: {name}<br><i>{escape(source["title_en"])}</i>'
        f"<br>{by or 'author and date not stated in our copy'}</p>"
    )
