"""What the world decides: runs, counts of published data, sources; and what nothing decides."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..account.records.margins import PRINTED, Interval
from ..account.records.record import Record
from .subject import Subject
from .wording import count as counted

if TYPE_CHECKING:
    from ..account.stored_runs.runs import Recording

_LEAST_RUNS = 3
_SIGNS = ("positive", "negative")
_SAYS = ("supports", "contradicts", "partly")
_NATURES = ("definition", "plan", "opinion", "picture")
_LONGEST_QUOTE = 25  # words


class OfTheWorld(Subject):
    """The verbs for what no formula decides."""

    def experiment(
        self,
        effect: Mapping[int, float],
        *,
        predicts: str,
        unit: str,
        replicate: str = "seed",
        recorded: Recording | None = None,
    ) -> Record:
        """Decide an empirical remark from an effect measured in independent runs.

        Args:
            effect: the effect by seed; at least three.
            predicts: "positive" or "negative", the sign that the claim predicts.
            unit: what the effect is, in a line.
            replicate: what one run is.
            recorded: the recording that the effect was computed from, where it was not run live.

        Returns:
            A record whose outcome is "supports" or "contradicts" where the 99 % interval of the
            mean lies on one side of zero with a margin, else "unsettled".

        Raises:
            ValueError: too few runs, one that is not finite, or an unknown sign.
        """
        from ..sampling.design import mean_interval

        started = time.perf_counter()
        _accept("predicts", predicts, _SIGNS)
        values = _checked_effect(effect)
        interval = Interval(*mean_interval(values))
        found = _settled(interval)
        outcome = found or "unsettled"
        if found:
            outcome = "supports" if found == predicts else "contradicts"
        instead = "" if outcome == "supports" else f", where {predicts} was predicted"
        return self._emit(
            "experiment", outcome, f"{unit}: {found or 'unsettled'}{instead}",
            f"{len(values)} runs, replicate: {replicate}" + (f"; {recorded!r}" if recorded else ""),
            started=started, recorded=recorded, interval=interval,
            rows=[{
                "99 % interval": f"{interval.low:.4g} … {interval.high:.4g}",
                "runs": str(len(values)), "margin": f"{interval.margin:.2g}",
            }],
        )  # fmt: skip

    def census(
        self,
        quantity: str,
        data: Mapping[str, tuple[Any, str]],
        count: Callable[[list[Any]], Any],
    ) -> Record:
        """Decide a number that says something of the world by counting published data.

        Args:
            quantity: what is counted, in a line.
            data: by name, a datum and the key of its source in the book's bibliography.
            count: function of the list of data; returns the number.

        Raises:
            ClaimFailed: the count is not the reading's formula, a mutant is, or the count does not
                depend on the data.
            TypeError: a datum without its source.
            ValueError: fewer than two data.
        """
        started = time.perf_counter()
        if len(data) < 2:
            raise ValueError(f"data: got {len(data)}; accepted: at least two, with their sources")
        for name, item in data.items():
            if not isinstance(item, tuple) or len(item) != 2:
                raise TypeError(f"data: got {item!r} for {name!r}; accepted: (datum, source's key)")
        values = [value for value, _ in data.values()]
        score = self._judged(lambda _: count(values), [{}])
        fewer = [count(values[:i] + values[i + 1 :]) for i in range(len(values))]
        if all(f == count(values) for f in fewer):
            raise self._failed(
                f"the count does not depend on any single datum: it is {count(values)} without "
                "each of them"
            )
        detail = f"{counted(values, 'datum')}; {score.killed}/{score.total} mutants"
        steps = [(name, html.escape(f"{value} [{key}]")) for name, (value, key) in data.items()]
        return self._emit(
            "census", "supports", f"{quantity} = {self.formula}", detail.replace("datums", "data"),
            started=started, mutants=score, steps=steps,
        )  # fmt: skip

    def cite(self, key: str, *, says: str, at: str, quote: str) -> Record:
        """Judge a claim by a source; refused for what can be computed.

        Args:
            key: key in the book's bibliography.
            says: "supports", "contradicts" or "partly".
            at: where in the source.
            quote: the deciding words, at most 25.

        Raises:
            ValueError: the claim can be computed, or an argument is out of range.
        """
        if any(s.kind in ("equation", "number") for s in self.statements) or self.reading.formula:
            raise ValueError(f"{self.name}: can be computed; a citation cannot decide it")
        _accept("says", says, _SAYS)
        words = len(quote.split())
        if not 1 <= words <= _LONGEST_QUOTE:
            raise ValueError(f"quote: got {words} words; accepted: 1 to {_LONGEST_QUOTE}")
        for name, text in (("key", key), ("at", at)):
            if not text.strip():
                raise ValueError(f"{name}: got an empty text; accepted: where the words stand")
        return self._emit("citation", says, f"{key} {says}", f"judged; {at}: “{quote}”", cited=key)

    def set_aside(self, nature: str, *, because: str) -> Record:
        """Say that a claim is nothing to be true or false.

        Args:
            nature: "definition", "plan", "opinion" or "picture".
            because: the reason, in a line.

        Raises:
            ValueError: the claim has a formula or a number, no reason, or an unknown nature.
        """
        _accept("nature", nature, _NATURES)
        if self.reading.formula or any(s.kind == "number" for s in self.statements):
            raise ValueError(f"{self.name}: has a formula or a number; decide it")
        if not because.strip():
            raise ValueError("because: got an empty text; accepted: the reason, in a line")
        return self._emit("set-aside", "none", nature, because)

    def attempt(self, tried: str, *, could_have_seen: str) -> Record:
        """Record what was tried on a claim that stays open.

        Args:
            tried: the experiment, or the datum that cannot be had.
            could_have_seen: the smallest effect that it would have shown.

        Raises:
            ValueError: one of them is empty.
        """
        if not tried or not could_have_seen:
            raise ValueError("tried, could_have_seen: both are needed for an open verdict")
        return self._emit("attempt", "none", tried, f"could have seen {could_have_seen}")


def _settled(interval: Interval) -> str | None:
    """The sign of an effect whose interval is far enough from zero; None where it is not.

    The ledger wants twice that margin of what is stored, so that the outcome survives a processor
    that moves the interval.
    """
    if interval.margin < PRINTED:
        return None
    return "positive" if interval.low > 0 else "negative"


def _checked_effect(effect: Mapping[int, float]) -> list[float]:
    if not isinstance(effect, Mapping):
        raise TypeError(f"effect: got {type(effect).__name__}; accepted: the effect by seed")
    if len(effect) < _LEAST_RUNS:
        raise ValueError(f"effect: got {len(effect)} runs; accepted: at least {_LEAST_RUNS}")
    for seed, value in effect.items():
        if not math.isfinite(value):
            raise ValueError(f"effect: got {value} for {seed}; accepted: finite numbers")
    return list(effect.values())


def _accept(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise ValueError(f"{name}: got {value!r}; accepted: {', '.join(accepted)}")
