"""The records in the notebooks' stored outputs; nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import recordings
from ..registry import Statement
from .ran import RecordError
from .record import METADATA_KEY, LedgerError, Record, from_json


@dataclass(frozen=True)
class Found:
    """A record as it was found: in which notebook and cell, with its text line and its HTML."""

    record: Record
    text: str
    notebook: str
    cell: int
    html: str = ""


def notebooks(root: Path) -> list[Path]:
    """Return the book's notebooks in order.

    Raises:
        ValueError: `root` is no repository of the book.
    """
    folder = root / "notebooks"
    if not folder.is_dir():
        raise ValueError(f"root: got {root}, which has no notebooks; accepted: the repository")
    return sorted(
        folder.glob("*/*.ipynb"), key=lambda p: (p.parent, int(p.stem.partition("-")[0]), p.stem)
    )


def stored_records(notebook: Path, root: Path) -> Iterator[Found]:
    """Yield the records in a notebook's stored outputs, in order.

    Raises:
        LedgerError: a record's text or hash does not belong to it, or it is no record.
    """
    status = notebook.stat()
    name = notebook.relative_to(root).as_posix()
    yield from _read(notebook, name, status.st_mtime_ns, status.st_size)


@cache
def _read(notebook: Path, name: str, changed: int, size: int) -> tuple[Found, ...]:
    return tuple(records_in(json.loads(notebook.read_text(encoding="utf-8"))["cells"], name))


def records_in(cells: Sequence[Mapping[str, Any]], name: str) -> Iterator[Found]:
    """Yield the records in the outputs of a notebook's cells, stored or fresh, in order.

    Raises:
        LedgerError: a record's text or hash does not belong to it, or it is no record.
    """
    for index, cell in enumerate(cells):
        for output in cell.get("outputs", ()):
            data = output.get("metadata", {}).get(METADATA_KEY)
            if data is not None and data.get("kind") != "card":
                yield _found(data, output, name, index)


def _found(data: Mapping[str, Any], output: Mapping[str, Any], name: str, index: int) -> Found:
    text = "".join(output.get("data", {}).get("text/plain", ""))
    where = f"{name}, cell {index}: {' '.join(data.get('claims', ()))}"
    try:
        record = from_json(data)
    except RecordError as error:
        raise LedgerError(f"{where}: {error}") from None
    if text != record.line:
        shown = text.rpartition("   #")[0] == record.line.rpartition("   #")[0]
        part = "a field that the text does not show" if shown else f"the record says {record.line}"
        raise LedgerError(f"{where}: text and hash do not belong to the record: {text} ({part})")
    return Found(record, text, name, index, "".join(output["data"].get("text/html", "")))


def reworded(item: Found, statements: Mapping[str, Statement]) -> list[str]:
    """Say for which of its claims a record was made from another wording."""
    faults = []
    for name, wording in zip(item.record.claims, item.record.readings, strict=True):
        known = statements.get(name)
        if known is None:
            faults.append(f"{item.notebook}: {name} is not in the registry")
        elif known.hash != wording:
            faults.append(f"{item.notebook}: {name} was decided from another wording; run it again")
    return faults


def outdated(item: Found) -> list[str]:
    """Say whether the recording on which a record rests no longer stands."""
    recorded = item.record.recorded
    fault = recordings.why_stale(recorded.name, recorded.data) if recorded else None
    return [f"{item.notebook}: {fault}"] if fault else []


def uncounted(items: Sequence[Found], statements: Mapping[str, Statement]) -> list[str]:
    """Say which claims leave out a recording of an experiment on which they rest."""
    used: dict[str, set[str]] = {}
    for item in items:
        for name in item.record.claims:
            if item.record.recorded:
                used.setdefault(name, set()).add(item.record.recorded.name)
    faults = []
    for name, counted in used.items():
        reading = statements[name].reading if name in statements else None
        same = {other for one in counted for other in recordings.of_the_same(one)}
        faults += [
            f"{name}: rests on recordings of an experiment without {other}; accepted: a record of "
            "it, or why it says nothing (without)"
            for other in sorted(same - counted - set(reading.without if reading else ()))
        ]
    return faults
