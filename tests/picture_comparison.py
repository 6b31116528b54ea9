"""Lets nbval compare what pictures show, and name the fields of a record behind another hash.

By itself it compares no picture, and shows two lines that differ in eight digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import wraps
from typing import Any

from nbval import plugin

from verified_transformer.engine.account.records import pictures, record
from verified_transformer.engine.account.records.ran import RecordError
from verified_transformer.engine.commands.notebooks.comparing import beside


def install() -> None:
    """Let a cell fail where its pictures show something else than those that are stored."""
    compare = plugin.IPyNbCell.compare_outputs
    if hasattr(compare, "__wrapped__"):
        return

    @wraps(compare)
    def with_pictures(cell: Any, test: Any, ref: Any, *rest: Any, **more: Any) -> bool:
        same = bool(compare(cell, test, ref, *rest, **more))
        found = list(pictures.moved(ref, test))
        cell.comparison_traceback += [f"picture: {text}" for text in found]
        if not same:
            cell.comparison_traceback += moved_fields(ref, test)
        return same and not found

    plugin.IPyNbCell.compare_outputs = with_pictures


def moved_fields(before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    """Say which fields of a cell's records moved; the hash at the end of a line says only that.

    Args:
        before, after: the cell's outputs as stored and as they came out.
    """
    return [
        f"{' '.join(new.claims)}: {line}"
        for old, new in zip(_records(before), _records(after), strict=False)
        for line in beside(record.fields(old), record.fields(new))
    ]


def _records(outputs: Sequence[Any]) -> list[record.Record]:
    made = []
    for output in outputs:
        data = output.get("metadata", {}).get(record.METADATA_KEY)
        with suppress(RecordError):  # a card or a display, which is no record
            made += [record.from_json(data)] if data else []
    return made
