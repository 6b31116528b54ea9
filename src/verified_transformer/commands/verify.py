"""`verify`: one claim run afresh, and held against what is stored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..account import ledger, registry
from . import comparing
from .comparing import METADATA_KEY
from .running import run


def verify(root: Path, name: str) -> int:
    """Run every notebook that decides a claim, up to its last record, and compare its records.

    Args:
        root: the repository.
        name: the claim's id.

    Returns:
        0 where every record came out as stored, else 1.

    Raises:
        KeyError: the id is not in the registry.
    """
    statement = registry.statement(name)
    (entry,) = (claim for claim in ledger.collect(root)["claims"] if claim["id"] == name)
    print(f"{name}: {statement.says}\n    stored verdict: {entry['verdict']} ({entry['why']})")
    places = _places(root, name)
    if not places:
        print(f"{name}: no notebook decides it yet", file=sys.stderr)
        return 1
    same = [_again(root / notebook, last, name) for notebook, last in sorted(places.items())]
    if not all(same):
        print(f"{name}: what came out is not what is stored", file=sys.stderr)
        return 1
    print(f"{name}: what came out is what is stored")
    return 0


def _places(root: Path, name: str) -> dict[str, int]:
    """The notebooks that decide a claim, and the last cell of each that does."""
    found, _ = ledger.read(root)
    places: dict[str, int] = {}
    for item in found:
        if name in item.record["claims"]:
            places[item.notebook] = max(item.cell, places.get(item.notebook, 0))
    return places


def _again(notebook: Path, last: int, name: str) -> bool:
    import nbformat

    again = run(notebook, last=last)
    for error in again.errors:
        print(f"{name}: {error}", file=sys.stderr)
    for text, seconds in _lines(again.book, name):
        print(f"    {text}   ({seconds:.2f} s)")
    stored = nbformat.read(notebook, as_version=4)
    stored.cells = stored.cells[: last + 1]
    old, new = ([text for text, _ in _lines(book, name)] for book in (stored, again.book))
    for change in comparing.changes(old, new):
        print(f"    {change}", file=sys.stderr)
    return old == new and not again.errors


def _lines(book: Any, name: str) -> list[tuple[str, float]]:
    """The text lines of a claim's records in a notebook, with the seconds that each took."""
    found = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            record = output.get("metadata", {}).get(METADATA_KEY, {})
            if name in record.get("claims", []) and record["kind"] != "card":
                text = "".join(output["data"]["text/plain"])
                found.append((text, record["volatile"]["seconds"]))
    return found
