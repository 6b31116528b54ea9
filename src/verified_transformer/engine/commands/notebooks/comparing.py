"""What two runs of a notebook have in common: compared as nbval compares, cell by cell."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Sequence
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

from ...account.records import pictures
from ...account.records.record import METADATA_KEY

NOT_COMPARED = ("image/png", "image/jpeg", "application/pdf")
SAME = 1e-6  # relative; what moves less is rounding
Masks = Sequence[tuple[re.Pattern[str], str]]


def masks(root: Path) -> Masks:
    """Return the patterns that nbval masks, with what stands in their place."""
    parser = RawConfigParser()
    parser.read(root / "nbval_sanitize.cfg", encoding="utf-8")
    found = [(parser[name]["regex"], parser[name]["replace"]) for name in parser.sections()]
    return [(re.compile(pattern), replacement) for pattern, replacement in found]


def lines(cell: Any, masked: Masks, *, drawn: bool = True) -> list[str]:
    """Return what is compared of a cell's outputs, as lines; HTML is broken at its tags.

    Args:
        drawn: also HTML and SVG of an output that says the same in plain text.
    """
    found: list[str] = []
    for output in cell.get("outputs", []):
        texts = {"stream": output.get("text", ""), **output.get("data", {})}
        for kind, text in sorted(texts.items()):
            marked_up = kind in ("text/html", "image/svg+xml")
            if kind in NOT_COMPARED or not isinstance(text, str):
                continue
            if marked_up and not drawn and "text/plain" in texts:
                continue
            for pattern, replacement in masked:
                text = pattern.sub(replacement, text)
            broken = text.replace("><", ">\n<") if marked_up else text
            found += broken.splitlines()
        if output.get("output_type") == "error":
            found.append(f"{output['ename']}: {output['evalue']}")
    return found


def differences(before: Any, after: Any, masked: Masks) -> Iterator[str]:
    """Yield what differs between two runs of a notebook: a line for each that is gone or new.

    A chart says its numbers in plain text: its drawing is compared where these stay the same.
    """
    for index, (old, new) in enumerate(zip(before.cells, after.cells, strict=False)):
        told = list(changes(lines(old, masked, drawn=False), lines(new, masked, drawn=False)))
        for text in told or changes(lines(old, masked), lines(new, masked)):
            yield f"cell {index}: {text}"
        for text in pictures.differences(old.get("outputs", []), new.get("outputs", [])):
            yield f"cell {index}: {text}"


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the lines of which one text has more than the other, marked ``-`` and ``+``."""
    for text in difflib.unified_diff(old, new, lineterm="", n=0):
        if not text.startswith(("---", "+++", "@@")):
            yield text


def records(book: Any) -> list[dict[str, Any]]:
    """Return the records in a notebook's outputs, in order, cards left out."""
    found = [
        output["metadata"][METADATA_KEY]
        for cell in book.cells
        for output in cell.get("outputs", [])
        if METADATA_KEY in output.get("metadata", {})
    ]
    return [record for record in found if record.get("kind") != "card"]


def outcomes(book: Any) -> list[str]:
    """Return what the records of a notebook say came out, a line for each."""
    return [
        " ".join([*record["claims"], record.get("case") or "", record["kind"], record["outcome"]])
        for record in records(book)
    ]


def keep_what_stayed(before: Any, after: Any, masked: Masks) -> None:
    """Put the stored outputs back where a new run says the same.

    Seconds differ in every run, estimates in their last digits on another processor; a notebook
    in which nothing else has changed is stored byte for byte as before.
    """
    after.metadata = before.metadata or after.metadata
    stored = {cell.get("id"): cell for cell in before.cells}
    for cell in after.cells:
        old = stored.get(cell.get("id"))
        if old is None or cell.cell_type != "code":
            continue
        pairs = list(zip(old.outputs, cell.outputs, strict=False))
        if len(old.outputs) == len(cell.outputs) and all(_same(a, b, masked) for a, b in pairs):
            cell.outputs = old.outputs


def _same(old: Any, new: Any, masked: Masks) -> bool:
    """Whether two outputs differ in nothing but masked text, seconds and rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(
            key == "seconds" or _same(old[key], new[key], masked) for key in old
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(
            _same(a, b, masked) for a, b in zip(old, new, strict=True)
        )
    if isinstance(old, str) and isinstance(new, str):
        for pattern, replacement in masked:
            old, new = pattern.sub(replacement, old), pattern.sub(replacement, new)
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=SAME, abs_tol=SAME)
    return bool(old == new)
