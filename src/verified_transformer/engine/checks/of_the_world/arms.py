"""The arms of an experiment: what was measured in each, by seed; and the library's subtraction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ...account.records.chances import PLACEBO
from ...account.records.margins import PRINTED, Interval

LEAST_RUNS = 3
_LEAST_FOR_A_PLACEBO = 6  # two halves of three
_BOUNDS = {  # what a bound may be called, beside its digits
    "nothing": 0, "half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4, "a tenth": 1 / 10,
    "one twelfth": 1 / 12, "one in twenty": 1 / 20, "a hundredth": 1 / 100,
    "one hundredth": 1 / 100, "one per cent": 1 / 100, "a thousandth": 1 / 1000,
}  # fmt: skip

Runs = Mapping[int, float]


def settled(interval: Interval, needed: float = PRINTED) -> str | None:
    """The sign of an effect whose interval is far enough from zero; None where it is not.

    The ledger wants twice that margin of what a live run stored, so that the outcome survives a
    processor that moves the interval. A recording is moved by none, and needs no margin.
    """
    if not interval.margin or interval.margin < needed:
        return None
    return "positive" if interval.low > 0 else "negative"


def interval_of(values: Iterable[float]) -> Interval:
    """The 99 % interval of the mean of independent runs; a point where all are equal."""
    from ...sampling.design import mean_interval

    every = list(values)
    if len(set(every)) == 1:
        return Interval(every[0], every[0])
    return Interval(*mean_interval(every))


def checked_runs(runs: Any, name: str) -> dict[int, float]:
    """Return what was measured, by seed.

    Args:
        runs: a mapping from seed to number; or a list or a tensor with one value for each of the
            seeds 0, 1, 2, ….
        name: what messages call it.

    Raises:
        TypeError: it is none of them.
        ValueError: too few runs, or one that is not finite.
    """
    if hasattr(runs, "tolist"):
        runs = runs.tolist()
    if isinstance(runs, list | tuple) and all(isinstance(value, int | float) for value in runs):
        runs = dict(enumerate(runs))
    if not isinstance(runs, Mapping):
        what = type(runs).__name__
        raise TypeError(
            f"{name}: got {what}; accepted: the {name} by seed, or one number for each seed in a "
            "list or a tensor"
        )
    if len(runs) < LEAST_RUNS:
        raise ValueError(f"{name}: got {len(runs)} runs; accepted: at least {LEAST_RUNS}")
    for seed, value in runs.items():
        if not math.isfinite(value):
            raise ValueError(f"{name}: got {value} for {seed}; accepted: finite numbers")
    return {seed: float(value) for seed, value in runs.items()}


def checked_arms(arms: Any, compares: Any) -> dict[str, dict[int, float]]:
    """Return the arms that are compared, each with the same seeds; a number is one for all seeds.

    Raises:
        TypeError: no mapping from names to runs.
        ValueError: an unknown arm, twice the same, two bounds, a bound that is not what it is
            called, or other seeds.
    """
    if not isinstance(arms, Mapping) or not all(isinstance(name, str) for name in arms):
        raise TypeError(f"arms: got {type(arms).__name__}; accepted: runs by the name of their arm")
    if not isinstance(compares, tuple) or len(compares) != 2 or len(set(compares)) != 2:
        raise ValueError(f"compares: got {compares!r}; accepted: the names of two arms")
    unknown = [name for name in compares if name not in arms]
    if unknown:
        raise ValueError(f"compares: got {unknown[0]!r}; accepted: {', '.join(arms)}")
    bounds = [name for name in compares if isinstance(arms[name], int | float)]
    if len(bounds) > 1:
        raise ValueError(f"arms: {' and '.join(bounds)} are both numbers; accepted: one bound")
    found = {
        name: checked_runs(arms[name], f"arms[{name!r}]") for name in compares if name not in bounds
    }
    seeds = [set(runs) for runs in found.values()]
    if seeds[0] != seeds[-1]:
        raise ValueError("arms: have other seeds; accepted: the same, so that pairs are compared")
    for name in bounds:
        if not math.isfinite(arms[name]):
            raise ValueError(f"arms: got {arms[name]} for {name!r}; accepted: a finite number")
        if _called(name) is None or not math.isclose(arms[name], _called(name) or 0):
            words = ", ".join(_BOUNDS)
            raise ValueError(
                f"arms: {arms[name]} is called {name!r}; accepted: its digits, or one of {words}"
            )
        found[name] = dict.fromkeys(seeds[0], float(arms[name]))
    return {name: found[name] for name in compares}


def _called(name: str) -> float | None:
    """The number that a bound's name says."""
    try:
        return _BOUNDS[name] if name in _BOUNDS else float(name)
    except ValueError:
        return None


def less(first: Runs, second: Runs) -> dict[int, float]:
    """The first arm less the second, seed by seed."""
    return {seed: first[seed] - second[seed] for seed in sorted(first)}


def placebo(runs: Runs) -> Interval | None:
    """One half of an arm less its other half; None where there are too few runs.

    The interval is wider than that of an effect: an experiment is tried once, a placebo for every
    arm, on every machine and with every other seed. At 99.99 % and with the margin that `settled`
    asks for, a placebo of independent runs shows an effect at most once in ten thousand times;
    where runs fall into two narrow clusters, this takes sixteen of them. Halves are compared as
    two samples with one spread, because seeds are no pairs.

    Args:
        runs: what was measured in an arm, by seed.

    Example:
        >>> alike = placebo({seed: value for seed, value in enumerate([1, 2, 3, 2, 1, 3])})
        >>> settled(alike) is None
        True
        >>> placebo({0: 1.0, 1: 2.0}) is None
        True
    """
    from ...sampling.design import difference_interval

    if len(runs) < _LEAST_FOR_A_PLACEBO:
        return None
    values = [runs[seed] for seed in sorted(runs)]
    return Interval(*difference_interval(values[::2], values[1::2], 1 - PLACEBO))
