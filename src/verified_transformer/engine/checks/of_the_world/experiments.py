"""Experiments: an empirical remark is decided by two arms of independent runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...account.records.chances import PLACEBOS_TRIED
from ...account.records.margins import PRINTED, Interval
from ...account.records.record import Record
from ..subject import Subject
from ..what_ran import watched
from .arms import checked_arms, interval_of, less, placebo, settled
from .sources import accept

if TYPE_CHECKING:
    from ...account.recordings import Recording

_SIGNS = ("positive", "negative")


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
        travels: bool = True,
    ) -> Record:
        """Decide an empirical remark from what was measured in two arms of independent runs.

        The library subtracts, seed by seed. The arms the other way round must have the other
        outcome, and one half of an arm less its other half none. The mean of live runs is rounded
        so that it is the same on every machine; of a recording the interval stands in the line.

        Args:
            arms: what was measured, by arm and seed; at least three seeds, the same in each arm.
                An arm is a mapping, a list or a tensor with one value for each seed, or a number,
                to which the other is held.
            compares: two arms; the effect is the first less the second.
            predicts: "positive" or "negative", the sign of the effect that the claim predicts.
            unit: what was measured in an arm, in a line.
            replicate: what one run is.
            recorded: the recording that arms were computed from; all of its seeds count.
            travels: whether another processor gives nearly the same live runs. Where it does not,
                as in unstable training, the mean stands in the table, not in the compared line.

        Returns:
            A record whose outcome is "supports" or "contradicts" where the 99 % interval of the
            mean lies on one side of zero, of live runs with a margin, else "unsettled".

        Raises:
            ClaimFailed: half of an arm differs from its other half.
            TypeError: runs that are no mapping, list or tensor.
            ValueError: too few runs, one that is not finite, arms with other seeds or, of a
                recording, not with all, an unknown arm or sign.

        Example:
            With two arms of a recording:

            >>> from verified_transformer import claim
            >>> from verified_transformer.engine.account.recordings import load
            >>> kept = load("grown_bert")
            >>> runs = kept.result["runs"]["text, 1 layer"]["without"]
            >>> claim("GROW-02").case("laboratory").experiment(
            ...     arms={way: found["final"]["0.001"] for way, found in runs.items()},
            ...     compares=("small", "doubled"), predicts="positive", recorded=kept,
            ...     unit="loss after training on",
            ... )  # doctest: +ELLIPSIS
            GROW-02 [laboratory] experiment   loss after training on, small less doubled: ...
        """  # fmt: skip
        accept("predicts", predicts, _SIGNS)
        found = checked_arms(arms, compares)
        (first, one), (second, other) = found.items()
        if recorded:
            recorded.check_all_are_used(one)
        values = list(less(one, other).values())
        interval = interval_of(values)
        needed = 0.0 if recorded else PRINTED
        about = interval.ends if recorded else interval.about if travels else None
        self._tried_both_ways(interval, less(other, one), needed)
        how = f"; {self._placebos(found)}"
        unit = f"{unit}, {first} less {second}"
        rows = [
            {"arm": name, "mean": f"{sum(runs.values()) / len(runs):.5g}"}
            for name, runs in found.items()
        ]
        sign = settled(interval, needed)
        outcome = "supports" if sign == predicts else "contradicts" if sign else "unsettled"
        instead = "" if outcome == "supports" else f", where {predicts} was predicted"
        runs = f"{len(values)} runs, replicate: {replicate}{how}"
        return self._emit(
            "experiment", outcome, f"{unit}: {sign or 'unsettled'}{instead}",
            "; ".join([runs, *([repr(recorded)] if recorded else []), *([about] if about else [])]),
            recorded=recorded, interval=interval, given=[compares],
            rows=[{
                "99 % interval": f"{interval.low:.4g} … {interval.high:.4g}",
                "runs": str(len(values)), "margin": f"{interval.margin:.2g}",
                **{f"mean of {row['arm']}": row["mean"] for row in rows},
            }],
        )  # fmt: skip

    def _tried_both_ways(
        self, interval: Interval, swapped: Mapping[int, float], needed: float
    ) -> None:
        """The arms the other way round have the other outcome, or the statistic has a bias."""
        other = {"positive": "negative", "negative": "positive", None: None}
        back = interval_of(swapped.values())
        if settled(back, needed) != other[settled(interval, needed)]:
            raise self._failed(
                f"the arms the other way round do not have the other outcome: the effect is "
                f"{interval.low:.3g} … {interval.high:.3g}, the other way round "
                f"{back.low:.3g} … {back.high:.3g}; look at the statistic, which has a bias"
            )

    def _placebos(self, arms: Mapping[str, Mapping[int, float]]) -> str:
        """Each arm's one half against its other: no effect may come out where there is none."""
        found = {name: placebo(runs) for name, runs in arms.items()}
        for name, interval in found.items():
            if interval and settled(interval):
                raise self._failed(
                    f"a placebo shows an effect: one half of the runs of {name!r} less the other "
                    f"is {interval.low:.3g} … {interval.high:.3g}; the runs are not independent "
                    "replicates of one thing"
                )
        return PLACEBOS_TRIED if all(found.values()) else "too few runs for a placebo"
