"""A record: what one check leaves behind in its cell's output.

Its text is one deterministic line that ends with a hash of every deterministic field, so that text
and record cannot drift apart unseen; what differs from run to run stands in `Volatile`. The
metadata of the output hold the record as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from .. import evidence
from ..hashing import hash_of
from .ran import Ran, RecordError

METADATA_KEY = "verified_transformer"
OF = ("reading", "truth")
SAMPLED = ("sampled", "equality")  # kinds whose records say on which draws they rest


class LedgerError(ValueError):
    """Records contradict each other, the registry, or their own text."""


@dataclass(frozen=True)
class Score:
    """How many mutants a check rejected, of how many; ``below`` were too close to be seen."""

    killed: int
    total: int
    below: int | None = None


@dataclass(frozen=True)
class Estimate:
    """What a measurement found: its z-score, the number of draws, and the device."""

    z: float
    n: int
    device: str


@dataclass(frozen=True)
class Sample:
    """The draws on which a predicate, or an equality of arrays, was tried.

    Attributes:
        n: number of draws.
        seeds: names from which the draws' seeds are made.
        sees: the effect that it would have caught, in a line.
    """

    n: int
    seeds: tuple[str, ...]
    sees: str


@dataclass(frozen=True)
class Recorded:
    """The recording that an outcome rests on: its name and the hash of its data."""

    name: str
    data: str


@dataclass(frozen=True)
class Volatile:
    """What differs from run to run and takes no part in the comparison.

    Attributes:
        rows: a table for people.
        estimates: of a measurement.
        interval: of an experiment.
        seconds: that the check took.
        versions: of the libraries whose classes ran.
    """

    rows: tuple[Mapping[str, str], ...] = ()
    estimates: tuple[Estimate, ...] = ()
    interval: Interval | None = None
    seconds: float = 0.0
    versions: str = ""


@dataclass(frozen=True)
class Record:
    """What a check left behind; already displayed where it ran in a notebook.

    Attributes:
        claims: ids that it counts for.
        readings: the hash of each claim's wording when it ran.
        kind: of evidence, a row of `evidence.KINDS`.
        outcome: one of the kind's outcomes, such as "supports".
        statement, detail: what was decided, and how, each in a line.
        of: "reading" for what the article says, "truth" for the right statement.
        case: name of the case of the reading, or None.
        cited: key of the source of a citation.
        latex: the statement as a formula.
        mutants: how many wrong versions were rejected.
        uses: ids of the claims on which this one rests.
        recorded: the recording on which an experiment's outcome rests.
        margin: of an experiment, in words (see `Interval.printed`).
        sample: the draws on which a predicate or an equality was tried.
        until: the day of the youngest datum, of a claim about its own day.
        made: a key of the notebook's lines that made what the check was given (`how_made`).
        ran: the models that ran, as they describe themselves.
        volatile: what differs from run to run.
        steps: pairs of reason and HTML of a derivation; shown, but no part of the stored record.
    """

    claims: tuple[str, ...]
    readings: tuple[str, ...]
    kind: str
    outcome: str
    statement: str
    detail: str
    of: str = "reading"
    case: str | None = None
    cited: str | None = None
    latex: str | None = None
    mutants: Score | None = None
    uses: tuple[str, ...] = ()
    recorded: Recorded | None = None
    margin: str | None = None
    sample: Sample | None = None
    until: str | None = None
    made: str | None = None
    ran: tuple[Ran, ...] = ()
    volatile: Volatile = field(default_factory=Volatile)
    steps: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.kind not in evidence.KINDS:
            raise RecordError(f"kind: got {self.kind!r}; accepted: {', '.join(evidence.KINDS)}")
        outcomes = evidence.KINDS[self.kind].outcomes
        for name, value, accepted in (("outcome", self.outcome, outcomes), ("of", self.of, OF)):
            if value not in accepted:
                raise RecordError(
                    f"{name}: got {value!r} of kind {self.kind}; accepted: {', '.join(accepted)}"
                )
        if (self.kind in SAMPLED) != (self.sample is not None):
            raise RecordError(
                f"sample: needed by a record of kind {' or '.join(SAMPLED)}, and by no other"
            )

    @property
    def hash(self) -> str:
        """The hash of the deterministic fields, as the text line shows it."""
        fixed = {key: value for key, value in to_json(self).items() if key != "volatile"}
        return hash_of(fixed)

    @property
    def line(self) -> str:
        """The record in one line of text: the same on every machine and device."""
        name = " ".join(self.claims) + (f" [{self.case}]" if self.case else "")
        of = " (truth)" if self.of == "truth" else ""
        parts = [f"{name} {self.kind}{of}", self.statement, self.full_detail]
        return "   ".join([*(part for part in parts if part), f"#{self.hash}"])

    @property
    def full_detail(self) -> str:
        """The detail with an experiment's margin, a sampled predicate's draws, the data's age."""
        sample = self.sample and f"{self.sample.n} draws; would have caught {self.sample.sees}"
        until = self.until and f"data until {self.until}"
        return "; ".join(part for part in (self.detail, sample, until, self.margin) if part)

    def __repr__(self) -> str:
        return self.line

    def _ipython_display_(self) -> None:
        """Show nothing: the check has displayed its record itself."""


