"""What the built pages say of errors and of what rests on what: grades, order, counts, drawings.

As in `box_gates`, all is recomputed from ``claims.json`` by code of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from box_gates import Claim, by_id
from html_gates import claims, pages
from output_gates import differing
from page_facts import bare

from verifiedbook.account import errata, evidence


def _wrong(html: Path, article: str | None = None) -> list[Claim]:
    """Wrong claims in the order of the errata: roots by grade and order, each with what follows."""
    known, rank = by_id(html), list(errata.GRADES)

    def place(claim: Claim) -> tuple[int, int]:
        return rank.index(claim["erratum"]["grade"]), claim["erratum"]["order"]

    found = [c for c in claims(html) if c["verdict"] == "wrong" and article in (None, c["article"])]
    return sorted(found, key=lambda c: (place(known[_root(c)]), bool(_follows(c)), place(c)))


def _follows(claim: Claim) -> str | None:
    return (claim["erratum"] or {}).get("follows")


def _root(claim: Claim) -> str:
    return _follows(claim) or claim["id"]


def missing_errata(html: Path) -> list[str]:
    """Wrong claims without an erratum or a truth, and conditions that are told nowhere.

    Each stands once, on a page of errata; a list of corrections has all of its article's.
    """
    entries = [c for c in claims(html) if c["verdict"] in ("wrong", "holds-if")]
    found = [
        f"errata: nothing is said to be true instead of {c['id']}"
        for c in entries
        if not (c["truths"] if c["verdict"] == "wrong" else c["conditions"] or c["inherited"])
    ]
    for kind, verdict in (("erratum", "wrong"), ("condition", "holds-if")):
        listed = Counter(n for page in pages(html) for n, _ in page.facts.boxes[kind])
        wanted = Counter(c["id"] for c in entries if c["verdict"] == verdict)
        found += [f"errata: {c} is left out" for c in wanted - listed]
        found += [f"errata: {c} does not belong here" for c in listed - wanted]
    known = by_id(html)
    for page in pages(html):
        pairs = [name for name, _ in page.facts.boxes["correction"]]
        if pairs:
            own = [c["id"] for c in _wrong(html, known[pairs[0]]["article"])]
            found += [f"{page.name}: corrections leave out {c}" for c in own if c not in pairs]
    return found


def other_grades(html: Path) -> list[str]:
    """Errata under another grade or in another order than judged, and other counts of them."""
    known, found = by_id(html), []
    articles = json.loads((html / "claims.json").read_text(encoding="utf-8"))["articles"]
    titles = {a["key"]: f"Chapter {a['chapter']} · {a['title_en']}" for a in articles}
    ordered = [claim["id"] for key in titles for claim in _wrong(html, key)]
    for page in pages(html):
        graded = [(name, text) for name, text in page.facts.boxes["graded"] if name in known]
        for name, shown in graded:
            grade, head = (
                (known[n]["erratum"] or {}).get("grade") for n in (name, _root(known[name]))
            )
            wanted = f"{grade} {errata.GRADES[head].label.capitalize()}" if grade else "no grade"
            found += differing(f"{page.name}: grade of {name}", shown, wanted)
        here = [name for name, _ in graded]
        order = [name for name in ordered if name in here]
        found += differing(f"{page.name}: order", " ".join(here), " ".join(order))
        for kind in ("errata", "counted"):
            for key, shown in page.facts.boxes[kind]:
                if key:
                    wanted = _counts(html, key)
                    wrong = _wrong(html, key)
                    first = wrong[0]["erratum"]["headline"] if wrong else "No error was found."
                    head = f"{titles[key]}{first}" if kind == "errata" else ""
                    found += differing(f"{page.name}: {kind} {key}", shown, bare(head + wanted))
    return found


def _counts(html: Path, article: str) -> str:
    wrong = _wrong(html, article)
    grades = Counter(c["erratum"]["grade"] for c in wrong if not _follows(c))
    below = sum(bool(_follows(c)) for c in wrong)
    met = sum(c["article"] == article and c["verdict"] == "holds-if" for c in claims(html))
    many = "" if met == 1 else "s"
    told = "".join(f"{grades[n]}·{g.label}" for n, g in errata.GRADES.items() if grades[n])
    told += f"{below}·follow{'s' if below == 1 else ''} from these" * bool(below)
    return told + f"{met}·condition{many}, no error{many}" * bool(met)


def other_graphs(html: Path) -> list[str]:
    """Drawings and lists of which claim rests on which that have other lines, signs or links."""
    known, found = by_id(html), []
    for page in pages(html):
        for (name, shown), (_, listed) in zip(
            page.facts.boxes["graph"], page.facts.boxes["edges"], strict=True
        ):
            if not name:  # of sections
                continue
            own = [c for c in known.values() if name in (c["article"], c["id"])]
            wanted = {f"{used}>{c['id']}" for c in own for used in c["uses"]}
            if name in known:
                claim = known[name]
                near = {name, *claim["uses"], *claim["used_by"]}
                wanted = {f"{u}>{n}" for n in near for u in known[n]["uses"] if u in near}
            else:
                found += differing(f"{page.name}: list of {name}", listed, " ".join(sorted(wanted)))
            names = {n for edge in wanted for n in edge.split(">")}
            marks = {f"{evidence.VERDICTS[known[n]['verdict']].mark}{n}@{n}" for n in names}
            told = " ".join([*sorted(wanted), *sorted(marks)])
            found += differing(f"{page.name}: drawing of {name}", shown, told)
    return found
