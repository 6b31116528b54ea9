"""What ran in a check describes itself: no cell has to say which model it was.

Modules are noted while they run, with the line of the notebook that they run from; each describes
itself, and what a record rests on is found from its line (`cells`). Noting takes a hook of torch's
own, which is there as long as a check runs, and no longer. In a notebook it is there from the first
claim on, since a model may have run in an earlier line. Of a model only the call from outside
counts, not those of its layers.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from ..account.code.cells import Line, Place, made_by
from ..account.records.ran import OWN, TORCH, TRANSFORMERS, Ran

if TYPE_CHECKING:
    from torch import nn
    from torch.utils.hooks import RemovableHandle

_Thing = TypeVar("_Thing")


@dataclass(frozen=True)
class _Event:
    """A model that ran at a place; without one, a record that was made there."""

    place: Place | None
    ran: Ran | None


class Log:
    """What ran so far, in order; what repeats itself at a place stands there once."""

    def __init__(self) -> None:
        self.events: list[_Event] = []
        self.shown: set[str] = set()  # claims whose card stands above already
        self.aside = False
        self.began = 0.0  # when the check did that runs
        self.hook: RemovableHandle | None = None
        self._described: WeakKeyDictionary[nn.Module, dict[Place | None, Ran]]
        self._described = WeakKeyDictionary()
        self._since: set[_Event] = set()  # the place was changed, or a record was made

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
            self.note(module, _place_of(sys._getframe(1)))

    def note(self, module: nn.Module, place: Place | None) -> None:
        """Note that a module runs at a place."""
        known = self._described.setdefault(module, {})
        if place not in known:
            known[place] = description_of(module)
        event = _Event(place, known[place])
        if self.events and self.events[-1].place != place:
            self._since.clear()
        if event not in self._since:
            self._since.add(event)
            self.events.append(event)

    def made(self, place: Place | None) -> None:
        """Note that a record was made; what runs from here on runs anew."""
        self._since.clear()
        self.events.append(_Event(place, None))
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


def _cell_frame(frame: FrameType | None) -> FrameType | None:
    """The frame of the notebook's cell from which a frame was reached; None outside one."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__":
            return None if "__file__" in frame.f_globals else frame
        frame = frame.f_back
    return None


def _place_of(frame: FrameType | None) -> Place | None:
    """The place of the cell from which a frame was reached."""
    cell = _cell_frame(frame)
    return (cell.f_code.co_filename, cell.f_lineno) if cell else None


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
    frame = _cell_frame(sys._getframe(1))
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
    found += [description_of(module) for thing in given for module in _modules(thing)]
    noted.made(at.place)
    return tuple(dict.fromkeys(found))


def seen(thing: _Thing) -> _Thing:
    """Note the modules that a check has drawn, and return what was drawn.

    A check may read the weights of a model that it never calls.

    Args:
        thing: a module, or a list, a tuple or a mapping that has some.
    """
    frame = sys._getframe(1)
    for module in _modules(thing):
        log().note(module, _place_of(frame))
    return thing


def versions_of(ran: Sequence[Ran]) -> str:
    """Return the versions of the libraries whose classes ran; none where nothing did.

    Args:
        ran: what ran.
    """
    names = ["torch", *(["transformers"] if any(r.home == TRANSFORMERS for r in ran) else [])]
    return ", ".join(f"{name} {version(name).partition('+')[0]}" for name in names if ran)


def _of(events: Sequence[_Event], place: Place | None, lines: Sequence[Line]) -> list[_Event]:
    """The events that a record rests on."""
    if not lines:
        last = max((i for i, event in enumerate(events) if event.ran is None), default=-1)
        return list(events[last + 1 :])
    own = lines[-1]
    before = [e for e in events if not own.around(e.place)]
    now = _of_this_turn(events, own, place)
    return [e for e in before + now if e.ran and any(line.holds(e.place) for line in lines)]


def _of_this_turn(events: Sequence[_Event], own: Line, place: Place | None) -> list[_Event]:
    """The events of a statement, of a loop's those of its last turn."""
    found: list[_Event] = []
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


# ------------------------------------------------------------------ how a module describes itself
# Everything is read off the object, nothing off a name or a file.


_EPSILONS = ("eps", "variance_epsilon", "epsilon")
_LARGEST_ROOT = 1 << 20


def description_of(module: nn.Module) -> Ran:
    """Return what a module says of itself.

    Args:
        module: of transformers, of `torch.nn`, or of the book.

    Example:
        >>> from torch import nn
        >>> str(description_of(nn.TransformerEncoderLayer(8, 2)))
        'nn.TransformerEncoderLayer, LayerNorm ε 1e-05, float32'
    """
    parts = list(module.modules())
    return Ran(
        type(module).__name__,
        _home(type(module)),
        layers=tuple(_stacks(module)),
        tied=_is_tied(module),
        norms=tuple(dict.fromkeys(filter(None, map(_norm, parts)))),
        scales=tuple(dict.fromkeys(filter(None, map(_scale, parts)))),
        dtypes=tuple(sorted({str(p.dtype).removeprefix("torch.") for p in module.parameters()})),
    )


def _home(made: type) -> str:
    root = made.__module__.partition(".")[0]
    return {"transformers": TRANSFORMERS, "torch": TORCH}.get(root, OWN)


def _is_tied(module: nn.Module) -> bool | None:
    """Whether embedding and head are one parameter; None where it has no such pair.

    Transformers' models name the two; in any other a linear layer with the shape of an embedding is
    its head.
    """
    from torch import nn

    if hasattr(module, "get_output_embeddings"):
        return _tied_ends(module)
    tables = [part.weight for part in module.modules() if isinstance(part, nn.Embedding)]
    linear = [part.weight for part in module.modules() if isinstance(part, nn.Linear)]
    heads = [w for w in linear if any(w.shape == table.shape for table in tables)]
    return any(w is table for w in heads for table in tables) if heads else None


def _tied_ends(model: Any) -> bool | None:
    try:
        ends = model.get_input_embeddings(), model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        return None  # a class without one of the two
    table, head = (getattr(end, "weight", None) for end in ends)
    return None if table is None or head is None else table is head


def _stacks(module: nn.Module) -> Iterator[int]:
    """The lengths of the outermost lists of layers of one class."""
    from torch import nn

    for part in module.children():
        if isinstance(part, nn.ModuleList) and len({type(layer) for layer in part}) == 1:
            yield len(part)
        else:
            yield from _stacks(part)


def _norm(part: nn.Module) -> str | None:
    """Class and ε of a norm."""
    from torch import nn

    name = type(part).__name__
    if not (isinstance(part, nn.LayerNorm | nn.RMSNorm | nn.GroupNorm) or "Norm" in name):
        return None
    found = (getattr(part, key, None) for key in _EPSILONS)
    eps = next((value for value in found if isinstance(value, int | float)), None)
    return None if eps is None else f"{name} ε {eps:.6g}"


def _scale(part: nn.Module) -> str | None:
    """By what an attention multiplies its scores, where the object holds it."""
    found = getattr(part, "scaling", None)
    if "Attention" not in type(part).__name__ or not isinstance(found, int | float) or found <= 0:
        return None
    return _written(float(found))


def _written(scale: float) -> str:
    """A scale as one over a root, where it is one."""
    square = round(1 / scale**2)
    if not 1 < square < _LARGEST_ROOT or not math.isclose(square, 1 / scale**2, rel_tol=1e-6):
        return f"{scale:.6g}"
    root = math.isqrt(square)
    return f"1/{root}" if root * root == square else f"1/√{square}"