def to_json(record: Record) -> dict[str, Any]:
    """Return a record as the output's metadata hold it.

    Fields that came later than the first notebooks are left out where they are empty.
    """
    data = {name: _plain(getattr(record, name)) for name in _EVER}
    later = {name: _plain(getattr(record, name)) for name in _LATER}
    return data | {name: value for name, value in later.items() if value not in (None, [])}


def _plain(part: Any) -> Any:
    """A part of a record as JSON has it, without those of its own parts that are empty."""
    if isinstance(part, tuple):
        return [_plain(item) for item in part]
    if is_dataclass(part):
        empty = _EMPTY.get(type(part), (None,))
        return {key: _plain(value) for key, value in vars(part).items() if value not in empty}
    return dict(part) if isinstance(part, Mapping) else part


_EMPTY: dict[type, tuple[object, ...]] = {Ran: (None, ()), Volatile: (None, "")}
_LATER = ("recorded", "margin", "made", "sample", "until", "ran")
_EVER = tuple(name for name in Record.__dataclass_fields__ if name not in (*_LATER, "steps"))


def from_json(data: Any) -> Record:
    """Return the record that an output's metadata hold.

    Raises:
        RecordError: it is none. What each field may be, the hash in the output's text holds.
    """
    try:
        found: Record = _built(Record, data)
    except (AttributeError, KeyError, TypeError) as error:
        raise RecordError(f"record: {error}") from error
    return found


def _built(of: Any, value: Any) -> Any:
    """What JSON says of a type."""
    origin, inner = get_origin(of), get_args(of)
    if origin is UnionType:  # with None
        return None if value is None else _built(inner[0], value)
    if origin is tuple:
        return tuple(_built(inner[0], item) for item in value)
    if not isinstance(of, type) or not is_dataclass(of):
        return value
    types = _types(of)
    return of(**{key: _built(types[key], part) for key, part in value.items()})


_types = cache(get_type_hints)


def fields(record: Record) -> list[str]:
    """Return the deterministic fields of a record, each in a line with its name."""
    about = f"{record.kind}{' (truth)' * (record.of == 'truth')}"
    data = to_json(record)
    return [f"{about}: {name}: {value!r}" for name, value in data.items() if name != "volatile"]


# ------------------------------------------------------------------ margins
# How far the effect of an experiment is from zero, measured by its own uncertainty. Training
# differs between two processors: between two instruction sets, one effect's interval moved by half
# its width. The outcome of a live run travels where its interval's near end is far enough from
# zero. A recording is moved by no processor: it is judged by its interval alone.


NEEDED = 1.0  # of a stored live outcome: the near end at least half the width from zero
PRINTED = 0.5  # of a run: half of that, so that its line survives another processor


@dataclass(frozen=True)
class Interval:
    """The 99 % interval of an experiment's mean effect."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise RecordError(f"interval: got {self.low} … {self.high}; accepted: low <= high")

    @property
    def margin(self) -> float:
        """Distance of the near end from zero, in halves of the width; 0 where zero lies inside."""
        near = max(self.low, -self.high, 0.0)
        half = (self.high - self.low) / 2
        return near / half if half else float("inf") if near else 0.0

    @property
    def about(self) -> str:
        """The mean, rounded so that it is the same on every machine.

        Another processor moves an interval by a small part of its width. The mean is rounded to
        the next of 1, 2, 5, 10, … that is at least twice the width.
        """
        mean, width = (self.low + self.high) / 2, self.high - self.low
        if not width:
            return f"mean {mean:.3g}"
        step = _step(2 * width)
        return f"mean {round(mean / step) * step + 0.0:.3g} to the nearest {step:g}"

    @property
    def ends(self) -> str:
        """Both ends, of a recording, which has them on every machine."""
        return f"99 % interval {self.low:.3g} … {self.high:.3g}"

    @property
    def printed(self) -> str | None:
        """The margin in words, which do not move with the last digits; None where zero lies inside.

        The ledger wants a margin of 1 of what is stored. What a run prints is whether it has half
        of that, so that the line is the same where another processor moves the interval a little.
        """
        if not self.margin:
            return None
        return "margin at least 1/2" if self.margin >= PRINTED else "margin below 1/2"


def _step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is at least so much."""
    power = math.floor(math.log10(least))
    steps = (float(f"{digit}e{p}") for p in (power, power + 1) for digit in (1, 2, 5))
    return next(step for step in steps if step >= least)
