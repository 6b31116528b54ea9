"""Numbers that another processor moves: how far they may lie apart in two runs of a cell.

A rounded number has a boundary, and somebody's processor crosses it. So no number that was sampled
or trained is compared as text. A printed one has a *band*, in units of its last digit, which stands
in its cell's metadata: three times the largest move that drawn processors gave it, one unit where
it is computed in floating point and none moved it. A number without a band, and every word, is
compared exactly. The effect of an experiment brings its own error with it (`effect_moved`), the
points of a picture are seen or not (`pictures`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ...account.records.record import METADATA_KEY, Interval

KEY = "bands"  # of a cell's metadata
AT_MOST = 3  # of a band: the largest move under drawn processors is a third of it
DECIDED = "record "  # before the kind of what a record says
_PRINTED = ("stdout", "stderr")
_PIXELS = ("image/png", "image/jpeg")
PICTURE = "image/png"  # whose unit is `pictures.SEEN`
MARKED = re.compile(r'<span class="vt-volatile">[^<]*</span>')  # no other is masked
_NUMBER = re.compile(r"(?P<hash>#[0-9a-f]{4,})|(?<![\d.])[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
Bands = dict[str, dict[int, int]]  # by kind of text and place of the number in it: units
Moves = dict[int, float]


def texts(outputs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return what a cell's outputs say, by kind: "stdout", "text/plain", "text/html" …

    Pictures of pixels are left out, and numbers that a record marks as its run's own; equal kinds
    are put together in their order. What records say is of kinds of their own: that is decided,
    and has no bands.
    """
    found: dict[str, list[str]] = {}
    for output in outputs:
        parts = dict(output.get("data", {}))
        of = DECIDED if METADATA_KEY in output.get("metadata", {}) else ""
        if output.get("output_type") == "stream":
            parts = {output["name"]: output["text"]}
        elif output.get("output_type") == "error":
            parts = {"error": f"{output['ename']}: {output['evalue']}"}
        for kind, text in parts.items():
            if isinstance(text, str | list) and kind not in _PIXELS:
                found.setdefault(of + kind, []).append("".join(text))
    return {kind: MARKED.sub("…", "\n".join(parts)) for kind, parts in found.items()}


def words(text: str) -> str:
    """Return a text with one sign for each number."""
    return _NUMBER.sub(lambda found: found["hash"] or "·", text)


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are written.

    Example:
        >>> numbers("loss 3.66 after 20 steps, −1.5e-3 less"), words("loss 3.66 after 20 steps")
        (['3.66', '20', '−1.5e-3'], 'loss · after · steps')
    """
    return [found.group() for found in _NUMBER.finditer(text) if not found["hash"]]


def unit(number: str) -> Decimal:
    """Return what one unit of the last digit is worth.

    Example:
        >>> unit("0.012"), unit("-1.5e-3"), unit("12")
        (Decimal('0.001'), Decimal('0.0001'), Decimal('1'))
    """
    exponent = _value(number).as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal(1).scaleb(exponent)


def _value(number: str) -> Decimal:
    return Decimal(number.replace("−", "-"))


def moved(stored: str, new: str) -> Moves:
    """Return by how many units the numbers of two texts with the same words lie apart.

    Example:
        >>> moved("a loss of 3.66, of 2", "a loss of 3.69, of 2")
        {0: 3.0}
    """
    pairs = enumerate(zip(numbers(stored), numbers(new), strict=True))
    return {
        place: float(abs(_value(one) - _value(other)) / unit(one))
        for place, (one, other) in pairs if one != other
    }  # fmt: skip


def effect_moved(stored: Interval, new: Interval) -> float:
    """Return how far an experiment's effect moved, in its band: at most 1 is the same effect.

    Each interval has to cover the other's mean, and the widths have to agree within a factor of
    two, so that no stored interval can be made wider than its runs.

    Example:
        >>> effect_moved(Interval(1, 2), Interval(1.25, 2.25))
        0.5
    """
    narrow, wide = sorted((stored.half, new.half))
    apart = abs(stored.mean - new.mean)
    if not narrow:  # all runs were equal
        return 0.0 if wide + apart <= 1e-9 * abs(stored.mean) else math.inf
    return max(apart / narrow, math.log2(wide / narrow))


# ------------------------------------------------------------------ in a cell's metadata
# {"stdout": {"3": "0 4-6"}}: of what was printed, numbers 0, 4, 5 and 6 have a band of 3 units.


def read(metadata: Mapping[str, Any]) -> Bands:
    """Return the bands that a cell's metadata hold."""
    return {
        kind: {place: int(units) for units, places in by.items() for place in _places(places)}
        for kind, by in metadata.get(KEY, {}).items()
    }


