"""`verify`: one claim run afresh, and held against what is stored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ..account import ledger, registry
from ..account.records.notebook_records import records_in
from ..account.records.record import LedgerError, Record, fields
from ..account.registry import Statement
from ..account.verdicts.decide import Decision, decide
from .notebooks.comparing import beside
from .notebooks.running import run


def verify(root: Path, name: str) -> int:
    """Run every notebook that decides a claim, up to its last record, and compare its records.

    What other claims do to the verdict is the ledger's matter.

    Raises:
        KeyError: the id is not in the registry.
        LedgerError: the stored records have faults, whatever the fresh ones say.
    """
    statement = registry.statement(name)
    own = [item for item in ledger.read(root) if name in item.record.claims]
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
    same, lines = compared(statement, [item.record for item in own], fresh)
    print("\n".join(f"{name}: {line}" for line in lines), file=sys.stdout if same else sys.stderr)
    return int(failed or not same)


def compared(
    statement: Statement, stored: Sequence[Record], fresh: Sequence[Record]
) -> tuple[bool, list[str]]:
    """Compare the records of one claim with those that a fresh run left, both in order.

    Returns:
        Whether they are the same, verdict included; and in lines what became of the claim.
    """
    before, after = (_decide(statement, records) for records in (stored, fresh))
    moved = [*beside(*([line for r in every for line in fields(r)] for every in (stored, fresh)))]
    if before.verdict != after.verdict:
        moved = [f"stored as {before.verdict} ({before.why})", *moved]
    told = moved or ["what came out is what is stored"]
    return not moved, [statement.says, f"{after.verdict} ({after.why})", *told]


def _decide(statement: Statement, records: Sequence[Record]) -> Decision:
    try:
        return decide(statement, records)
    except LedgerError as error:
        return Decision("undecided", False, f"refused: {error}")
