"""From records to verdicts: pure functions of the registry's statements and their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .. import evidence
from ..evidence import Weight
from ..reading import Reading
from ..records import margins
from ..records.record import Record
from ..registry import Statement

_RANK = {name: rank for rank, name in enumerate(evidence.VERDICTS)}


class LedgerError(ValueError):
    """Records contradict each other, the registry, or their own text."""


@dataclass(frozen=True)
class Decision:
    """A verdict, whether it rests on a citation alone, and why, in a line."""

    verdict: str
    judged: bool
    why: str


def decide(statement: Statement, records: Sequence[Record]) -> Decision:
    """Let the verdict on one claim follow from its records.

    Args:
        statement: the claim, with its reading.
        records: all records that name it.

    Returns:
        The worst decision over its cases; "undecided" while evidence is missing.

    Raises:
        LedgerError: the records contradict each other or the reading, or an experiment's outcome
            has no margin.
    """
    if not records:
        return Decision("undecided", False, "no cell decides it")
    reading = statement.reading
    if reading is None:
        raise LedgerError(f"{statement.id}: has records but no reading in the registry")
    strangers = {r.case for r in records} - set(reading.deciding)
    if strangers:
        raise LedgerError(f"{statement.id}: records of unknown cases {sorted(map(str, strangers))}")
    for record in records:
        fault = margin_fault(record)
        if fault:
            raise LedgerError(f"{statement.id}: {fault}")
    decisions = []
    for name, case in reading.deciding.items():
        found = _decide_case(statement, case, [r for r in records if r.case == name])
        label = f"case {name}: " if name else ""
        decisions.append(Decision(found.verdict, found.judged, label + found.why))
    return max(decisions, key=lambda d: _RANK[d.verdict])


def margin_fault(record: Record) -> str | None:
    """Say why the outcome of an experiment would not travel to another machine, or return None.

    An outcome stands where the near end of its interval is at least half its width from zero.
    """
    if _weight(record) is not Weight.TRIES or record.outcome == "unsettled":
        return None
    interval, what = record.volatile.interval, f"experiment “{record.statement}”"
    if interval is None:
        return f"{what} has no interval; run its notebook again"
    if interval.margin >= margins.NEEDED:
        return None
    return (
        f"{what} has the interval {interval.low:.4g} … {interval.high:.4g}, whose near end is "
        f"{interval.margin:.2f} half widths from zero; it needs {margins.NEEDED:g}: "
        "more runs, or leave it open"
    )


def _decide_case(statement: Statement, reading: Reading, records: Sequence[Record]) -> Decision:
    weights = {_weight(r) for r in records if r.of == "reading"}
    against = [r for r in records if r.outcome == "contradicts"]
    support = [
        r for r in records
        if r.of == "reading" and _weight(r) in evidence.SUPPORTING and r.outcome != "contradicts"
    ]  # fmt: skip
    partly = any(r.outcome == "partly" for r in support)
    limited = Weight.LIMITS in weights or partly
    if Weight.SETS_ASIDE in weights:
        if len(records) > 1:
            raise LedgerError(f"{statement.id}: set aside, yet other records decide it")
        return Decision("not-truth-apt", False, records[0].detail)
    if Weight.REFUTES in weights:
        if support:
            raise LedgerError(f"{statement.id}: decided twice, as supported and as refuted")
        return _refuted(statement, reading, records)
    if Weight.TRIES in weights:
        return _experiment(statement, records)
    if limited and not reading.condition:
        raise LedgerError(f"{statement.id}: a failing witness, but no condition in the reading")
    if against and not reading.condition:
        return _contradicted(statement, reading, against, support)
    missing = evidence.missing(statement.kind, [r.kind for r in support])
    if not missing:
        judged = all(evidence.kind(r.kind).judged for r in support)
        if not reading.condition:
            return Decision("holds", judged, _summary(support))
        if limited or against:
            return Decision("holds-if", judged, f"{_summary(support)}; fails without the condition")
        missing = "the run in which it fails without its condition"
    if Weight.ATTEMPTS in weights:
        return Decision("open", False, _first(records, Weight.ATTEMPTS).detail)
    return Decision("undecided", False, f"still missing: {missing}")


def _refuted(statement: Statement, reading: Reading, records: Sequence[Record]) -> Decision:
    truth = [r for r in records if r.of == "truth" and r.outcome == "supports"]
    missing = (
        evidence.missing(statement.kind, [r.kind for r in truth])
        if reading.truth
        else "the right statement in the reading"
    )
    if missing:
        return Decision("undecided", False, f"refuted, but the truth is not decided: {missing}")
    return Decision("wrong", False, f"counter-example; the truth by {_summary(truth)}")


def _contradicted(
    statement: Statement, reading: Reading, against: Sequence[Record], support: Sequence[Record]
) -> Decision:
    if support:
        raise LedgerError(f"{statement.id}: cited both for and against, and no condition is given")
    if not reading.truth:
        return Decision("undecided", False, "contradicted, but the reading names no truth")
    return Decision("wrong", True, _summary(against))


def _experiment(statement: Statement, records: Sequence[Record]) -> Decision:
    outcomes = {r.outcome for r in records if _weight(r) is Weight.TRIES}
    if len(outcomes) > 1:
        raise LedgerError(f"{statement.id}: experiments with different outcomes {sorted(outcomes)}")
    verdicts = {"supports": "reproduced", "contradicts": "not-reproduced"}
    verdict = verdicts.get(outcomes.pop(), "open")
    return Decision(verdict, False, _first(records, Weight.TRIES).full_detail)


def _weight(record: Record) -> Weight:
    return evidence.kind(record.kind).weight


def _first(records: Sequence[Record], weight: Weight) -> Record:
    return next(r for r in records if _weight(r) is weight)


def _summary(records: Sequence[Record]) -> str:
    return " + ".join(sorted({r.kind for r in records}, key=list(evidence.KINDS).index))


def decide_all(
    statements: Mapping[str, Statement], records: Iterable[Record]
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
    by_claim: dict[str, list[Record]] = {name: [] for name in statements}
    for record in records:
        for name in record.claims:
            if name not in by_claim:
                raise LedgerError(f"{name}: has a record but is not in the registry")
            by_claim[name].append(record)
    decisions = {name: decide(s, by_claim[name]) for name, s in statements.items()}
    used = {name: uses(s, by_claim[name]) for name, s in statements.items()}
    changed = True
    while changed:
        changed = False
        for name, found in decisions.items():
            weak = [u for u in used[name] if not evidence.verdict(decisions[u].verdict).carries]
            if weak and found.verdict in ("holds", "holds-if"):
                why = ", ".join(f"{u} ({decisions[u].verdict})" for u in weak)
                decisions[name] = Decision("undecided", False, f"rests on {why}")
                changed = True
    return decisions


def uses(statement: Statement, records: Iterable[Record]) -> list[str]:
    """Return the ids of the claims on which one rests, in order."""
    declared = statement.reading.uses if statement.reading else ()
    return sorted({*declared, *(used for record in records for used in record.uses)})
