"""Deciding by an exact oracle, or by a predicate and its broken twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...account.records.record import Record, Score
from ...exact.formulas.evaluation import Point
from ...exact.formulas.points import checked_points
from ...exact.induction import over_layers
from ...exact.judging import is_constant, is_typed, refuse_nothing
from ..subject import Predicate, Subject
from ..what_ran import aside, watched
from ..wording import count as counted_noun


class ByOracle(Subject):
    """The verbs that check a claim exactly."""

    @watched()
    def check(
        self,
        quantity: Any,
        oracle: Callable[[Point], object] | None = None,
        at: Sequence[Point] = (),
    ) -> Record:
        """Check the formula against an exact oracle, such as an enumeration in rationals.

        Args:
            quantity: what the oracle computes, in a line; or a thing that brings its own oracle,
                such as an `Enumerated`.
            oracle: function of a point; returns a number or an `Approximation`.
            at: points to check at.

        Raises:
            ClaimFailed: the formula is off, or a mutant passes.
            TypeError: a line of text without an oracle, or points that are none.
            ValueError: the oracle is the formula once more, or a number; or the formula solves a
                recursion over layers, of which a few depths say nothing.
        """
        if over_layers(self.formula):
            raise ValueError(
                f"oracle: a few depths cannot decide {self.formula}, which goes over layers; "
                "accepted: prove, with an Induction"
            )
        given = oracle
        text, oracle = _named(quantity, oracle)
        points = checked_points(at, self.formula)
        if is_constant(oracle) or is_typed(oracle, self.formula):
            raise ValueError(
                "oracle: is a number or the formula itself; accepted: a function that computes "
                "what the formula is about, without it"
            )
        score = self._judged(oracle, points)
        self._check_digits()
        detail = f"exact at {counted_noun(points, 'point')}; {score.killed}/{score.total} mutants"
        return self._emit(
            "exact", "supports", f"{text} = {self.formula}", detail,
            mutants=score, given=[quantity, given, at],
        )  # fmt: skip

    @watched()
    def check_that(
        self,
        text: str | Predicate,
        predicate: Predicate | None = None,
        *,
        on: Any,
        not_on: Any,
    ) -> Record:
        """Check a statement that has no formula, on a thing and on its broken twin.

        Args:
            text: what is checked, in a line; left out where the reading's text says it.
            predicate: the check.
            on: the thing for which it must be true.
            not_on: a broken version, for which it must be false, so that the check can fail.

        Raises:
            ClaimFailed: the predicate is false on the thing, or true on its broken twin.
            ValueError: the reading has a formula, which must be checked instead; or a thing is
                empty, of which everything is true.
        """
        text, predicate = self._stated(text, predicate)
        if self.reading.formula and self.of == "reading":
            raise ValueError(f"{self.name}: has a formula; use prove, check or measure")
        refuse_nothing(on=on, not_on=not_on)
        found = predicate(on)
        if found is not True:
            raise self._failed(
                f"not so: {text}; on {_brief(on)} the predicate gave {found!r}, not True"
            )
        with aside():
            found = predicate(not_on)
        if found is not False:
            raise self._failed(
                f"the check cannot fail: {text}; on the broken version {_brief(not_on)} the "
                f"predicate gave {found!r}, not False"
            )
        detail = "true as defined, false on a broken version"
        return self._emit(
            "exact", "supports", text, detail, mutants=Score(1, 1),
            given=[predicate, on], broken=[not_on],
        )  # fmt: skip


def _named(quantity: Any, oracle: Any) -> tuple[str, Callable[[Point], object]]:
    if oracle is None and hasattr(quantity, "oracle") and hasattr(quantity, "quantity"):
        return quantity.quantity, quantity.oracle
    if not isinstance(quantity, str):
        raise TypeError(
            f"quantity: got {type(quantity).__name__}; accepted: a line of text with an oracle "
            "beside it, or a thing with both, such as Enumerated"
        )
    if not callable(oracle):
        raise TypeError(f"oracle: got {oracle!r}; accepted: a function of a point")
    return quantity, oracle


def _brief(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"a {type(thing).__name__}"
