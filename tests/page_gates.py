"""What the built pages show of the claims, recomputed: tallies, badges, truths, links.

All is computed from the entries of ``claims.json``, by code that shares nothing with the templates;
``claims.json`` itself is held against the stored outputs. `_row` and its neighbours say what stands
in a box, in order: what a template gains, they must learn.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from html_gates import Page, claims, pages
from output_gates import differing, other_outputs
from page_facts import ID, bare

from verified_transformer.account import evidence, ledger

Claim = dict[str, Any]
LEDGER, ERRATA = "book/ledger.html", "book/errata.html"
AGAINST = ("counterexample", "witness")
ROLE = re.compile(r"\{decided\}`([^`]*)`")
SUMMED = ("total", "decided", "judged", "by_verdict", "mutants")


def _by_id(html: Path) -> dict[str, Claim]:
    return {claim["id"]: claim for claim in claims(html)}


# ------------------------------------------------------------------ verdicts and sums


def _label(claim: Claim) -> str:
    row = evidence.verdict(claim["verdict"])
    return f"{row.mark} {row.label}" + (" (judged)" if claim["judged"] else "")


def other_badges(html: Path) -> list[str]:
    """Badges that do not show the verdict of their claim, or that belong to no claim."""
    known = _by_id(html)
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
            wanted = (_label(claim), {f"vt-is-{claim['verdict']}"}, claim["why"])
            if shown != wanted and badge.text:
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
        "mutants": {key: sum(score[key] for score in mutants) for key in ("killed", "total")},
    }


def _sums(html: Path) -> dict[str, dict[str, Any]]:
    entries = claims(html)
    made = {key: summed([c for c in entries if c["article"] == key])
            for key in {c["article"] for c in entries}}  # fmt: skip
    return made | {"all": summed([c for c in entries if c["article"] != "book"])}


def _tally(sums: dict[str, Any]) -> str:
    text = f"{sums['decided']} of {sums['total']} statements decided."
    for name, count in sums["by_verdict"].items():
        row = evidence.verdict(name)
        text += f"{row.mark} {count} {row.plural}"
    if sums["mutants"]["total"]:
        killed, total = sums["mutants"]["killed"], sums["mutants"]["total"]
        text += f"{killed} of {total} deliberately wrong formulas were rejected."
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


def other_sums(html: Path) -> list[str]:
    """Sums in ``claims.json`` that are not those of its claims."""
    said = json.loads((html / "claims.json").read_text(encoding="utf-8"))["summary"]
    sums = _sums(html)
    parts = {"all": said, **said["by_article"]}
    return [
        f"claims.json: {part}: {key} is {sums_said[key]}, not {sums[part][key]}"
        for part, sums_said in parts.items()
        for key in SUMMED
        if {k: v for k, v in _items(sums_said[key]) if k != "below"}
        != dict(_items(sums[part][key]))
    ]  # fmt: skip


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, dict) else [("", value)]


# ------------------------------------------------------------------ boxes


def _truth(claim: Claim) -> str:
    return "".join(
        f"{label}{f'(case “{case}”)' if case else ''}{text}"
        for label, parts in (("Only if", claim["conditions"]), ("What is true", claim["truths"]))
        for case, text in parts
    )


def _lines(records: Iterable[Claim]) -> str:
    return "".join(record["text"] for record in records)


def _row(claim: Claim) -> str:
    reading = f"How we read it{claim['reading']}" if claim["reading"] else ""
    head = f"{claim['id']}{claim['where']}{claim['kind']}{claim['says']}{reading}{_truth(claim)}"
    why = claim["why"] if claim["notebook"] else ""
    ends = (("Rests on", claim["uses"]), ("Used by", claim["used_by"]))
    named = "".join(label + ",".join(ids) for label, ids in ends if ids)
    return head + _label(claim) + why + _lines(claim["evidence"]) + named


def _erratum(claim: Claim) -> str:
    against = [record for record in claim["evidence"] if record["kind"] in AGAINST]
    said = f"The article says{claim['says']}"
    shown = _lines(against or claim["evidence"])
    return f"{claim['id']}{_label(claim)}{claim['where']}{said}{_truth(claim)}{shown}"


def _correction(claim: Claim) -> str:
    return f"{claim['id']}{_label(claim)}{claim['says']}{_truth(claim)}"


def _result(claim: Claim) -> str:
    return f"{claim['id']}{_label(claim)}{_lines(claim['evidence'])}"


SHOWS: dict[str, Callable[[Claim], str]] = {
    "row": _row, "erratum": _erratum, "correction": _correction, "result": _result,
}  # fmt: skip


def other_boxes(html: Path) -> list[str]:
    """Rows, errata, corrections and teasers that show another text than their claim has."""
    known = _by_id(html)
    return [
        fault
        for page in pages(html)
        for kind, shows in SHOWS.items()
        for name, text in page.facts.boxes[kind]
        for fault in (
            differing(f"{page.name}: {kind} {name}", text, bare(shows(known[name])))
            if name in known
            else [f"{page.name}: {kind} of an unknown claim: {name}"]
        )
    ]


def missing_errata(html: Path) -> list[str]:
    """Claims wrong, or true only under a condition, that the errata leave out or tell no truth of.

    A page of corrections lists all of its article's, and the errata list nothing else.
    """
    wanted = [c for c in claims(html) if c["verdict"] in ("wrong", "holds-if")]
    found = [
        f"errata: nothing is said to be true instead of {c['id']}"
        for c in wanted
        if not (c["truths"] if c["verdict"] == "wrong" else c["conditions"])
    ]
    for page in pages(html):
        pairs = [name for name, _ in page.facts.boxes["correction"]]
        article = next((c["article"] for c in wanted if c["id"] in pairs), None)
        if pairs:
            own = [c["id"] for c in wanted if c["article"] == article]
            found += [f"{page.name}: corrections leave out {c}" for c in own if c not in pairs]
        if page.name == ERRATA:
            listed = Counter(name for name, _ in page.facts.boxes["erratum"])
            expected = Counter(c["id"] for c in wanted)
            found += [f"errata: {c} is left out" for c in expected - listed]
            found += [f"errata: {c} does not belong here" for c in listed - expected]
    return found


def other_lines(html: Path) -> list[str]:
    """Lines of records that no record of any claim prints."""
    printed = {record["text"] for claim in claims(html) for record in claim["evidence"]}
    return [
        f"{page.name}: no record prints {text!r}"
        for page in pages(html)
        for text, _ in page.facts.lines
        if text not in printed
    ]


def other_tables(html: Path) -> list[str]:
    """Tables of verdicts and of evidence that do not say what the account says."""
    verdicts = "VerdictIt meansIt takes" + "".join(
        f"{row.mark}{row.label}{row.means}{row.takes}" for row in evidence.VERDICTS.values()
    )
    kinds = "EvidenceWhat it showsWhat it can doWhat it needs" + "".join(
        f"{row.label}{row.shows}{row.weight.value}"
        f"{'; judged, and counted apart' if row.judged else ''}{row.needs}"
        for row in evidence.KINDS.values()
    )
    wanted = {bare(text)[:15]: bare(text) for text in (verdicts, kinds)}
    return [
        fault
        for page in pages(html)
        for shown in page.facts.tables
        for fault in differing(f"{page.name}: table", shown, wanted.get(shown[:15], ""))
    ]


# ------------------------------------------------------------------ links


def other_links(html: Path) -> list[str]:
    """Links that name a claim and lead to another, or to a place where no claim stands."""
    known = _by_id(html)
    places = {page.name: dict(page.facts.places) for page in pages(html)}
    found = []
    for page in pages(html):
        for anchor, claim in page.facts.places:
            if claim != anchor:
                found.append(f"{page.name}: at the anchor {anchor} stands {claim}")
        named = [(text, href, badge) for text, href, badge in page.facts.links]
        named += [(line.split()[0], href, None) for line, href in page.facts.lines if href]
        for text, href, badge in named:
            parts = urlsplit(href)
            if parts.scheme or parts.netloc:
                continue
            anchor = unquote(parts.fragment)
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


GATES = (
    other_badges, other_tallies, other_sums, other_boxes, missing_errata, other_lines, other_tables,
    other_links, other_outputs,
)  # fmt: skip
