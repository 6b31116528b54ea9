"""From the records of a claim to its verdict, and from all records to all verdicts.

A verdict is a pure function of statement and records, and of the claims on which it rests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from .. import evidence
from ..citations import age_fault
from ..evidence import VERDICTS, Weight
from ..reading import Reading
from ..records.ran import model_fault, not_run
from ..records.record import NEEDED, LedgerError, Record
from ..registry import Statement
from ..rules import RegistryError

_SPEAKS = {"contradicts": "speaks against", "unsettled": "does not settle"}
_AGELESS = ("citation", "set-aside")
_RANK = {name: rank for rank, name in enumerate(evidence.VERDICTS)}


@dataclass(frozen=True)
class Decision:
    """A verdict, and how it came about.

    Attributes:
        verdict: a row of `evidence.VERDICTS`.
        judged: whether it rests on citations alone.
        why: in a line.
        inherited: pairs of a claim on which this one rests, and its condition.
        uses: the claims on which it rests.
    """

    verdict: str
    judged: bool
    why: str
    inherited: tuple[tuple[str, str], ...] = ()
    uses: tuple[str, ...] = ()


def decide(statement: Statement, records: Sequence[Record]) -> Decision:
    """Let the verdict on one claim follow from its records.

    Returns:
        The worst decision over the cases that decide it; "undecided" while evidence is missing. A
        case that stands beside the others shows in its line.

    Raises:
        LedgerError: the records contradict each other or the reading, a live experiment's outcome
            has no margin, evidence is younger than the day of which the claim speaks, or another
            model ran than those.
    """
    if not records:
        return Decision("undecided", False, "no cell decides it")
    decisions = decide_cases(statement, records)
    reading = statement.reading
    aside = reading.beside if reading else ()
    beside = [(f"beside it, case {name}", decisions.pop(name)) for name in aside]
    if any(found.verdict == "undecided" for _, found in beside):
        label, found = beside[0]
        return replace(found, why=f"{label}: {found.why}")
    return _together(decisions, beside)


def decide_cases(statement: Statement, records: Sequence[Record]) -> dict[str | None, Decision]:
    """Let the verdict on each case of a claim follow from its records, as `decide` does."""
    reading = statement.reading
    if reading is None:
        raise LedgerError(f"{statement.id}: has records but no reading in the registry")
    readings = {**reading.deciding, **reading.beside}
    strangers = {r.case for r in records} - set(readings)
    if strangers:
        raise LedgerError(f"{statement.id}: records of unknown cases {sorted(map(str, strangers))}")
    for record in records:
        fault = margin_fault(record) or _age_fault(record, readings[record.case].day)
        fault = fault or model_fault(record.ran, readings[record.case].models, _named(record))
        if fault:
            raise LedgerError(f"{statement.id}: {fault}")
    return {
        name: _decide_case(statement, case, [r for r in records if r.case == name])
        for name, case in readings.items()
    }


def _together(
    decisions: Mapping[str | None, Decision], beside: Sequence[tuple[str, Decision]]
) -> Decision:
    """The worst of the decisions, with what stands beside it."""
    name, worst = max(decisions.items(), key=lambda item: _RANK[item[1].verdict])
    shown = [f"case {name}: {worst.why}" if name else worst.why]
    shown += [f"{label}: {found.verdict} ({found.why})" for label, found in beside]
    return replace(worst, why="; ".join(shown))


def margin_fault(record: Record) -> str | None:
    """Say why the outcome of an experiment would not travel to another machine, or return None.

    That of live runs stands where the near end of their interval is at least half its width from
    zero; that of a recording, which no machine moves, where zero lies outside.
    """
    if _weight(record) is not Weight.TRIES or record.outcome == "unsettled":
        return None
    interval, what = record.measured, f"experiment “{record.statement}”"
    if interval is None:
        return f"{what} has no interval; run its notebook again"
    needed = 0.0 if record.recorded else NEEDED
    if interval.margin and interval.margin >= needed:
        return None
    return (
        f"{what} has the interval {interval.low:.4g} … {interval.high:.4g}, whose near end is "
        f"{interval.margin:.2f} half widths from zero; it needs {needed or 'more than 0'}: "
        "more runs, or leave it open"
    )


def _age_fault(record: Record, day: str | None) -> str | None:
    """Say why a record is no evidence for a claim about a day; citations are held to it as data."""
    if record.kind in _AGELESS:
        return None
    return age_fault(record.until, day, _named(record))


def _named(record: Record) -> str:
    return f"{record.kind} “{record.statement}”"


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
    absent = not_run((one for r in records for one in r.ran), reading.models)
    if absent:
        return Decision("undecided", False, f"still missing: {absent}")
    if Weight.REFUTES in weights:
        if support or any(_seen(r, "reading", ("supports",)) for r in records):
            raise LedgerError(f"{statement.id}: decided twice, as supported and as refuted")
        return _refuted(statement, reading, records)
    if Weight.TRIES in weights:
        return _experiment(reading, records)
    if (limited or Weight.MEETS in weights) and not reading.condition:
        raise LedgerError(f"{statement.id}: a witness, but no condition in the reading")
    if against and not reading.condition:
        return _contradicted(statement, reading, records, support)
    missing = evidence.missing(statement.kind, [r.kind for r in support])
    if not missing:
        judged = all(evidence.KINDS[r.kind].judged for r in support)
        if not reading.condition:
            return Decision("holds", judged, _summary(support))
        missing = None if judged else _unmet(reading, weights)
        if not (limited or against):
            missing = "the run in which it fails without its condition"
        if not missing:
            met = "" if judged else "met in the article's setting, "
            why = f"{_summary(support)}; {met}fails without the condition"
            return Decision("holds-if", judged, why)
    if Weight.ATTEMPTS in weights:
        return Decision("open", False, _first(records, Weight.ATTEMPTS).detail)
    return Decision("undecided", False, f"still missing: {missing}")


def _unmet(reading: Reading, weights: Collection[Weight]) -> str | None:
    """What is missing to show that the article's own setting meets a condition; None: nothing."""
    if not reading.setting:
        return "the article's setting in the reading"
    if not reading.met_by:
        return "what of the article's setting meets the condition (met_by); if nothing, it is wrong"
    return None if Weight.MEETS in weights else "a run in the article's setting with the condition"


