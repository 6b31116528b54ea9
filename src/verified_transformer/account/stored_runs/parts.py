"""A part of a recording, which knows by which path it was reached."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .runs import Recording

EVERY = "*"


@dataclass(frozen=True)
class Part:
    """A part of a recording's result.

    Attributes:
        recording: where it is kept.
        path: the keys that lead to it, then the names of what was made of it; ``"*"`` stands for
            every key.
        value: what stands there.
    """

    recording: Recording
    path: tuple[str, ...]
    value: Any

    @property
    def place(self) -> str:
        """Recording and path in a line."""
        return "/".join((self.recording.name, *self.path))

    def each(self, function: Callable[[Any], float]) -> Part:
        """Return the part with a number in the place of each run.

        Args:
            function: takes what is kept of a run, returns a number; its name goes into the path.

        Raises:
            TypeError: the part holds no runs, or the function has no name of its own.
        """
        name = getattr(function, "__name__", "<lambda>")
        if name == "<lambda>":
            raise TypeError("function: has no name; accepted: one that is defined, for the path")
        numbers = {key: float(function(run)) for key, run in _runs(self.value, self.place).items()}
        return Part(self.recording, (*self.path, name), numbers)

    def by_seed(self) -> dict[int, float]:
        """Return the numbers of the runs by seed.

        Raises:
            TypeError: it holds something else than a number for each run.
        """
        found = _runs(self.value, self.place)
        for key, number in found.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                what = type(number).__name__
                raise TypeError(f"{self.place}: holds a {what} for {key}; accepted: a number")
            if not math.isfinite(number):
                raise TypeError(f"{self.place}: holds {number} for {key}; accepted: finite numbers")
        return {key: float(number) for key, number in found.items()}


def part(recording: Recording, path: tuple[str, ...]) -> Part:
    """Return the part of a recording to which a path leads.

    Args:
        path: keys; ``"*"`` goes through every key of its level.

    Raises:
        ValueError: it leads nowhere; the message names the key and those that are there.
    """
    return Part(recording, path, _follow(recording.result, path, recording.name))


def _follow(value: Any, path: tuple[str, ...], place: str) -> Any:
    if not path:
        return value
    first, *rest = path
    if first == EVERY:
        runs = _runs(value, place)
        return {key: _follow(inner, tuple(rest), f"{place}/{key}") for key, inner in runs.items()}
    if not isinstance(value, Mapping) or first not in value:
        there = ", ".join(map(str, value)) if isinstance(value, Mapping) else "no keys"
        raise ValueError(f"path: {place} has no {first!r}; accepted: {there}")
    return _follow(value[first], tuple(rest), f"{place}/{first}")


def _runs(value: Any, place: str) -> dict[int, Any]:
    if isinstance(value, list):
        return dict(enumerate(value))
    if isinstance(value, Mapping) and all(str(key).isdigit() for key in value):
        return {int(key): inner for key, inner in value.items()}
    raise TypeError(f"{place}: holds a {type(value).__name__}; accepted: a run for each seed")
