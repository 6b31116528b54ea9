"""Margins: how far the effect of an experiment is from zero, measured by its own uncertainty.

Training differs between two processors: between two instruction sets, one effect's interval moved
by half its width. The outcome of a live run travels where its interval's near end is far enough
from zero. A recording is moved by no processor: it is judged by its interval alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEEDED = 1.0  # of a stored live outcome: the near end at least half the width from zero
PRINTED = 0.5  # of a run: half of that, so that its line survives another processor


@dataclass(frozen=True)
class Interval:
    """The 99 % interval of an experiment's mean effect."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"interval: got {self.low} … {self.high}; accepted: low <= high")

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
