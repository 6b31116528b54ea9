"""What ran in a check describes itself: no cell has to say which model it was.

Modules are watched while they run (`watching`), each describes itself (`describing`), and what a
record rests on is found from its line of the notebook (`cells`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, TypeVar

from ...account.code.cells import Line, Place, made_by
from ...account.records.ran import TRANSFORMERS, Ran
from . import watching
from .describing import describe
from .watching import Event, aside, log, seconds, watch, watched

__all__ = [
    "Spot", "aside", "describe", "log", "seconds", "seen", "spot", "versions", "watch", "watched",
    "what_ran",
]  # fmt: skip

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Spot:
    """Where a record is made.

    Attributes:
        place: in the notebook; None outside one.
        lines: of the notebook, those behind the record, its own the last.
        sound: those of them that are not only behind a broken version.
        names: of the notebook.
    """

    place: Place | None = None
    lines: Sequence[Line] = ()
    sound: Sequence[Line] = ()
    names: Mapping[str, Any] = field(default_factory=dict)


def spot() -> Spot:
    """Return where in a notebook this is called from; outside one there are no lines."""
    frame = watching.cell_frame(sys._getframe(1))
    if frame is None:
        return Spot()
    place = frame.f_code.co_filename, frame.f_lineno
    names = frame.f_globals
    return Spot(place, made_by(place, names), made_by(place, names, broken=False), names)


def what_ran(given: Sequence[object], at: Spot) -> tuple[Ran, ...]:
    """Return what ran for the record that is being made, and note that it is.

    These are the models that ran in its statement of the notebook, those that ran where what it
    uses was computed, and those that the check was given; not the broken ones in which it has to
    fail (`aside`). Outside a notebook it is what ran in the check, and what that was given.

    Args:
        given: what the cell gave to the check.
        at: where the record is made.

    Returns:
        Descriptions, each once, in the order of their runs.
    """
    noted = log()
    events = _of(noted.events, at.place, at.sound)
    found = [event.ran for event in events if event.ran]
    found += [describe(module) for thing in given for module in _modules(thing)]
    noted.made(at.place)
    return tuple(dict.fromkeys(found))


def seen(thing: Thing) -> Thing:
    """Note the modules that a check has drawn, and return what was drawn.

    A check may read the weights of a model that it never calls.

    Args:
        thing: a module, or a list, a tuple or a mapping that has some.
    """
    frame = sys._getframe(1)
    for module in _modules(thing):
        log().note(module, watching.place_of(frame))
    return thing


def versions(ran: Sequence[Ran]) -> str:
    """Return the versions of the libraries whose classes ran; none where nothing did.

    Args:
        ran: what ran.
    """
    names = ["torch", *(["transformers"] if any(r.home == TRANSFORMERS for r in ran) else [])]
    return ", ".join(f"{name} {version(name).partition('+')[0]}" for name in names if ran)


def _of(events: Sequence[Event], place: Place | None, lines: Sequence[Line]) -> list[Event]:
    """The events that a record rests on."""
    if not lines:
        return _since_the_last_record(events)
    own = lines[-1]
    before = [e for e in events if not own.around(e.place)]
    now = _of_this_turn(events, own, place)
    return [e for e in before + now if e.ran and any(line.holds(e.place) for line in lines)]


def _since_the_last_record(events: Sequence[Event]) -> list[Event]:
    last = max((i for i, event in enumerate(events) if event.ran is None), default=-1)
    return list(events[last + 1 :])


def _of_this_turn(events: Sequence[Event], own: Line, place: Place | None) -> list[Event]:
    """The events of a statement, of a loop's those of its last turn."""
    found: list[Event] = []
    line = own.first
    for event in reversed(events):
        if event.place is None or not own.around(event.place):
            break
        here = own.first if own.holds(event.place) else event.place[1]
        if here > line or (event.ran is None and event.place == place):
            break  # of the turn before
        line = here
        found.append(event)
    return found[::-1]


def _modules(thing: Any, depth: int = 0) -> Iterator[Any]:
    """The modules among what a check was given."""
    torch = sys.modules.get("torch")  # who has not loaded it has no module
    if torch and isinstance(thing, torch.nn.Module):
        yield thing
    elif isinstance(thing, list | tuple | Mapping) and depth < 3:
        for item in thing.values() if isinstance(thing, Mapping) else thing:
            yield from _modules(item, depth + 1)
