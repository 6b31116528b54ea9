"""What two runs of a notebook have in common: compared as nbval compares, cell by cell."""

from __future__ import annotations

import difflib
import itertools
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
_CLAIM = re.compile(r"\b[A-Z]{3,5}-\d{2,}\b")
_KEY = re.compile(r"\s+#[0-9a-f]{6,}$")  # of a record, at the end of its line
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
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
    """Yield what differs between two runs of a notebook: stored beside new, by cell and claim.

    A chart says its numbers in plain text: where these differ, its drawing is not looked at; where
    they do not, its texts are, and of its lines and marks only that they are others.
    """
    for index, (old, new) in enumerate(zip(before.cells, after.cells, strict=False)):
        place = ", ".join([f"cell {index}", *dict.fromkeys(_CLAIM.findall(new.source))])
        told = [*beside(lines(old, masked, drawn=False), lines(new, masked, drawn=False))]
        drawn = lines(old, masked), lines(new, masked)
        if not told and drawn[0] != drawn[1]:
            told = [*beside(*map(_without_tags, drawn))] or ["its drawing is another"]
        told += pictures.moved(old.get("outputs", []), new.get("outputs", []))
        yield from (f"{place}: {text}" for text in told)


def beside(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the lines in which two texts differ, what is stored beside what came out.

    Example:
        >>> [*beside(["BERT: 5.4 of 12", "end"], ["BERT: 5.6 of 12", "end"])]
        ['5.4 -> 5.6 in BERT: 5.6 of 12']
        >>> [*beside(["LOSS-14 proof   2*d   #3fa9c1d0"], ["LOSS-14 proof   2*d   #aa00c1d0"])]
        ['only its key moved: LOSS-14 proof   2*d   #aa00c1d0']
    """
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for same, a, b, c, d in matcher.get_opcodes():
        for one, other in itertools.zip_longest(old[a:b], new[c:d]) if same != "equal" else ():
            if one is None or other is None:
                yield f"new: {other}" if one is None else f"gone: {one}"
            elif _KEY.sub("", one) == _KEY.sub("", other):
                yield f"only its key moved: {other}"
            elif (moved := _moved(one, other)) is not None:
                yield f"{moved} in {other}"
            else:
                yield f"stored: {one}"
                yield f"   now: {other}"


def _moved(one: str, other: str) -> str | None:
    """The numbers in which two lines differ, where all else is the same but a record's key."""
    one, other = _KEY.sub("", one), _KEY.sub("", other)
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return None
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return ", ".join(f"{old} -> {new}" for old, new in pairs if old != new)


def _without_tags(drawn: Sequence[str]) -> list[str]:
    return [*filter(None, (re.sub(r"<[^>]*>?", "", line).strip() for line in drawn))]


def records(book: Any) -> list[dict[str, Any]]:
    """Return the records in a notebook's outputs, in order, cards left out."""
    found = [
        output["metadata"][METADATA_KEY]
        for cell in book.cells
        for output in cell.get("outputs", [])
        if METADATA_KEY in output.get("metadata", {})
    ]
    return [record for record in found if record.get("kind") != "card"]


def outcome_lines(book: Any) -> list[str]:
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
