"""From records to verdicts: what the stored outputs of the notebooks prove.

A record is what one check leaves behind in its cell's output: a line of text, a piece of HTML, and
the machine's record in the output's metadata. The line ends with a hash of every deterministic
field of that record, so that text and record cannot drift apart unseen. `collect` reads the stored
outputs, recomputes the hashes and lets the verdicts follow. Nothing is executed, and neither SymPy
nor torch is needed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import registry
from . import stored_runs as recording
from .registry import Reading, Statement

METADATA_KEY = "verified_transformer"
VERDICTS = (
    "holds", "reproduced", "holds-if", "not-truth-apt",
    "open", "not-reproduced", "wrong", "undecided",
)  # fmt: skip
EVIDENCE = (
    "proof", "exact", "measurement", "counterexample", "witness",
    "experiment", "census", "citation", "set-aside", "attempt",
)  # fmt: skip
_SUPPORT = {"proof", "exact", "measurement", "census", "citation"}
_BEST_FIRST = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
_MAY_BE_USED = {"holds", "holds-if", "reproduced", "not-truth-apt"}


class LedgerError(ValueError):
    """Records contradict each other, the registry, or their own text."""


@dataclass(frozen=True)
class Decision:
    """A verdict, whether it rests on a citation alone, and why, in a line."""

    verdict: str
    judged: bool
    why: str


def seal(record: Mapping[str, Any]) -> str:
    """Return the hash of a record's deterministic fields, as its text line shows it."""
    fixed = {key: value for key, value in record.items() if key not in ("volatile", "hash")}
    data = json.dumps(fixed, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(data.encode()).hexdigest()[:8]


def line(record: Mapping[str, Any]) -> str:
    """Return a record's one line of text: the same on every machine and device."""
    name = " ".join(record["claims"]) + (f" [{record['case']}]" if record.get("case") else "")
    of = " (truth)" if record["of"] == "truth" else ""
    parts = [f"{name} {record['kind']}{of}", record["statement"], record["detail"]]
    return "   ".join([*(part for part in parts if part), f"#{seal(record)}"])


# ------------------------------------------------------------------ from records to a verdict


def decide(statement: Statement, records: Sequence[Mapping[str, Any]]) -> Decision:
    """Let the verdict on one claim follow from its records.

    Args:
        statement: the claim, with its reading.
        records: all records that name it.

    Returns:
        The worst decision over its cases; "undecided" while evidence is missing.

    Raises:
        LedgerError: the records contradict each other or the reading.
    """
    if not records:
        return Decision("undecided", False, "no cell decides it")
    reading = statement.reading
    if reading is None:
        raise LedgerError(f"{statement.id}: has records but no reading in the registry")
    cases = reading.cases or {None: reading}
    strangers = {r.get("case") for r in records} - set(cases)
    if strangers:
        raise LedgerError(f"{statement.id}: records of unknown cases {sorted(map(str, strangers))}")
    decisions = []
    for name, case in cases.items():
        own = [r for r in records if r.get("case") == name]
        found = _decide_case(statement, case, own)
        label = f"case {name}: " if name else ""
        decisions.append(Decision(found.verdict, found.judged, label + found.why))
    return max(decisions, key=lambda d: _BEST_FIRST[d.verdict])


def _decide_case(
    statement: Statement, reading: Reading, records: Sequence[Mapping[str, Any]]
) -> Decision:
    kinds = Counter(r["kind"] for r in records if r["of"] == "reading")
    against = [r for r in records if r["outcome"] == "contradicts"]
    support = [
        r for r in records
        if r["of"] == "reading" and r["kind"] in _SUPPORT and r["outcome"] in ("supports", "partly")
    ]  # fmt: skip
    if kinds["set-aside"]:
        if len(records) > 1:
            raise LedgerError(f"{statement.id}: set aside, yet other records decide it")
        return Decision("not-truth-apt", False, records[0]["detail"])
    if kinds["counterexample"]:
        if support:
            raise LedgerError(f"{statement.id}: decided twice, as supported and as refuted")
        return _refuted(statement, reading, records)
    if kinds["experiment"]:
        return _experiment(statement, records)
    if not reading.condition and (
        kinds["witness"] or any(r["outcome"] == "partly" for r in support)
    ):
        raise LedgerError(f"{statement.id}: a failing witness, but no condition in the reading")
    if against and not reading.condition:
        return _contradicted(statement, reading, against, support)
    missing = _missing(statement.kind, support)
    if not missing:
        judged = all(r["kind"] == "citation" for r in support)
        if not reading.condition:
            return Decision("holds", judged, _summary(support))
        if kinds["witness"] or against or any(r["outcome"] == "partly" for r in support):
            return Decision("holds-if", judged, f"{_summary(support)}; fails without the condition")
        missing = "the run in which it fails without its condition"
    if kinds["attempt"]:
        return Decision("open", False, next(r for r in records if r["kind"] == "attempt")["detail"])
    return Decision("undecided", False, f"still missing: {missing}")


def _refuted(
    statement: Statement, reading: Reading, records: Sequence[Mapping[str, Any]]
) -> Decision:
    truth = [r for r in records if r["of"] == "truth" and r["outcome"] == "supports"]
    missing = (
        "the right statement in the reading"
        if not reading.truth
        else (_missing(statement.kind, truth))
    )
    if missing:
        return Decision("undecided", False, f"refuted, but the truth is not decided: {missing}")
    return Decision("wrong", False, f"counter-example; the truth by {_summary(truth)}")


def _contradicted(
    statement: Statement,
    reading: Reading,
    against: Sequence[Mapping[str, Any]],
    support: Sequence[Mapping[str, Any]],
) -> Decision:
    if support:
        raise LedgerError(f"{statement.id}: cited both for and against, and no condition is given")
    if not reading.truth:
        return Decision("undecided", False, "contradicted, but the reading names no truth")
    return Decision("wrong", True, _summary(against))


def _experiment(statement: Statement, records: Sequence[Mapping[str, Any]]) -> Decision:
    outcomes = {r["outcome"] for r in records if r["kind"] == "experiment"}
    if len(outcomes) > 1:
        raise LedgerError(f"{statement.id}: experiments with different outcomes {sorted(outcomes)}")
    verdict = {"supports": "reproduced", "contradicts": "not-reproduced"}.get(
        outcomes.pop(), "open"
    )
    return Decision(verdict, False, next(r for r in records if r["kind"] == "experiment")["detail"])


def _missing(kind: str, support: Sequence[Mapping[str, Any]]) -> str | None:
    kinds = {r["kind"] for r in support}
    if kind == "number" and "census" in kinds:
        return None  # a number about the world is measured by counting it
    if kind in ("equation", "number"):
        if not kinds & {"proof", "exact"}:
            return "a proof or an exact check"
        return None if "measurement" in kinds else "a measurement beside it"
    return None if kinds else "evidence"


def _summary(records: Sequence[Mapping[str, Any]]) -> str:
    return " + ".join(sorted({r["kind"] for r in records}, key=EVIDENCE.index))


def decide_all(
    statements: Mapping[str, Statement], records: Iterable[Mapping[str, Any]]
) -> dict[str, Decision]:
    """Decide every claim, and let none hold that rests on one that does not.

    Args:
        statements: the registry.
        records: all records of all notebooks.

    Returns:
        A decision for every id.

    Raises:
        LedgerError: see `decide`; or a record names an id that is not in the registry.
    """
    by_claim: dict[str, list[Mapping[str, Any]]] = {name: [] for name in statements}
    for record in records:
        for name in record["claims"]:
            if name not in by_claim:
                raise LedgerError(f"{name}: has a record but is not in the registry")
            by_claim[name].append(record)
    decisions = {name: decide(s, by_claim[name]) for name, s in statements.items()}
    changed = True
    while changed:
        changed = False
        for name, found in decisions.items():
            used = {u for r in by_claim[name] for u in r["uses"]} | set(
                statements[name].reading.uses if statements[name].reading else ()
            )
            weak = sorted(u for u in used if decisions[u].verdict not in _MAY_BE_USED)
            if weak and found.verdict in ("holds", "holds-if"):
                why = ", ".join(f"{u} ({decisions[u].verdict})" for u in weak)
                decisions[name] = Decision("undecided", False, f"rests on {why}")
                changed = True
    return decisions


# ------------------------------------------------------------------ from notebooks to records


@dataclass(frozen=True)
class Found:
    """A record as it was found: in which notebook and cell, with its text line."""

    record: Mapping[str, Any]
    text: str
    notebook: str
    cell: int


def stored_records(notebook: Path, root: Path) -> Iterator[Found]:
    """Yield the records in a notebook's stored outputs, in order.

    Args:
        notebook: path of the ``.ipynb`` file.
        root: the repository's root, to which the notebook's name is made relative.

    Raises:
        LedgerError: a record's text or hash does not belong to it.
    """
    name = notebook.relative_to(root).as_posix()
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for index, cell in enumerate(cells):
        for output in cell.get("outputs", []):
            record = output.get("metadata", {}).get(METADATA_KEY)
            if record is None:
                continue
            text = "".join(output.get("data", {}).get("text/plain", ""))
            if record["kind"] == "card":
                continue
            where = f"{name}, cell {index}: {' '.join(record['claims'])}"
            if text != line(record):
                raise LedgerError(f"{where}: text and hash do not belong to the record: {text}")
            yield Found(record, text, name, index)


def notebooks(root: Path) -> list[Path]:
    """Return the book's notebooks in order."""
    found = (root / "notebooks").glob("*/*.ipynb")
    return sorted(found, key=lambda p: (p.parent, int(p.stem.partition("-")[0]), p.stem))


def read(root: Path) -> tuple[list[Found], list[str]]:
    """Read all stored records, with the faults found on the way.

    Args:
        root: the repository's root.

    Returns:
        Records in order, and one line for each fault: a text that is not its record's, a record
        made from another wording of the claim, an id that does not exist.
    """
    _, statements = registry.load()
    found: list[Found] = []
    faults: list[str] = []
    for notebook in notebooks(root):
        try:
            for item in stored_records(notebook, root):
                found.append(item)
                faults += stale(item, statements)
        except LedgerError as error:
            faults.append(str(error))
    return found, faults


def stale(item: Found, statements: Mapping[str, Statement]) -> list[str]:
    """Say for which claims a record was made from another wording or from a stale recording."""
    faults = []
    for name, fingerprint in zip(item.record["claims"], item.record["readings"], strict=True):
        known = statements.get(name)
        if known is None:
            faults.append(f"{item.notebook}: {name} is not in the registry")
        elif known.fingerprint != fingerprint:
            faults.append(f"{item.notebook}: {name} was decided from another wording; run it again")
    recorded = item.record.get("recorded")
    fault = recorded and recording.fault(recorded["name"], recorded["data"])
    return [*faults, f"{item.notebook}: {fault}"] if fault else faults


def collect(root: Path) -> dict[str, Any]:
    """Build the ledger: every claim with its verdict and evidence.

    Args:
        root: the repository's root.

    Returns:
        A dictionary with ``summary``, ``articles`` and ``claims``, ready for JSON.

    Raises:
        LedgerError: the stored records have faults; the message lists them.
    """
    articles, statements = registry.load()
    found, faults = read(root)
    if faults:
        raise LedgerError("\n".join(faults))
    decisions = decide_all(statements, [item.record for item in found])
    used_by: dict[str, list[str]] = {name: [] for name in statements}
    own: dict[str, list[Found]] = {name: [] for name in statements}
    for item in found:
        for name in item.record["claims"]:
            own[name].append(item)
    uses = {name: _uses(statements[name], own[name]) for name in statements}
    for name, others in uses.items():
        for other in others:
            used_by[other].append(name)
    claims = [
        _entry(s, decisions[s.id], own[s.id], uses[s.id], used_by[s.id])
        for s in statements.values()
    ]
    return {
        "summary": {
            **_count([c for c in claims if c["article"] != registry.OWN]),
            "by_article": {
                key: _count([c for c in claims if c["article"] == key]) for key in articles
            },
        },
        "articles": [{**vars(a), "chapter": a.chapter} for a in articles.values()],
        "claims": claims,
    }


def _uses(statement: Statement, items: Sequence[Found]) -> list[str]:
    declared = statement.reading.uses if statement.reading else ()
    return sorted({*declared, *(u for item in items for u in item.record["uses"])})


def _count(claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    verdicts = Counter(c["verdict"] for c in claims)
    return {
        "total": len(claims),
        "decided": len(claims) - verdicts["undecided"],
        "judged": sum(c["judged"] for c in claims),
        "by_verdict": {v: verdicts[v] for v in VERDICTS if verdicts[v]},
        "mutants": {key: sum(c["mutants"][key] for c in claims) for key in ("killed", "total")},
    }


def _entry(
    statement: Statement,
    decision: Decision,
    items: Sequence[Found],
    uses: list[str],
    used_by: list[str],
) -> dict[str, Any]:
    reading = statement.reading
    records = [item.record for item in items]
    mutants = [r["mutants"] for r in records if r.get("mutants")]
    readings = {None: reading, **reading.cases} if reading else {}
    conditions = [[case, r.condition] for case, r in readings.items() if r.condition]
    truths = [[case, r.truth] for case, r in readings.items() if r.truth]
    condition = " ".join(text for _, text in conditions) or None
    return {
        "id": statement.id,
        "article": statement.article,
        "where": statement.where,
        "kind": statement.kind,
        "says": statement.says,
        "reading": reading.text if reading else None,
        "verdict": decision.verdict,
        "judged": decision.judged,
        "why": decision.why,
        "evidence": [
            {
                "kind": r["kind"], "of": r["of"], "case": r["case"], "outcome": r["outcome"],
                "text": item.text, "hash": seal(r), "latex": r.get("latex"),
            }
            for item, r in zip(items, records, strict=True)
        ],
        "truth": " ".join(text for _, text in truths) or (condition and f"Only if {condition}"),
        "condition": condition,
        "truths": truths,
        "conditions": conditions,
        "uses": uses,
        "used_by": sorted(used_by),
        "mutants": {key: sum(m[key] for m in mutants) for key in ("killed", "total")},
        "notebook": items[0].notebook if items else None,
        "anchor": statement.id if items else None,
        "seconds": round(sum(r.get("volatile", {}).get("seconds", 0.0) for r in records), 3),
    }  # fmt: skip
