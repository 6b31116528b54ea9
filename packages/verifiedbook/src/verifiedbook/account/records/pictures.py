"""Pictures in stored outputs: whether one is that of its data, and how two runs of it differ."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

KEY = "verified_transformer_figure"
SEEN = 0.005  # of an axis: what moves less cannot be seen; the unit of a picture's band
_PNG = "image/png"


def pictures(cell: Any) -> list[Any]:
    """Return the outputs of a cell that are pictures."""
    return [output for output in cell.get("outputs", []) if _PNG in output.get("data", {})]


def picture_fault(output: Mapping[str, Any]) -> str | None:
    """Say why a stored picture cannot be trusted, or return None."""
    shown = _shown(output)
    if shown is None:
        return "a picture without its data: draw it with book.figure, and refresh the notebook"
    data = "".join(output["data"][_PNG]).strip()
    if hashlib.sha256(data.encode()).hexdigest() != shown["picture"]:
        return "a picture that is not the one which its data were stored with"
    return None


Difference = tuple[str, float]  # in words, and as a share of an axis; infinite for what is no point


def moved(before: Sequence[Any], after: Sequence[Any]) -> Iterator[tuple[int, str, float]]:
    """Yield what differs between the pictures of two runs of a cell.

    Returns:
        The number of the picture, what differs in words, and how far in units of `SEEN`; infinite
        where it is not a matter of points.
    """
    old = [_shown(output) for output in before if _PNG in output.get("data", {})]
    new = [_shown(output) for output in after if _PNG in output.get("data", {})]
    if len(old) != len(new):
        yield 0, f"{len(old)} pictures are stored, {len(new)} came out", math.inf
        return
    for place, (first, second) in enumerate(zip(old, new, strict=True)):
        if first is None or second is None:
            if first is not second:
                yield place, "a picture has its data in one run only", math.inf
            continue
        for text, share in _between(first["panels"], second["panels"]):
            yield place, text, share / SEEN


def _shown(output: Mapping[str, Any]) -> Any:
    found = output.get("metadata", {}).get(_PNG, {})
    return found.get(KEY) if isinstance(found, Mapping) else None


def _between(old: Sequence[Any], new: Sequence[Any]) -> Iterator[Difference]:
    if len(old) != len(new):
        yield f"the figure has {len(old)} panels stored, {len(new)} came out", math.inf
        return
    for number, (first, second) in enumerate(zip(old, new, strict=True), start=1):
        for key in ("x", "y", "title", "scales", "ticks", "legend", "texts"):
            if first[key] != second[key]:
                told = f"{first[key]!r} stored, {second[key]!r} came out"
                yield f"panel {number}: {key} is {told}", math.inf
        for text, share in _marks_between(first, second):
            yield f"panel {number}: {text}", share


def _marks_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    kept, came = old["marks"], new["marks"]
    if len(kept) != len(came):
        yield f"{len(kept)} marks are stored, {len(came)} came out", math.inf
        return
    for place, (first, second) in enumerate(zip(kept, came, strict=True), start=1):
        name = first["label"] or f"mark {place}"
        for key in ("kind", "label", "look"):
            if first[key] != second[key]:
                yield f"{name}: {key} is {first[key]!r} stored, {second[key]!r} came out", math.inf
        if old.get("stays"):  # unstable training: the points are another processor's others
            continue
        far, where = _furthest(first["points"], second["points"], old)
        if far:
            yield f"{name}: moved by {far:.1%} of the axis at {where}", far


def _furthest(
    first: Sequence[Sequence[float | None]],
    second: Sequence[Sequence[float | None]],
    panel: Mapping[str, Any],
) -> tuple[float, str]:
    """How far the points of a mark moved at most, in shares of an axis, and where."""
    if len(first) != len(second):
        return math.inf, f"{len(first)} points stored, {len(second)} came out"
    worst, where = 0.0, ""
    for old, new in zip(first, second, strict=True):
        for axis, (one, other) in enumerate(zip(old, new, strict=True)):
            far = _share(one, other, panel["scales"][axis], panel["limits"][axis])
            if far > worst:
                worst, where = far, f"({', '.join(map(str, old))})"
    return worst, where


def _share(
    one: float | None, other: float | None, scale: str, limits: Sequence[float | None]
) -> float:
    if one is None or other is None:
        return 0.0 if one is other else math.inf
    low, high = limits
    if low is None or high is None or low == high:
        return 0.0 if one == other else math.inf
    if scale == "log" and min(one, other, low, high) > 0:
        return abs(math.log(one / other) / math.log(high / low))
    return abs((one - other) / (high - low))
