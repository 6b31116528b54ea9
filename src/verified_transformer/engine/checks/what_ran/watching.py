"""Which modules ran, and from which line of a notebook: noted while they run.

Noting takes a hook of torch's own, which is there as long as a check runs, and no longer. In a
notebook it is there from the first claim on, since a model may have run in an earlier line. Of a
model only the call from outside counts, not those of its layers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ...account.code.cells import Place
from ...account.records.ran import Ran
from .describing import describe

if TYPE_CHECKING:
    from torch import nn
    from torch.utils.hooks import RemovableHandle


@dataclass(frozen=True)
class Event:
    """A model that ran at a place; without one, a record that was made there."""

    place: Place | None
    ran: Ran | None


class Log:
    """What ran so far, in order; what repeats itself at a place stands there once."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.shown: set[str] = set()  # claims whose card stands above already
        self.aside = False
        self.began = 0.0  # when the check did that runs
        self.hook: RemovableHandle | None = None
        self._described: WeakKeyDictionary[nn.Module, dict[Place | None, Ran]]
        self._described = WeakKeyDictionary()
        self._since: set[Event] = set()  # the place was changed, or a record was made

    def runs(self, module: nn.Module, _: object) -> None:
        """Note a module that is called, unless another calls it, or it only makes a weight."""
        import torch
        from torch.nn.utils.parametrize import ParametrizationList

        call = torch.nn.Module.__call__.__code__
        if torch.compiler.is_compiling() or self.aside or isinstance(module, ParametrizationList):
            return
        frame: FrameType | None = sys._getframe(1)
        calls = 0
        while frame is not None and calls < 2:
            calls += frame.f_code is call  # the first is its own
            frame = frame.f_back
        if calls < 2:
            self.note(module, place_of(sys._getframe(1)))

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


_logs: list[Log] = []  # none but in a notebook, and while a check runs


def log() -> Log:
    """Return what is noted now; an empty one where nothing is."""
    return _logs[-1] if _logs else Log()


@contextmanager
def watched() -> Iterator[Log]:
    """Note what runs in here, and when that began; for a verb of a claim: ``@watched()``.

    Afterwards it is forgotten, but in a notebook.
    """
    here, outermost = log(), not _logs
    if outermost:
        here.hook = _hook(here)
    _logs.append(here)
    before, here.began = here.began, time.perf_counter()
    try:
        yield here
    finally:
        here.began = before
        _logs.pop()
        if outermost and here.hook:
            here.hook.remove()


def watch() -> None:
    """In a notebook note from here on every module that runs; elsewhere nothing."""
    if not _logs and "IPython" in sys.modules and sys.modules["IPython"].get_ipython():
        _logs.append(Log())
        _logs[-1].hook = _hook(_logs[-1])


def _hook(noted: Log) -> RemovableHandle | None:
    try:
        from torch.nn.modules.module import register_module_forward_pre_hook
    except ImportError:  # as in the published page, where no module can run
        return None
    return register_module_forward_pre_hook(noted.runs)


def seconds() -> float:
    """Return how long the check that runs has taken."""
    began = log().began
    return time.perf_counter() - began if began else 0.0


@contextmanager
def aside() -> Iterator[None]:
    """Let nothing be noted: what runs now is a broken version, in which a check has to fail."""
    here = log()
    before, here.aside = here.aside, True
    try:
        yield
    finally:
        here.aside = before


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
