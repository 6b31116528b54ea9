"""Deciding exactly: a derivation, an exact oracle, or a predicate and its broken twin."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy as sp

from ..account.records.record import Record, Score
from ..exact.derivations import Derived, StepFailed
from ..exact.formulas.evaluation import Point, equivalent, number
from ..exact.formulas.points import place, small_points
from ..exact.induction import Induction
from ..exact.judging import break_definitions, judge_counted, typed_formula
from .subject import Subject, checked_points
from .wording import apart, equation, off_by, step
from .wording import count as counted_noun

_UNEVALUATED = (sp.Integral, sp.Sum, sp.Product, sp.Limit, sp.Derivative)


Countable = int | Iterable[Any]


class Exactly(Subject):
    """The verbs that decide a claim exactly."""

    def prove(
        self, derived: Derived | Induction | None = None, *, at: Sequence[Point] | None = None
    ) -> Record:
        """Prove that the formula is what an engine or a chain of checked steps derives.

        The derivation must end at the formula; the oracle, which evaluates the definition
        numerically, must agree with the formula and reject each of its mutants at small points; and
        the derivation must end elsewhere when the definition is changed.

        Args:
            derived: a `Derivation` that begins with what the reading defines; or nothing where the
                moment engine derives it; or, where the reading defines nothing, either of them, or
                an `Induction`, whose recursion the formula must solve.
            at: points for the oracle; two small ones by default.

        Raises:
            ClaimFailed: one of these did not happen.
            TypeError: the derivation was not made by an engine or a chain.
        """
        derived = self._defined(derived, None)
        started = time.perf_counter()
        if isinstance(derived, Induction):
            derived = self._solved(derived)
        _require_derivation(derived)
        points = (
            small_points(derived.free_symbols | self.formula.free_symbols)
            if at is None
            else checked_points(at, self.formula)
        )
        if not equivalent(derived.value, self.formula, tolerance=1e-15):
            raise self._failed(
                f"the derivation gives {derived.value}{self._example(derived.value, points[0])}; "
                "look at the definition and at its last step"
            )
        score = self._judged(derived.oracle, points)
        self._check_digits()
        broken = self._broken(derived)
        detail = (
            f"{derived.route}; exact at {counted_noun(points, 'point')}; "
            f"{score.killed}/{score.total} mutants; "
            f"{broken}/{broken} changed definitions break it"
        )
        return self._emit(
            "proof", "supports", f"{derived.quantity} = {self.formula}", detail,
            started=started, mutants=score,
            steps=[(s.reason, step(s.expression)) for s in derived.steps],
            latex=equation(derived, self.formula),
        )  # fmt: skip

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
        """
        started = time.perf_counter()
        text, oracle = _named(quantity, oracle)
        points = checked_points(at, self.formula)
        score = self._judged(oracle, points)
        self._check_digits()
        detail = f"exact at {counted_noun(points, 'point')}; {score.killed}/{score.total} mutants"
        return self._emit(
            "exact", "supports", f"{text} = {self.formula}", detail,
            started=started, mutants=score,
        )  # fmt: skip

    def check_that(
        self, text: str, predicate: Callable[[Any], bool], *, on: Any, not_on: Any
    ) -> Record:
        """Check a statement that has no formula, on a thing and on its broken twin.

        Args:
            text: what is checked, in a line.
            predicate: the check.
            on: the thing for which it must be true.
            not_on: a broken version, for which it must be false, so that the check can fail.

        Raises:
            ClaimFailed: the predicate is false on the thing, or true on its broken twin.
            ValueError: the reading has a formula, which must be checked instead.
        """
        started = time.perf_counter()
        if self.reading.formula and self.of == "reading":
            raise ValueError(f"{self.name}: has a formula; use prove, check or measure")
        found = predicate(on)
        if found is not True:
            raise self._failed(
                f"not so: {text}; on {_brief(on)} the predicate gave {found!r}, not True"
            )
        found = predicate(not_on)
        if found is not False:
            raise self._failed(
                f"the check cannot fail: {text}; on the broken version {_brief(not_on)} the "
                f"predicate gave {found!r}, not False"
            )
        detail = "true as defined, false on a broken version"
        return self._emit("exact", "supports", text, detail, started=started, mutants=Score(1, 1))

    def count(
        self, quantity: str, counted: Callable[[Point], Countable], *, at: Sequence[Point] = ({},)
    ) -> Record:
        """Check the formula by counting what it says how many there are of.

        Args:
            quantity: what is counted, in a line.
            counted: function of a point; builds the things and returns them in a collection, or
                returns how many there are.
            at: points, two or more where the formula has symbols.

        Returns:
            A record of kind "count"; it needs no measurement beside it.

        Raises:
            ClaimFailed: there is another number of them, or a mutant of the formula gives the same.
            TypeError: ``counted`` is no function, or returns what cannot be counted.
            ValueError: a single point, or ``counted`` is a formula and counts nothing.

        Example:
            >>> from verified_transformer import claim, symbols
            >>> import torch
            >>> d, n = symbols("d n")
            >>> def head(point):
            ...     return torch.nn.Linear(point[d], point[n], bias=False).weight.numel()
            >>> claim("TIE-28").count(  # doctest: +SKIP
            ...     "parameters of a head", head, at=[{n: 5, d: 3}, {n: 7, d: 2}]
            ... )
        """
        started = time.perf_counter()
        if not isinstance(quantity, str) or not quantity.strip():
            raise TypeError(f"quantity: got {quantity!r}; accepted: what is counted, in a line")
        if not callable(counted):
            raise TypeError(f"counted: got {counted!r}; accepted: a function of a point")
        points = checked_points(at, self.formula)
        if self.formula.free_symbols and len(points) < 2:
            raise ValueError(f"at: got {len(points)} point; accepted: two or more")
        typed = typed_formula(counted, self.formula.free_symbols)
        if typed is not None:
            raise ValueError(f"counted: is the formula {typed}; accepted: a function that counts")
        found = judge_counted(
            self.formula, self.mutants, [how_many(counted(point)) for point in points], points
        )
        if found.first_disagreement:
            raise self._failed(f"{apart(found.first_disagreement, self.formula)}; count again")
        if found.survivors:
            raise self._failed(
                f"mutants give the same count: {', '.join(found.survivors)}; add points at which "
                "they differ from the formula"
            )
        self._check_digits()
        score = Score(len(found.killed), len(found.killed))
        detail = f"counted at {counted_noun(points, 'point')}; {score.killed}/{score.total} mutants"
        return self._emit(
            "count", "supports", f"{quantity} = {self.formula}", detail,
            started=started, mutants=score,
        )  # fmt: skip

    def _solved(self, recursion: Induction) -> Derived:
        try:
            return recursion.solved_by(self.formula)
        except StepFailed as error:
            raise self._failed(f"the formula does not solve the recursion: {error}") from error

    def _example(self, value: sp.Expr, point: Point) -> str:
        """The derived and the claimed number at a point, where both have one."""
        numbers = [number(formula, point, 15) for formula in (value, self.formula)]
        if None in numbers:
            return f", not {self.formula}"
        found, said = (float(str(x)) for x in numbers)
        return (
            f", not {self.formula}; at {place(point) or 'no symbols'} that is {found:.8g} and not "
            f"{said:.8g}: off by {off_by(said, found)}"
        )

    def _broken(self, derived: Derived) -> int:
        """How many changed definitions lead elsewhere: all of them, or the proof fails."""
        found = break_definitions(derived, self.formula)
        if found.unmoved or not found.broken:
            which = ", ".join(found.unmoved) or "there is none"
            raise self._failed(
                f"changed definitions do not break the derivation: {which}; look for a step that "
                "types its result"
            )
        return len(found.broken)


def how_many(things: Countable) -> int:
    """Return how many things there are: a whole number as it is, a collection's length.

    Raises:
        TypeError: something else: a fraction, a text, or a range, which is a number in disguise.
    """
    if isinstance(things, numbers.Integral) and not isinstance(things, bool):
        return int(things)
    if isinstance(things, Iterable) and not isinstance(things, str | bytes | range):
        return sum(1 for _ in things)
    raise TypeError(
        f"counted: returned {things!r}, a {type(things).__name__}; accepted: a whole number, or a "
        "collection of the things"
    )


def _require_derivation(derived: Any) -> None:
    if not all(hasattr(derived, part) for part in ("steps", "oracle", "definition_mutants")):
        raise TypeError(
            f"derived: got {type(derived).__name__}; accepted: an engine's expectation or a "
            "Derivation, not a typed expression"
        )
    start = getattr(derived, "start", None)
    if start is not None and not start.has(*_UNEVALUATED):
        raise TypeError(f"derived: starts from the closed form {start}; accepted: a definition")


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
