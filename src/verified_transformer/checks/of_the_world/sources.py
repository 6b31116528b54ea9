"""What sources decide: counts of published data, quotations; and what nothing decides."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Mapping
from typing import Any

from ...account.records.record import Record
from ..subject import Subject
from ..wording import count as counted

_SAYS = ("supports", "contradicts", "partly")
_NATURES = ("definition", "plan", "opinion", "picture")
_LONGEST_QUOTE = 25  # words


class BySources(Subject):
    """The verbs for published data and sources, and for what nothing decides."""

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
            started=started, mutants=score, steps=steps, given=[count],
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
        accept("says", says, _SAYS)
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
        accept("nature", nature, _NATURES)
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


def accept(name: str, value: str, accepted: tuple[str, ...]) -> None:
    """Refuse a word that is not one of those accepted."""
    if value not in accepted:
        raise ValueError(f"{name}: got {value!r}; accepted: {', '.join(accepted)}")
