"""One claim, as it is stored and as it came out afresh: the same, or what moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records.record import Record, differences
from ..registry import Statement
from .decide import Decision, LedgerError, decide

_Key = tuple[str, str, str | None]


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


def verify(statement: Statement, stored: Sequence[Record], fresh: Sequence[Record]) -> Verification:
    """Compare the records of one claim with those that a fresh run left.

    Args:
        statement: the claim.
        stored: all its records in the notebooks' stored outputs, in order.
        fresh: all its records of the fresh run of the same notebooks, in order.

    Raises:
        ValueError: a record names another claim.
    """
    for side, records in (("stored", stored), ("fresh", fresh)):
        for record in records:
            if statement.id not in record.claims:
                raise ValueError(
                    f"{side}: got a record of {' '.join(record.claims)}; accepted: those of "
                    f"{statement.id}"
                )
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