def _refuted(statement: Statement, reading: Reading, records: Sequence[Record]) -> Decision:
    truth = [r for r in records if r.of == "truth" and r.outcome == "supports"]
    missing = (
        evidence.missing(statement.kind, [r.kind for r in truth])
        if reading.truth
        else "the right statement in the reading"
    )
    missing = missing or _not_settled(statement, reading, records)
    if missing:
        return Decision("undecided", False, f"refuted, but the truth is not decided: {missing}")
    return Decision("wrong", False, f"counter-example; the truth by {_summary(truth)}")


def _not_settled(statement: Statement, reading: Reading, records: Sequence[Record]) -> str | None:
    """Say which experiment speaks against the truth, or does not settle it, or return None.

    What the truth leaves open by name need not be settled, and is not.

    Raises:
        LedgerError: the truth leaves open what its experiment settles.
    """
    tried = [r for r in records if _seen(r, "truth", ("supports", "contradicts", "unsettled"))]
    left = {name for name in reading.left_open for r in tried if _is_named(r, name)}
    for record in tried:
        names = [name for name in left if _is_named(record, name)]
        if names and record.outcome != "unsettled":
            raise LedgerError(f"{statement.id}: its truth leaves {names[0]!r} open, it is settled")
        if not names and record.outcome != "supports":
            return f"experiment “{record.statement}” {_SPEAKS[record.outcome]} it"
    unknown = [name for name in reading.left_open if name not in left]
    return f"the experiment that it leaves open, {unknown[0]}" if unknown else None


def _seen(record: Record, of: str, outcomes: Sequence[str]) -> bool:
    return _weight(record) is Weight.TRIES and record.of == of and record.outcome in outcomes


def _contradicted(
    statement: Statement, reading: Reading, records: Sequence[Record], support: Sequence[Record]
) -> Decision:
    if support:
        raise LedgerError(f"{statement.id}: cited both for and against, and no condition is given")
    if not reading.truth:
        return Decision("undecided", False, "contradicted, but the reading names no truth")
    if missing := _not_settled(statement, reading, records):
        return Decision(
            "undecided", False, f"contradicted, but the truth is not decided: {missing}"
        )
    against = [r for r in records if r.outcome == "contradicts"]
    return Decision("wrong", True, _summary(against))


