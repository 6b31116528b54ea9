"""What two runs of a notebook have in common, cell by cell: words as they are, numbers in bands."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from ...account.records import pictures
from ...account.records.record import METADATA_KEY, Interval
from . import bands

_CLAIM = re.compile(r"\b[A-Z]{3,5}-\d{2,}\b")
_KEY = re.compile(r"\s+#[0-9a-f]{6,}$")  # of a record, at the end of its line
_MARKED_UP = ("text/html", "image/svg+xml", bands.DECIDED + "text/html")
DECIDED = "decided"  # what a record says: of such a `Move`
_FREE = ("rows", "estimates", "seconds", "measured", "picture", "panels")  # in outputs' metadata
Outputs = Sequence[Mapping[str, Any]]


def lines(cell: Any) -> list[str]:
    """Return what is compared of a cell's outputs, as lines; HTML is broken at its tags."""
    said = bands.texts(cell.get("outputs", []))
    return [line for kind in sorted(said) for line in _lines(kind, said[kind])]


def _lines(kind: str, text: str) -> list[str]:
    return (text.replace("><", ">\n<") if kind in _MARKED_UP else text).splitlines()


@dataclass(frozen=True)
class Move:
    """Something that is another in a new run of a cell.

    Attributes:
        what: which, and what it was and is, in a line.
        far: how far it moved, in its band; infinite where it has none, and for words.
        of: "numbers", "pictures", "decided", or the claim of a live experiment.
    """

    what: str
    far: float = inf
    of: str = "numbers"


def moves(stored: Outputs, new: Outputs, known: bands.Bands) -> Iterator[Move]:
    """Yield whatever differs between two runs of a cell; what is at most 1 far is the same.

    Where its texts say something else, what a cell shows as HTML is not looked at.

    Args:
        known: the cell's bands.
    """
    before, after = bands.texts(stored), bands.texts(new)
    spoken = False
    for kind in sorted(before.keys() | after.keys(), key=lambda kind: (kind in _MARKED_UP, kind)):
        if spoken and kind in _MARKED_UP:
            continue
        old, now = before.get(kind, ""), after.get(kind, "")
        of = DECIDED if kind.startswith(bands.DECIDED) else "numbers"
        if bands.words(old) == bands.words(now):
            found = [*_numbers(kind, old, now, known.get(kind, {}), of)]
            far = max((move.far for move in found), default=0.0)
            if kind in _MARKED_UP and far > 1:  # its words say it, not its coordinates
                found = [Move(line, far, of) for line in _beside(kind, old, now)]
        else:
            found = [Move(line, of=of) for line in _beside(kind, old, now)]
        spoken |= any(move.far > 1 for move in found)
        yield from found
    yield from _effects(stored, new)
    seen = known.get(bands.PICTURE, {})
    for place, text, units in pictures.moved(stored, new):
        yield Move(f"picture: {text}", units / seen.get(place, 1), "pictures")


def _numbers(kind: str, old: str, now: str, known: Mapping[int, int], of: str) -> Iterator[Move]:
    old_, now_ = bands.numbers(old), bands.numbers(now)
    for place, units in bands.moved(old, now).items():
        band = known.get(place)
        about = f", of ± {band * bands.unit(old_[place]):f}" if band else ""
        yield Move(
            f"{old_[place]} -> {now_[place]}{about} in {_around(kind, now, place)}",
            units / band if band else inf,
            of,
        )


def _around(kind: str, text: str, place: int) -> str:
    """The line of a number, cut to some words around it where it is long."""
    count = 0
    for line in _lines(kind, text):
        count += len(bands.numbers(line))
        if count > place:
            return line if len(line) < 160 else f"{line[:150]} …"
    return kind


def _beside(kind: str, old: str, now: str) -> list[str]:
    """The lines in which two texts differ; of markup its words, where those do."""
    one, other = _lines(kind, old), _lines(kind, now)
    if kind in _MARKED_UP:
        one, other = _without_tags(one), _without_tags(other)
    return [*beside(one, other)] or ["its drawing is another"]


def _without_tags(drawn: Sequence[str]) -> list[str]:
    return [*filter(None, (re.sub(r"<[^>]*>?", "", line).strip() for line in drawn))]


