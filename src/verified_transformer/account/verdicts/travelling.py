"""From all records to all verdicts: what a claim takes over from those on which it rests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..evidence import VERDICTS
from ..records.record import Record
from ..registry import Statement, from_the_ground
from .decide import Decision, LedgerError, decide


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
    used = {name: uses(s, by_claim[name]) for name, s in statements.items()}
    decisions: dict[str, Decision] = {}
    below: dict[str, set[str]] = {}  # all on which a claim rests, near or far
    reached: dict[str, dict[str, str]] = {}  # the conditions that reach those that rest on it
    for name in from_the_ground(used):
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
    return {name: decisions[name] for name in statements}


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


def uses(statement: Statement, records: Iterable[Record]) -> list[str]:
    """Return the ids of the claims on which one rests, in order."""
    declared = statement.reading.uses if statement.reading else ()
    return sorted({*declared, *(used for record in records for used in record.uses)})


def _condition(statement: Statement) -> str:
    parts = statement.reading.parts.values() if statement.reading else ()
    return " ".join(part.condition for part in parts if part.condition)
