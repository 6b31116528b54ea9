"""Which modules ran, and from which line of a notebook: noted while they run.

`torch.nn.Module.__call__` is wrapped once, where checks are imported. Of a model only the call from
outside counts, not those of its layers; a model that is called again from the same line costs a
look-up. A tiny training step takes 1 to 6 % longer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.nn.utils.parametrize import ParametrizationList

from ...account.records.ran import Ran
from ...account.stored_runs.code.cells import Place
from .describing import describe


@dataclass(frozen=True)
class Event:
    """A model that ran at a place; without one, a record that was made there."""

    place: Place | None
    ran: Ran | None


class Log:
    """What ran so far, in order; what repeats itself at a place stands there once."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._described: WeakKeyDictionary[nn.Module, dict[Place | None, Ran]]
        self._described = WeakKeyDictionary()
        self._since: set[Event] = set()  # the place was changed, or a record was made

    def note(self, module: nn.Module, place: Place | None) -> None:
        """Note that a module runs at a place."""
        known = self._described.setdefault(module, {})
        if place not in known:
            known[place] = describe(module)
        event = Event(place, known[place])
        if self.events and self.events[-1].place != place:
            self._since.clear()
        if event not in self._since:
            self._since.add(event)
            self.events.append(event)

    def made(self, place: Place | None) -> None:
        """Note that a record was made; what runs from here on runs anew."""
        self._since.clear()
        self.events.append(Event(place, None))
        for known in self._described.values():
            known.clear()  # what has changed since is described afresh


log = Log()
_inside = [False]


@contextmanager
def aside() -> Iterator[None]:
    """Let nothing be noted: what runs now is a broken version, in which a check has to fail."""
    before, _inside[0] = _inside[0], True
    try:
        yield
    finally:
        _inside[0] = before


def cell_frame(frame: FrameType | None) -> FrameType | None:
    """Return the frame of the notebook's cell from which a frame was reached; None outside one."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__":
            return None if "__file__" in frame.f_globals else frame
        frame = frame.f_back
    return None


def place_of(frame: FrameType | None) -> Place | None:
    """Return the place of the cell from which a frame was reached."""
    cell = cell_frame(frame)
    return (cell.f_code.co_filename, cell.f_lineno) if cell else None


def watch() -> None:
    """Note from here on every module that runs."""
    called = nn.Module.__call__
    if hasattr(called, "watched"):
        return

    def noted(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if _inside[0] or torch.compiler.is_compiling():
            return called(self, *args, **kwargs)
        _inside[0] = True
        try:
            if not isinstance(self, ParametrizationList):  # it computes a weight, and is no model
                log.note(self, place_of(sys._getframe(1)))
            return called(self, *args, **kwargs)
        finally:
            _inside[0] = False

    noted.watched = True  # type: ignore[attr-defined]
    nn.Module.__call__ = noted  # type: ignore[method-assign]