def _effects(stored: Outputs, new: Outputs) -> Iterator[Move]:
    """How far the effects of live experiments moved."""
    for (name, one), (_, other) in zip(effects(stored), effects(new), strict=False):
        far = bands.effect_moved(one, other)
        if far:
            yield Move(
                f"{name}: effect {one.mean:.4g} ± {one.half:.2g} -> {other.mean:.4g} ± "
                f"{other.half:.2g}", far, name,
            )  # fmt: skip


def effects(outputs: Outputs) -> Iterator[tuple[str, Interval]]:
    """Yield claim and case of each live experiment of a cell, with what it measured.

    A recording says it in its words, and what is an example beside one decides its sign alone.
    """
    for output in outputs:
        record = output.get("metadata", {}).get(METADATA_KEY, {})
        if record.get("measured") and not record.keys() & {"recorded", "beside"}:
            name = " ".join([*record["claims"], *filter(None, [record.get("case")])])
            yield name, Interval(**record["measured"])


def differences(before: Any, after: Any) -> Iterator[str]:
    """Yield what differs between two runs of a notebook: stored beside new, by cell and claim."""
    for place, found in cell_moves(before, after):
        yield from (f"{place}: {told(move)}" for move in found if move.far > 1)


def cell_moves(before: Any, after: Any) -> Iterator[tuple[str, list[Move]]]:
    """Yield what moved in each cell of a notebook, with the cell's place and claims."""
    for index, (old, new) in enumerate(zip(before.cells, after.cells, strict=False)):
        place = ", ".join([f"cell {index}", *dict.fromkeys(_CLAIM.findall(new.source))])
        outputs = old.get("outputs", []), new.get("outputs", [])
        yield place, [*moves(*outputs, bands.read(old.metadata))]


def told(move: Move) -> str:
    """Return a move in a line, with how far it is where it has a band."""
    return move.what if move.far == inf else f"{move.far:.1f} times its band: {move.what}"


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
    if bands.words(one) != bands.words(other):
        return None
    pairs = zip(bands.numbers(one), bands.numbers(other), strict=True)
    return ", ".join(f"{old} -> {new}" for old, new in pairs if old != new)


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


def keep_what_stayed(before: Any, after: Any) -> set[str]:
    """Put the stored outputs back where a new run says the same.

    Seconds differ in every run, estimates and whatever has a band on another processor; a notebook
    in which nothing else has changed is stored byte for byte as before.

    Returns:
        The ids of cells that say something else beside their records, and may want other bands.
    """
    after.metadata = before.metadata or after.metadata
    stored = {cell.get("id"): cell for cell in before.cells}
    others = set()
    for cell in after.cells:
        if cell.cell_type != "code":
            continue
        old = stored.get(cell.get("id"))
        moved = None if old is None else _moved_parts(old, cell)
        if old is None or moved is None or moved & {"numbers", "pictures"}:
            others.add(cell.get("id"))
        else:
            pairs = zip(old.outputs, cell.outputs, strict=True)
            cell.outputs = [new if moved and _is_record(new) else kept for kept, new in pairs]
    return others


def _moved_parts(old: Any, new: Any) -> set[str] | None:
    """Of which parts a cell's outputs say something else; None where they are not comparable."""
    kinds = [[_is_record(output) for output in cell.outputs] for cell in (old, new)]
    if kinds[0] != kinds[1]:
        return None
    found = moves(old.outputs, new.outputs, bands.read(old.metadata))
    parts = {move.of for move in found if move.far > 1}
    pairs = zip(old.outputs, new.outputs, strict=True)
    others = {
        DECIDED if _is_record(one) else "numbers" for one, two in pairs if not _alike(one, two)
    }
    return parts | others


def _is_record(output: Mapping[str, Any]) -> bool:
    return METADATA_KEY in output.get("metadata", {})


def _alike(old: Any, new: Any) -> bool:
    """Whether outputs hold the same beside what they say and what is free in their metadata."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(
            key in ("data", "text", *_FREE) or _alike(old[key], new[key]) for key in old
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_alike, old, new))
    return bool(old == new)
