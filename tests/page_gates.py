"""What the built pages show of the claims, recomputed: tallies, badges, truths, links.

All is computed from the entries of ``claims.json``, by code that shares nothing with the templates;
``claims.json`` itself is held against the stored outputs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from box_gates import (
    Claim,
    by_id,
    label,
    other_boxes,
    other_claim_pages,
    other_rows,
    other_summaries,
    other_tables,
)  # fmt: skip
from errata_gates import missing_errata, other_grades, other_graphs
from html_gates import Page, claims, pages
from output_gates import differing, other_outputs, other_runs, other_strips
from page_facts import ID, bare, named

from verifiedbook.account import evidence, ledger

LEDGER = "book/ledger.html"
ROLE = re.compile(r"\{decided\}`([^`]*)`")
LINK = re.compile(r"\{claim\}`([A-Z]+-\d+)`")


# ------------------------------------------------------------------ verdicts and sums


def other_badges(html: Path) -> list[str]:
    """Badges that do not show the verdict of their claim, or that belong to no claim."""
    known = by_id(html)
    found = []
    for page in pages(html):
        found += [f"{page.name}: a badge of no claim: {text}" for text in page.facts.stray]
        for badge in page.facts.badges:
            claim = known.get(badge.claim)
            if claim is None:
                found.append(f"{page.name}: badge of an unknown claim: {badge.claim}")
                continue
            look = {name for name in badge.classes if name.startswith("vt-is-")}
            shown = (badge.text, look, badge.title)
            wanted = (label(claim), {f"vt-is-{claim['verdict']}"}, claim["why"])
            if shown != wanted:
                found.append(f"{page.name}: badge of {badge.claim} shows {shown}, not {wanted}")
    return found


def summed(entries: Sequence[Claim]) -> dict[str, Any]:
    """The sums of some claims, counted afresh."""
    verdicts = Counter(claim["verdict"] for claim in entries)
    mutants = [claim["mutants"] for claim in entries]
    return {
        "total": len(entries),
        "decided": len(entries) - verdicts["undecided"],
        "judged": sum(claim["judged"] for claim in entries),
        "by_verdict": {name: verdicts[name] for name in evidence.VERDICTS if verdicts[name]},
        "mutants": {
            key: count
            for key in ("killed", "total", "below")
            if (count := sum(score.get(key, 0) for score in mutants)) or key != "below"
        },
    }


def _sums(html: Path) -> dict[str, dict[str, Any]]:
    entries = claims(html)
    made = {key: summed([c for c in entries if c["article"] == key])
            for key in {c["article"] for c in entries}}  # fmt: skip
    return made | {"all": summed([c for c in entries if c["article"] != "book"])}


def _tally(sums: dict[str, Any]) -> str:
    text = f"{sums['decided']} of {sums['total']} statements decided."
    for name, count in sums["by_verdict"].items():
        row = evidence.VERDICTS[name]
        text += f"{row.mark} {count} {row.plural}"
    if sums["mutants"]["total"]:
        killed, total = sums["mutants"]["killed"], sums["mutants"]["total"]
        text += f"{killed} of {total} deliberately wrong formulas were rejected"
        if below := sums["mutants"].get("below"):
            text += f"; {below} more lie too close to the truth for a sample to tell"
        text += "."
    if sums["judged"]:
        text += f"Decided by comparison with a cited source: {sums['judged']}."
    return bare(text)


def other_tallies(html: Path) -> list[str]:
    """Sums on a page that are not those of the claims that its source names."""
    sums, found = _sums(html), []
    for page in pages(html):
        source = html / "_sources" / PurePosixPath(page.name).with_suffix(".md")
        named = ROLE.findall(source.read_text(encoding="utf-8")) if source.exists() else []
        if len(named) != len(page.facts.tallies):
            found.append(f"{page.name}: {len(page.facts.tallies)} tallies, not {len(named)}")
        for name, shown in zip(named, page.facts.tallies, strict=False):
            found += differing(f"{page.name}: tally of {name}", shown, _tally(sums[name]))
    return found


# ------------------------------------------------------------------ links


def other_links(html: Path) -> list[str]:
    """Links that name a claim and lead to another, or to a place where no claim stands."""
    known = by_id(html)
    places = {
        page.name: dict(page.facts.places) | {name: name for name, _ in page.facts.boxes["page"]}
        for page in pages(html)
    }
    found = []
    for page in pages(html):
        asked, shown = _asked_for(html, page), [t for t, _, badge in page.facts.links if badge]
        found += differing(f"{page.name}: links to claims", " ".join(shown), " ".join(asked))
        for anchor, claim in page.facts.places:
            if claim != anchor:
                found.append(f"{page.name}: at the anchor {anchor} stands {claim}")
        told = [(text, href, badge) for text, href, badge in page.facts.links]
        told += [(line.split()[0], href, None) for line, href in page.facts.lines if href]
        for text, href, badge in told:
            parts = urlsplit(href)
            if parts.scheme or parts.netloc:
                continue
            anchor = named(href)
            wanted = {name for name in (text, badge) if name and ID.match(name)} or {anchor}
            where = f"{page.name}: link {text!r} to {href}"
            if badge == "":
                found.append(f"{where}: no verdict follows")
            elif wanted != {anchor}:
                found.append(f"{where}: leads to {anchor}, not to {' '.join(sorted(wanted))}")
            elif anchor not in known:
                found.append(f"{where}: no such claim")
            elif places.get(_reached(page, parts.path), {}).get(anchor) != anchor:
                found.append(f"{where}: the claim does not stand there")
            elif badge and _reached(page, parts.path) != _home(known[anchor]):
                found.append(f"{where}: the claim is decided in {_home(known[anchor])}")
    return found


def _asked_for(html: Path, page: Page) -> list[str]:
    """The claims to which a page's source asks for links, in order."""
    source = html / "_sources" / PurePosixPath(page.name).with_suffix(".md")
    text = source.read_text(encoding="utf-8") if source.exists() else ""
    return LINK.findall(re.sub(r"(?s)<!--.*?-->|^```\s*\n.*?^```", "", text))


def _reached(page: Page, path: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(page.name).parent.parts, *PurePosixPath(unquote(path)).parts):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts) if path else page.name


def _home(claim: Claim) -> str:
    return str(PurePosixPath(claim["notebook"] or LEDGER).with_suffix(".html"))


def other_claims(html: Path, root: Path) -> list[str]:
    """Entries of ``claims.json`` that do not follow from the repository's stored outputs."""
    wanted = json.loads(json.dumps(ledger.collect(root).to_json()))
    said = json.loads((html / "claims.json").read_text(encoding="utf-8"))
    found = [f"claims.json: {key} differs" for key in wanted if said.get(key) != wanted[key]]
    others = {c["id"]: c for c in said["claims"]}
    return found + [
        f"claims.json: {c['id']} is not what its records say"
        for c in wanted["claims"]
        if others.get(c["id"]) != c
    ]


def missing_in_search(html: Path) -> list[str]:
    """Claims whose page the search does not offer when their name is typed."""
    text = (html / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = []
    for name in by_id(html):
        entries = index["indexentries"].get(name.lower(), [])
        if f"claims/{name}" not in {index["docnames"][entry[0]] for entry in entries}:
            found.append(f"the search does not find {name}")
    return found


GATES = (
    other_badges, other_tallies, other_boxes, other_rows, other_claim_pages,
    other_summaries, missing_errata, other_grades, other_graphs, other_tables,
    other_links, other_outputs, other_strips, other_runs, missing_in_search,
)  # fmt: skip
