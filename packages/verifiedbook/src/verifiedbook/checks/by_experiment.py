"""Experiments: an empirical remark is decided by two arms of independent runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..account.recordings import Recording
from ..account.records.record import ASKED, Interval, Record
from .subject import Subject, accept
from .what_ran import watched

_SIGNS = ("positive", "negative")
_LEAST_RUNS = 3
_BOUNDS = {  # what a bound may be called, beside its digits
    "nothing": 0, "half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4, "a tenth": 1 / 10,
    "one twelfth": 1 / 12, "one in twenty": 1 / 20, "a hundredth": 1 / 100,
    "one hundredth": 1 / 100, "one per cent": 1 / 100, "a thousandth": 1 / 1000,
}  # fmt: skip


class ByExperiment(Subject):
    """The verb that tries an empirical remark."""

    @watched()
    def experiment(
        self,
        *,
        arms: Mapping[str, Mapping[int, float] | Sequence[float] | Any],
        compares: tuple[str, str],
        predicts: str,
        unit: str,
        replicate: str = "seed",
        recorded: Recording | None = None,
        beside: Recording | None = None,
    ) -> Record:
        """Decide an empirical remark from what was measured in two arms of independent runs.

        The library subtracts, seed by seed. What live runs measured is compared as a number, by
        their interval; of a recording the interval stands in the line.

        Args:
            arms: what was measured, by arm and seed; at least three seeds, the same in each arm.
                An arm is a mapping, a list or a tensor with one value for each seed, or a number,
                to which the other is held.
            compares: two arms; the effect is the first less the second.
            predicts: "positive" or "negative", the sign of the effect that the claim predicts.
            unit: what was measured in an arm, in a line.
            replicate: what one run is.
            recorded: the recording that arms were computed from; all of its seeds count.
            beside: a recording of the same experiment, of which these live runs are a smaller
                example: their sign and margin are compared, and not how large the effect is, which
                unstable training gives every processor its own.

        Returns:
            A record whose outcome is "supports" or "contradicts" where the 99 % interval of the
            mean lies on one side of zero, of live runs with a margin, else "unsettled".

        Raises:
            TypeError: runs that are no mapping, list or tensor.
            ValueError: too few runs, one that is not finite, arms with other seeds or, of a
                recording, not with all, an unknown arm or sign.

        Example:
            With the losses of two arms, from the same seeds:

            >>> from verifiedbook import claim
            >>> small, doubled = [2.31, 2.28, 2.35, 2.30], [2.11, 2.10, 2.13, 2.09]
            >>> claim("GROW-02").case("laboratory").experiment(
            ...     arms={"small": small, "doubled": doubled}, compares=("small", "doubled"),
            ...     predicts="positive", unit="loss after training on",
            ... )  # doctest: +ELLIPSIS
            GROW-02 [laboratory] experiment   loss after training on, small less doubled: ...
        """  # fmt: skip
        accept("predicts", predicts, _SIGNS)
        if recorded and beside:
            raise ValueError("beside: got a recording beside a recording; accepted: live runs")
        found = _checked_arms(arms, compares)
        (first, one), (second, other) = found.items()
        if recorded:
            recorded.check_all_are_used(one)
        values = [one[seed] - other[seed] for seed in sorted(one)]
        interval = interval_of(values)
        sign = settled(interval, 0.0 if recorded else ASKED)
        outcome = "supports" if sign == predicts else "contradicts" if sign else "unsettled"
        instead = "" if outcome == "supports" else f", where {predicts} was predicted"
        runs = f"{len(values)} runs, replicate: {replicate}"
        said = [runs, repr(recorded), interval.ends] if recorded else [runs]
        said += ["its margin suffices"] if sign and not recorded else []
        means = {
            f"mean of {name}": f"{sum(runs.values()) / len(runs):.5g}"
            for name, runs in found.items()
        }
        return self._emit(
            "experiment", outcome, f"{unit}, {first} less {second}: {sign or 'unsettled'}{instead}",
            "; ".join(said), recorded=recorded, measured=interval, given=[arms],
            beside=beside.name if beside else None,
            counts={"runs": len(values)},
            rows=[{
                "99 % interval": f"{interval.low:.4g} … {interval.high:.4g}",
                "runs": str(len(values)), "margin": f"{interval.margin:.2g}", **means,
            }],
        )  # fmt: skip


def settled(interval: Interval, needed: float = ASKED) -> str | None:
    """The sign of an effect whose interval is far enough from zero; None where it is not.

    The ledger wants twice that margin of what a live run stored, so that the outcome survives a
    processor that moves the interval. A recording is moved by none, and needs no margin.
    """
    if not interval.margin or interval.margin < needed:
        return None
    return "positive" if interval.low > 0 else "negative"


def interval_of(values: Iterable[float]) -> Interval:
    """The 99 % interval of the mean of independent runs; a point where all are equal."""
    from ..sampling.design import mean_interval

    every = list(values)
    if len(set(every)) == 1:
        return Interval(every[0], every[0])
    return Interval(*mean_interval(every))


def _checked_runs(runs: Any, name: str) -> dict[int, float]:
    """What was measured, by seed; of a list or a tensor the seeds are 0, 1, 2, …"""
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
    if len(runs) < _LEAST_RUNS:
        raise ValueError(f"{name}: got {len(runs)} runs; accepted: at least {_LEAST_RUNS}")
    for seed, value in runs.items():
        if not math.isfinite(value):
            raise ValueError(f"{name}: got {value} for {seed}; accepted: finite numbers")
    return {seed: float(value) for seed, value in runs.items()}


def _checked_arms(arms: Any, compares: Any) -> dict[str, dict[int, float]]:
    """The arms that are compared, each with the same seeds; a number is one for all seeds."""
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
        name: _checked_runs(arms[name], f"arms[{name!r}]")
        for name in compares
        if name not in bounds
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