def _places(text: str) -> Iterable[int]:
    for part in text.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def written(bands: Bands) -> dict[str, dict[str, str]]:
    """Return bands as a cell's metadata hold them.

    Example:
        >>> written({"stdout": {0: 3, 4: 3, 5: 3, 6: 3, 7: 1}})
        {'stdout': {'1': '7', '3': '0 4-6'}}
        >>> read({KEY: {"stdout": {"1": "7", "3": "0 4-5"}}})
        {'stdout': {7: 1, 0: 3, 4: 3, 5: 3}}
    """
    found: dict[str, dict[str, str]] = {}
    for kind, of in sorted(bands.items()):
        for units in sorted(set(of.values())):
            places = sorted(place for place, k in of.items() if k == units)
            found.setdefault(kind, {})[str(units)] = " ".join(_runs(places))
    return found


def _runs(places: Sequence[int]) -> Iterable[str]:
    first = last = places[0]
    for place in [*places[1:], None]:
        if place is not None and place == last + 1:
            last = place
            continue
        yield str(first) if first == last else f"{first}-{last}"
        if place is not None:
            first = last = place


# ------------------------------------------------------------------ how they are measured


def measured(
    stored: Mapping[str, str],
    draws: Sequence[Mapping[str, str]],
    loud: Mapping[str, str],
    source: str = "",
) -> Bands:
    """Return the bands of a cell's numbers, from what drawn processors made of them.

    Args:
        stored: what the cell says, by kind (`texts`).
        draws: the same under drawn processors.
        loud: the same where whatever is computed in floating point is off by a ten-thousandth. A
            number with a point that moves there has a band though no draw moved it; so has each
            that is printed where the cell failed, or said other words, and is not typed; but not
            where a unit is more than a third of the number, as in 0.02.
        source: the cell's code.
    """
    bands: Bands = {}
    for kind, text in stored.items():
        if kind.startswith(DECIDED):
            continue
        same = [run[kind] for run in draws if words(run.get(kind, "")) == words(text)]
        moves = [moved(text, run) for run in same]
        of = {
            place: math.ceil(AT_MOST * max(run.get(place, 0.0) for run in moves))
            for place in sorted({place for run in moves for place in run})
        }
        pointed = {
            i for i, number in enumerate(numbers(text)) if not number.lstrip("-−+").isdigit()
        }
        if words(loud.get(kind, "")) == words(text):
            pointed &= moved(text, loud[kind]).keys()
        elif kind in _PRINTED:
            typed = set(numbers(source))
            pointed = {place for place in pointed if numbers(text)[place] not in typed}
        else:
            pointed = set()
        coarse = {place for place in pointed if _coarse(numbers(text)[place], 1)}
        every = dict.fromkeys(pointed - coarse, 1) | of
        if every:
            bands[kind] = every
    return bands


def weak(text: str, bands: Mapping[int, int]) -> list[str]:
    """Return the numbers of a text whose bands let a change by a factor of 1.5 pass.

    A zero may move by ten units.

    Example:
        >>> weak("a loss of 3.66, noise of 0.1", {0: 9, 1: 1})
        ['0.1']
    """
    said = numbers(text)
    return [said[place] for place, units in sorted(bands.items()) if _coarse(said[place], units)]


def _coarse(number: str, units: int) -> bool:
    return 3 * units * unit(number) > (abs(_value(number)) or 30 * unit(number))
