"""`verify`: one claim run afresh, and held against what is stored."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..account import ledger, registry
from ..account.records.record import Record, from_json
from ..account.verdicts.verification import verify as compare
from .notebooks import comparing
from .notebooks.running import run


def verify(root: Path, name: str) -> int:
    """Run every notebook that decides a claim, up to its last record, and compare its records.

    Args:
        root: the repository.
        name: the claim's id.

    Returns:
        0 where every record and the verdict came out as stored, else 1.

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
        fresh += _records(again.book, name)
        failed |= bool(again.errors)
    for record in fresh:
        print(f"{record.line}   ({record.volatile.seconds:.2f} s)")
    outcome = compare(statement, [item.record for item in own], fresh)
    print(outcome, file=sys.stdout if outcome.same else sys.stderr)
    return int(failed or not outcome.same)


def _records(book: Any, name: str) -> Iterator[Record]:
    for data in comparing.records(book):
        if name in data["claims"]:
            yield from_json(data)