def _experiment(reading: Reading, records: Sequence[Record]) -> Decision:
    """All experiments count; where they differ, the one that the reading named decides."""
    tried = [r for r in records if _weight(r) is Weight.TRIES]
    legs = [r for r in tried if reading.decides is None or _is_named(r, reading.decides)]
    if not legs:
        return Decision(
            "undecided", False, f"still missing: the run that decides, {reading.decides}"
        )
    told = [f"{r.recorded.name if r.recorded else r.statement}: {r.outcome}" for r in tried]
    if len({r.outcome for r in legs}) > 1:
        why = f"experiments differ ({', '.join(told)}), and the reading says not which decides"
        return Decision("undecided", False, why)
    verdicts = {"supports": "reproduced", "contradicts": "not-reproduced"}
    others = [text for text, r in zip(told, tried, strict=True) if r not in legs]
    shown = [legs[0].full_detail, *(f"beside it, {text}" for text in others)]
    return Decision(verdicts.get(legs[0].outcome, "open"), False, "; ".join(shown))


def _is_named(record: Record, name: str) -> bool:
    """Whether a reading means this experiment: by its recording, or by its unit."""
    if record.recorded and record.recorded.name == name:
        return True
    return record.statement.startswith((f"{name}: ", f"{name}, "))


def _weight(record: Record) -> Weight:
    return evidence.KINDS[record.kind].weight


def _first(records: Sequence[Record], weight: Weight) -> Record:
    return next(r for r in records if _weight(r) is weight)


def _summary(records: Sequence[Record]) -> str:
    return " + ".join(sorted({r.kind for r in records}, key=list(evidence.KINDS).index))


def decide_all(
    statements: Mapping[str, Statement], records: Iterable[Record]
) -> dict[str, Decision]:
    """Decide every claim, and let none hold better than those on which it rests.

    A claim that rests on an undecided or wrong one is undecided. One that rests on a conditional
    one inherits its condition, and holds only under it, unless its reading discharges it.

    Raises:
        LedgerError: see `decide`; or a record names an id that is not in the registry; or a claim
            discharges one on which it does not rest.
        RegistryError: one rests on itself, by way of others.
    """
    by_claim: dict[str, list[Record]] = {name: [] for name in statements}
    for record in records:
        for name in record.claims:
            if name not in by_claim:
                raise LedgerError(f"{name}: has a record but is not in the registry")
            by_claim[name].append(record)
    used = {name: _uses(s, by_claim[name]) for name, s in statements.items()}
    decisions: dict[str, Decision] = {}
    below: dict[str, set[str]] = {}  # all on which a claim rests, near or far
    reached: dict[str, dict[str, str]] = {}  # the conditions that reach those that rest on it
    for name in _from_the_ground(used):
        statement, own = statements[name], decide(statements[name], by_claim[name])
        below[name] = {*used[name]}.union(*(below[other] for other in used[name]))
        met = statement.reading.discharges if statement.reading else {}
        if strange := set(met) - below[name]:
            raise LedgerError(f"{name}: discharges {min(strange)}, on which it does not rest")
        coming = {o: text for u in used[name] for o, text in reached[u].items() if o not in met}
        found = decisions[name] = _resting(own, {u: decisions[u] for u in used[name]}, coming)
        reached[name] = coming
        if own.verdict == found.verdict == "holds-if":
            reached[name] = coming | {name: _condition(statement)}
    return {name: replace(decisions[name], uses=used[name]) for name in statements}


def _from_the_ground(uses: Mapping[str, Sequence[str]]) -> list[str]:
    """Claims, each after those that it uses."""
    try:
        return [*TopologicalSorter(uses).static_order()]
    except CycleError as error:
        *trail, name = reversed(error.args[1])
        raise RegistryError(f"{name}: uses itself by way of {' -> '.join(trail)}") from None


def _resting(own: Decision, others: Mapping[str, Decision], coming: Mapping[str, str]) -> Decision:
    """A decision by a claim's own records, given those on which it rests, and their conditions."""
    if own.verdict not in ("holds", "holds-if"):
        return own
    weak = [f"{u} ({d.verdict})" for u, d in others.items() if not VERDICTS[d.verdict].carries]
    if weak:
        return Decision("undecided", False, f"rests on {', '.join(weak)}")
    if not coming:
        return own
    inherited = tuple(sorted(coming.items()))
    if own.verdict == "holds-if":
        return replace(own, inherited=inherited)
    why = f"{own.why}; inherits the condition of {', '.join(sorted(coming))}"
    return replace(own, verdict="holds-if", why=why, inherited=inherited)


def _uses(statement: Statement, records: Iterable[Record]) -> tuple[str, ...]:
    declared = statement.reading.uses if statement.reading else ()
    return tuple(sorted({*declared, *(used for record in records for used in record.uses)}))


def _condition(statement: Statement) -> str:
    parts = statement.reading.parts.values() if statement.reading else ()
    return " ".join(part.condition for part in parts if part.condition)
