"""nbval's notebooks, their outputs compared by `comparing`: words exactly, numbers in their bands.

By itself nbval compares texts alone, and shows two lines that differ in eight digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from ..account.records import record
from ..account.records.ran import RecordError
from ..commands.notebooks import bands, comparing
from ..serving import served
from .near_claims import claims_near


class BandedCell(IPyNbCell):
    """A cell that fails where its outputs have moved, and says by how much."""

    def compare_outputs(self, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        """Return whether a new run says what is stored; what differs is told in lines."""
        found = comparing.moves(ref, test, bands.read(self.cell.metadata))
        self.comparison_traceback = [comparing.told(move) for move in found if move.far > 1]
        if self.comparison_traceback:
            self.comparison_traceback += moved_fields(ref, test)
        return not self.comparison_traceback

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        """Say which claims, what moved and how far, and what to run; then the cell."""
        cells = self.parent.nb.cells
        near = claims_near([cell.source for cell in cells], cells.index(self.cell))
        about = ", ".join(near) or "a cell of no claim"
        found = getattr(self, "comparison_traceback", None)
        if not found:
            return f"{about}\n{super().repr_failure(excinfo)}"
        notebook = self.path.relative_to(self.config.rootpath).as_posix()
        book = served()
        first = f"{book.to_run('verify', near[0])}, or " if near else ""
        return "\n".join([
            f"{about}: not as stored",
            *(f"  {line}" for line in found),
            f"to run: {first}{book.to_run('refresh', notebook)}, which shows all that differs",
            "", self.cell.source,
        ])  # fmt: skip


class BandedNotebook(IPyNbFile):
    """A notebook of such cells."""

    def collect(self) -> Iterator[BandedCell]:
        """Yield a test for each cell."""
        for cell in super().collect():
            yield BandedCell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
            )


def banded(found: Any) -> Any:
    """Return one of our notebooks instead of nbval's; anything else as it is."""
    if type(found) is IPyNbFile:
        return BandedNotebook.from_parent(found.parent, path=found.path)
    return found


def moved_fields(before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    """Say which fields of a cell's records moved; the hash at the end of a line says only that.

    Args:
        before, after: the cell's outputs as stored and as they came out.
    """
    return [
        f"{' '.join(new.claims)}: {line}"
        for old, new in zip(_records(before), _records(after), strict=False)
        for line in comparing.beside(record.fields(old), record.fields(new))
    ]


def _records(outputs: Sequence[Any]) -> list[record.Record]:
    made = []
    for output in outputs:
        data = output.get("metadata", {}).get(record.METADATA_KEY)
        with suppress(RecordError):  # a card or a display, which is no record
            made += [record.from_json(data)] if data else []
    return made
