"""What stands in the boxes of the built pages: rows, errata, corrections, teasers and tables.

`_row` and its neighbours say what stands in a box, in order, by code that shares nothing with the
templates: what a template gains, they must learn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from html_gates import claims, pages
from output_gates import differing
from page_facts import bare

from verified_transformer.account import evidence
from verified_transformer.account.verdicts.decide import RULES

Claim = dict[str, Any]
ERRATA = "book/errata.html"
AGAINST = ("counterexample", "witness")


def by_id(html: Path) -> dict[str, Claim]:
    """The published claims by their ids."""
    return {claim["id"]: claim for claim in claims(html)}


def label(claim: Claim) -> str:
    """The words of a claim's badge."""
    row = evidence.verdict(claim["verdict"])
    return f"{row.mark} {row.label}" + (" (judged)" if claim["judged"] else "")


def _truth(claim: Claim) -> str:
    parts = [("Only if", *part) for part in claim["conditions"]]
    parts += [("What is true", *part) for part in claim["truths"]]
    own = "".join(f"{head}{f'(case “{case}”)' if case else ''}{text}" for head, case, text in parts)
    head = "Only if" if claim["verdict"] == "holds-if" else "The condition"
    return own + "".join(
        f"{head}(of {origin}, on which it rests){text}" for origin, text in claim["inherited"]
    )


def _changes(claim: Claim) -> str:
    told = [
        f"{change['date']}: {change['before'] or 'new'} → {change['after']}. {change['reason']}"
        for change in claim["history"]
    ]
    return "What was changed" * bool(told) + "".join(told)


def _lines(records: Iterable[Claim]) -> str:
    return "".join(record["text"] for record in records)


def _row(claim: Claim) -> str:
    reading = f"How we read it{claim['reading']}" if claim["reading"] else ""
    if claim["setting"]:
        reading += f"The article's setting{claim['setting']}"
    met = "".join(f"The condition of {c}is met: {why}" for c, why in claim["discharges"])
    head = (
        f"{claim['id']}{claim['where']}{claim['kind']}{claim['says']}{reading}{_truth(claim)}{met}"
    )
    why = claim["why"] if claim["notebook"] else ""
    why += "".join(f"Not yet shown: {RULES[rule]}." for rule in claim["pending"])
    ends = (("Rests on", claim["uses"]), ("Used by", claim["used_by"]))
    named = "".join(label + ",".join(ids) for label, ids in ends if ids)
    return head + label(claim) + why + _lines(claim["evidence"]) + named + _changes(claim)


def _erratum(claim: Claim) -> str:
    against = [record for record in claim["evidence"] if record["kind"] in AGAINST]
    said = f"The article says{claim['says']}"
    shown = _lines(against or claim["evidence"])
    return f"{claim['id']}{label(claim)}{claim['where']}{said}{_truth(claim)}{shown}"


def _correction(claim: Claim) -> str:
    return f"{claim['id']}{label(claim)}{claim['says']}{_truth(claim)}"


def _result(claim: Claim) -> str:
    return f"{claim['id']}{label(claim)}{_lines(claim['evidence'])}"


SHOWS: dict[str, Callable[[Claim], str]] = {
    "row": _row, "erratum": _erratum, "correction": _correction, "result": _result,
}  # fmt: skip


def other_boxes(html: Path) -> list[str]:
    """Rows, errata, corrections and teasers that show another text than their claim has."""
    known = by_id(html)
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
        if not (c["truths"] if c["verdict"] == "wrong" else c["conditions"] or c["inherited"])
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
