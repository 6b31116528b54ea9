"""A record: what one check leaves behind in its cell's output.

It has three parts. What is *decided* is the same in every run: a line of text tells it, which ends
with a hash of all of it, so that text and record cannot drift apart unseen. What is *measured* is
another number on another processor: it is compared as a number, within its own error (`bands`).
What is *volatile* is shown and not compared. The metadata of the output hold the record as JSON;
a decided field that is empty is left out there and in the hash, so that a new field makes no record
anew that does not use it.
"""

from __future__ import annotations

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
        seconds: that the check took.
        versions: of the libraries whose classes ran.
    """

    rows: tuple[Mapping[str, str], ...] = ()
    estimates: tuple[Estimate, ...] = ()
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
        way: by which a proof went, in words.
        counts: of points, runs, data: what pages say of how much was done.
        tolerance: what a check lets pass, such as "1%".
        mutants: how many wrong versions were rejected.
        uses: ids of the claims on which this one rests.
        recorded: the recording on which an experiment's outcome rests.
        beside: the recording of which live runs are a smaller example.
        sample: the draws on which a predicate or an equality was tried.
        until: the day of the youngest datum, of a claim about its own day.
        made: a key of the notebook's lines that made what the check was given (`how_made`).
        ran: the models that ran, as they describe themselves.
        measured: the effect of an experiment, with its error; no part of the hash.
        volatile: what differs from run to run; no part of the hash.
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
    way: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    tolerance: str | None = None
    mutants: Score | None = None
    uses: tuple[str, ...] = ()
    recorded: Recorded | None = None
    beside: str | None = None
    sample: Sample | None = None
    until: str | None = None
    made: str | None = None
    ran: tuple[Ran, ...] = ()
    measured: Interval | None = None
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
        """The hash of what is decided, as the text line shows it."""
        return hash_of({name: value for name, value in to_json(self).items() if name in _DECIDED})

    @property
    def line(self) -> str:
        """The record in one line of text: the same on every machine and device."""
        name = " ".join(self.claims) + (f" [{self.case}]" if self.case else "")
        of = " (truth)" if self.of == "truth" else ""
        parts = [f"{name} {self.kind}{of}", self.statement, self.full_detail]
        return "   ".join([*(part for part in parts if part), f"#{self.hash}"])

    @property
    def full_detail(self) -> str:
        """The detail with a sampled predicate's draws and the age of the data."""
        sample = self.sample and f"{self.sample.n} draws; would have caught {self.sample.sees}"
        until = self.until and f"data until {self.until}"
        return "; ".join(part for part in (self.detail, sample, until) if part)

    def __repr__(self) -> str:
        return self.line

    def _ipython_display_(self) -> None:
        """Show nothing: the check has displayed its record itself."""


def to_json(record: Record) -> dict[str, Any]:
    """Return a record as the output's metadata hold it, without its empty fields."""
    fields = {name: _plain(getattr(record, name)) for name in _STORED}
    return {name: value for name, value in fields.items() if value not in _NOTHING}


def _plain(part: Any) -> Any:
    """A part of a record as JSON has it, without those of its own parts that are empty."""
    if isinstance(part, tuple):
        return [_plain(item) for item in part]
    if is_dataclass(part):
        empty = _EMPTY.get(type(part), (None,))
        return {key: _plain(value) for key, value in vars(part).items() if value not in empty}
    return dict(part) if isinstance(part, Mapping) else part


_NOTHING: tuple[object, ...] = (None, [], {})
_EMPTY: dict[type, tuple[object, ...]] = {Ran: (None, ()), Volatile: (None, "", ())}
_STORED = tuple(name for name in Record.__dataclass_fields__ if name != "steps")
_DECIDED = frozenset(_STORED) - {"measured", "volatile"}


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
    return [f"{about}: {name}: {value!r}" for name, value in data.items() if name in _DECIDED]


# ------------------------------------------------------------------ margins
# How far the effect of an experiment is from zero, measured by its own uncertainty. Training
# differs between two processors: between two instruction sets, one effect's interval moved by half
# its width. The outcome of a live run travels where its interval's near end is far enough from
# zero. A recording is moved by no processor: it is judged by its interval alone.


NEEDED = 1.0  # of a stored live outcome: the near end at least half the width from zero
ASKED = 0.5  # of a run: half of that, so that its outcome survives another processor


@dataclass(frozen=True)
class Interval:
    """The 99 % interval of an experiment's mean effect."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise RecordError(f"interval: got {self.low} … {self.high}; accepted: low <= high")

    @property
    def mean(self) -> float:
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> float:
        """Half of the width."""
        return (self.high - self.low) / 2

    @property
    def margin(self) -> float:
        """Distance of the near end from zero, in halves of the width; 0 where zero lies inside."""
        near = max(self.low, -self.high, 0.0)
        return near / self.half if self.half else float("inf") if near else 0.0

    @property
    def ends(self) -> str:
        """Both ends, of a recording, which has them on every machine."""
        return f"99 % interval {self.low:.3g} … {self.high:.3g}"
