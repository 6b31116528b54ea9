"""What sources decide: counts of published data, quotations; and what nothing decides."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any, Self

from ..account.citations import Citation, checked_day, installed, stands_in
from ..account.records.record import Record
from .subject import Subject, accept, amount
from .what_ran import watched

_NATURES = ("definition", "plan", "opinion", "picture")


class Records(tuple[Record, ...]):
    """The records of a call that leaves several; each has displayed itself."""

    def _ipython_display_(self) -> None:
        """Show nothing."""


class BySources(Subject):
    """The verbs for published data and sources, and for what nothing decides."""

    def until(self, day: str) -> Self:
        """Return this claim, whose next record says how young its youngest datum is.

        A claim about its own day needs it (`day` in its reading): data that came later say nothing
        about it.

        Args:
            day: of the youngest datum that the check uses, as YYYY, YYYY-MM or YYYY-MM-DD.

        Raises:
            ValueError: it is no day.

        Example:
            >>> from verifiedbook import claim
            >>> claim("LOSS-05").case("trend").until("2023-07").attempt(
            ...     "the years of 79 architectures", could_have_seen="a fall to a half"
            ... )  # doctest: +ELLIPSIS
            LOSS-05 [trend] attempt   the years of 79 architectures   ... data until 2023-07   #...
        """
        found = type(self)([s.id for s in self.statements], self._case, self.of)
        found._until = checked_day(day)
        return found

    @watched()
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
        detail = f"{amount(values, 'datum')}; {score.killed}/{score.total} mutants"
        steps = [(name, html.escape(f"{value} [{key}]")) for name, (value, key) in data.items()]
        return self._emit(
            "census", "supports", f"{quantity} = {self.formula}", detail.replace("datums", "data"),
            mutants=score, steps=tuple(steps), given=[count, data], counts={"data": len(values)},
        )  # fmt: skip

    def cited(self) -> Records:
        """Judge a claim by the sources that its reading cites: its own, and those of its cases.

        A quotation from a file that is installed here is looked up in it.

        Returns:
            A record for each citation; of a case, or of a truth, for those that it has.

        Raises:
            ClaimFailed: the words do not stand in the file that they are said to be from.
            ValueError: the reading cites nothing, or the claim can be computed.

        Example:
            >>> from verifiedbook import claim
            >>> claim("NORM-07").cited()  # doctest: +ELLIPSIS
            (NORM-07 citation   transformers-t5-source supports   judged, the words found in ...
        """
        made = [one._judged_by(citation) for one in self._parts() for citation in one._sources()]
        if not made:
            raise ValueError(
                f"{self.name}: its reading has no citations; accepted: a claim with citations, "
                "each with key, says, at and quote"
            )
        return Records(made)

    def _parts(self) -> list[BySources]:
        """Each claim, case and truth of which this speaks."""
        of = ("truth",) if self.of == "truth" else ("reading", "truth")
        return [
            type(self)([statement.id], case, part)
            for statement in self.statements
            for case in ([self._case] if self._case else self._reading_of(statement).parts)
            for part in of
        ]

    def _sources(self) -> list[Citation]:
        return [item for item in self.reading.citations if item.of == self.of]

    def _judged_by(self, citation: Citation) -> Record:
        if any(s.kind in ("equation", "number") for s in self.statements) or self.reading.formula:
            raise ValueError(f"{self.name}: can be computed; a citation cannot decide it")
        if citation.file:
            text = installed(citation.file)
            if text is None or not stands_in(citation.quote, text):
                why = "is not installed" if text is None else "does not have the words"
                raise self._failed(f"{citation.file} {why} “{citation.quote}”")
        return self._emit(
            "citation", citation.says, f"{citation.key} {citation.says}", citation.detail,
            cited=citation.key,
        )  # fmt: skip

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
