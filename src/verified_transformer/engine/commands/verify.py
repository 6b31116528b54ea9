"""`verify`: one claim run afresh, and held against what is stored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..account import ledger, registry
from ..account.records.notebook_records import records_in
from ..account.records.record import LedgerError, Record, differences
from ..account.registry import Statement
from ..account.verdicts.decide import Decision, decide
from .notebooks.running import run

_Key = tuple[str, str, str | None]


def verify(root: Path, name: str) -> int:
    """Run every notebook that decides a claim, up to its last record, and compare its records.

    Raises:
        KeyError: the id is not in the registry.
        LedgerError: the stored records have faults, whatever the fresh ones say.
    """
    statement = registry.statement(name)
    found, faults = ledger.read(root)
    if faults:
        raise ledger.LedgerError("\n".join(faults))
    own = [item for item in found if name in item.record.claims]
    if not own:
        print(f"{name}: {statement.says}\n{name}: no notebook decides it yet", file=sys.stderr)
        return 1
    fresh: list[Record] = []
    failed = False
    for notebook in dict.fromkeys(item.notebook for item in own):
        again = run(root / notebook, last=max(i.cell for i in own if i.notebook == notebook))
        for error in again.errors:
            print(f"{name}: {notebook}, {error}", file=sys.stderr)
        came_out = records_in(again.book.cells, notebook)
        fresh += [item.record for item in came_out if name in item.record.claims]
        failed |= bool(again.errors)
    for record in fresh:
        print(f"{record.line}   ({record.volatile.seconds:.2f} s)")
    outcome = compared(statement, [item.record for item in own], fresh)
    print(outcome, file=sys.stdout if outcome.same else sys.stderr)
    return int(failed or not outcome.same)


@dataclass(frozen=True)
class Verification:
    """What became of a claim when it was run afresh.

    Attributes:
        statement: the claim.
        stored, fresh: the verdicts that follow from the stored and from the fresh records; what
            other claims do to them is the ledger's matter.
        moved: a line for each field that is not what is stored, and for each record that one side
            lacks.
    """

    statement: Statement
    stored: Decision
    fresh: Decision
    moved: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether what came out is what is stored, the verdict included."""
        return not self.moved and self.stored.verdict == self.fresh.verdict

    def __str__(self) -> str:
        """The statement, the verdict, and whether it is what is stored, for a person to read."""
        name, fresh = self.statement.id, self.fresh
        lines = [f"{name}: {self.statement.says}", f"{name}: {fresh.verdict} ({fresh.why})"]
        if self.same:
            return "\n".join([*lines, f"{name}: what came out is what is stored"])
        if self.stored.verdict != fresh.verdict:
            lines.append(f"{name}: stored as {self.stored.verdict} ({self.stored.why})")
        return "\n".join([*lines, *(f"{name}: {moved}" for moved in self.moved)])


def compared(
    statement: Statement, stored: Sequence[Record], fresh: Sequence[Record]
) -> Verification:
    """Compare the records of one claim with those that a fresh run left, both in order."""
    return Verification(
        statement, _decide(statement, stored), _decide(statement, fresh),
        tuple(_moved(stored, fresh)),
    )  # fmt: skip


def _decide(statement: Statement, records: Sequence[Record]) -> Decision:
    try:
        return decide(statement, records)
    except LedgerError as error:
        return Decision("undecided", False, f"refused: {error}")


def _moved(stored: Sequence[Record], fresh: Sequence[Record]) -> list[str]:
    before, after = _grouped(stored), _grouped(fresh)
    lines = []
    for key in {**before, **after}:
        old, new = before.get(key, []), after.get(key, [])
        name = " ".join(filter(None, [key[0], "(truth)" if key[1] == "truth" else "", key[2]]))
        for one, other in zip(old, new, strict=False):
            lines += [f"{name}: {line}" for line in differences(one, other)]
        lines += [f"{name}: stored, but did not come out: {r.line}" for r in old[len(new) :]]
        lines += [f"{name}: came out, but is not stored: {r.line}" for r in new[len(old) :]]
    return lines


def _grouped(records: Sequence[Record]) -> dict[_Key, list[Record]]:
    groups: dict[_Key, list[Record]] = {}
    for record in records:
        groups.setdefault((record.kind, record.of, record.case), []).append(record)
    return groups
