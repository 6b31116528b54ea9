"""From all records to all verdicts: what a claim takes over from those on which it rests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .. import evidence
from ..records.record import Record
from ..registry import Statement
from .decide import Decision, LedgerError, decide


def decide_all(
    statements: Mapping[str, Statement], records: Iterable[Record]
) -> dict[str, Decision]:
    """Decide every claim, and let none hold better than those on which it rests.

    A claim that rests on an undecided or wrong one is undecided. One that rests on a conditional
    one inherits its condition, and holds only under it, unless its reading discharges it.

    Args:
        statements: the registry.
        records: all records of all notebooks.

    Returns:
        A decision for every id.

    Raises:
        LedgerError: see `decide`; or a record names an id that is not in the registry; or a claim
            discharges one on which it does not rest.
    """
    by_claim: dict[str, list[Record]] = {name: [] for name in statements}
    for record in records:
        for name in record.claims:
            if name not in by_claim:
                raise LedgerError(f"{name}: has a record but is not in the registry")
            by_claim[name].append(record)
    decisions = {name: decide(s, by_claim[name]) for name, s in statements.items()}
    used = {name: uses(s, by_claim[name]) for name, s in statements.items()}
    _check_discharged(statements, used)
    _let_none_rest_on_sand(decisions, used)
    _let_conditions_travel(decisions, used, statements)
    return decisions


def uses(statement: Statement, records: Iterable[Record]) -> list[str]:
    """Return the ids of the claims on which one rests, in order."""
    declared = statement.reading.uses if statement.reading else ()
    return sorted({*declared, *(used for record in records for used in record.uses)})


def _let_none_rest_on_sand(
    decisions: dict[str, Decision], used: Mapping[str, Sequence[str]]
) -> None:
    changed = True
    while changed:
        changed = False
        for name, found in decisions.items():
            weak = [u for u in used[name] if not evidence.verdict(decisions[u].verdict).carries]
            if weak and found.verdict in ("holds", "holds-if"):
                why = ", ".join(f"{u} ({decisions[u].verdict})" for u in weak)
                decisions[name] = Decision("undecided", False, f"rests on {why}")
                changed = True


def _let_conditions_travel(
    decisions: dict[str, Decision],
    used: Mapping[str, Sequence[str]],
    statements: Mapping[str, Statement],
) -> None:
    own = {
        name: _condition(statements[name])
        for name, found in decisions.items()
        if found.verdict == "holds-if"
    }
    inherited = _inherited(own, used, statements)
    for name, found in decisions.items():
        from_others = tuple((origin, own[origin]) for origin in sorted(inherited[name]))
        if not from_others or found.verdict not in ("holds", "holds-if"):
            continue
        found = replace(found, inherited=from_others)
        if found.verdict == "holds":
            origins = ", ".join(origin for origin, _ in from_others)
            why = f"{found.why}; inherits the condition of {origins}"
            found = replace(found, verdict="holds-if", why=why)
        decisions[name] = found


def _inherited(
    own: Mapping[str, str], used: Mapping[str, Sequence[str]], statements: Mapping[str, Statement]
) -> dict[str, set[str]]:
    """Whose conditions reach each claim, those left out that it or one on the way discharges."""
    reached: dict[str, set[str]] = {name: set() for name in used}
    changed = True
    while changed:
        changed = False
        for name, others in used.items():
            coming = {other for other in others if other in own}.union(
                *(reached[o] for o in others)
            )
            coming -= set(_discharged(statements[name]))
            changed |= coming != reached[name]
            reached[name] = coming
    return reached


def _discharged(statement: Statement) -> Mapping[str, str]:
    return statement.reading.discharges if statement.reading else {}


def _condition(statement: Statement) -> str:
    parts = statement.reading.parts.values() if statement.reading else ()
    return " ".join(part.condition for part in parts if part.condition)


def _check_discharged(
    statements: Mapping[str, Statement], used: Mapping[str, Sequence[str]]
) -> None:
    for name, statement in statements.items():
        below, waiting = set(), list(used[name])
        while waiting:
            other = waiting.pop()
            if other not in below:
                below.add(other)
                waiting += used[other]
        for other in _discharged(statement):
            if other not in below:
                raise LedgerError(f"{name}: discharges {other}, on which it does not rest")
