"""Deciding exactly: by an oracle, by counting, or by a predicate and its broken twin."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy as sp

from ..account.records.record import Record, Score
from ..exact.formulas.evaluation import (
    Point,
    checked_points,
    equivalent,
    number,
    place,
    random_points,
    small_points,
)
from ..exact.formulas.notation import parse
from ..exact.induction import over_layers
from ..exact.judging import (
    Comparison,
    approximation,
    is_constant,
    is_typed,
    refuse_nothing,
    typed_formula,
)
from .subject import Predicate, Subject, amount, brief, require_functions, require_text
from .what_ran import aside, watched

_Countable = int | Iterable[Any]


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
                such as an `Oracle`.
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
        detail = f"exact at {amount(points, 'point')}; {score.killed}/{score.total} mutants"
        return self._emit(
            "exact", "supports", f"{text} = {self.formula}", detail,
            mutants=score, given=[quantity, given], counts={"points": len(points)},
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
        self._refuse_formula()
        refuse_nothing(on=on, not_on=not_on)
        found = predicate(on)
        if found is not True:
            raise self._failed(
                f"not so: {text}; on {brief(on)} the predicate gave {found!r}, not True"
            )
        with aside():
            found = predicate(not_on)
        if found is not False:
            raise self._failed(
                f"the check cannot fail: {text}; on the broken version {brief(not_on)} the "
                f"predicate gave {found!r}, not False"
            )
        detail = "true as defined, false on a broken version"
        return self._emit(
            "exact", "supports", text, detail, mutants=Score(1, 1),
            given=[predicate, on],
        )  # fmt: skip

    @watched()
    def count(
        self, quantity: str, counted: Callable[[Point], _Countable], *, at: Sequence[Point] = ({},)
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
            >>> from verifiedbook import claim, symbols
            >>> import torch
            >>> d, n = symbols("d n")
            >>> def table(point):
            ...     return torch.nn.Embedding(point[n], point[d]).weight.flatten()
            >>> claim("TIE-29").count(
            ...     "entries of an embedding", table, at=[{n: 5, d: 3}, {n: 7, d: 2}]
            ... )  # doctest: +ELLIPSIS
            TIE-29 count   entries of an embedding = d*n   ...
        """
        require_text("what is counted, in a line", quantity=quantity)
        require_functions("a function of a point", counted=counted)
        points = checked_points(at, self.formula)
        if self.formula.free_symbols and len(points) < 2:
            raise ValueError(f"at: got {len(points)} point; accepted: two or more")
        typed = typed_formula(counted, self.formula.free_symbols)
        if typed is not None:
            raise ValueError(f"counted: is the formula {typed}; accepted: a function that counts")
        score = self._judged(lambda point: _how_many(counted(point)), points, counted=True)
        self._check_digits()
        detail = f"counted at {amount(points, 'point')}; {score.killed}/{score.total} mutants"
        return self._emit(
            "count", "supports", f"{quantity} = {self.formula}", detail,
            mutants=score, given=[counted], counts={"points": len(points)},
        )  # fmt: skip

    def would_be(self, formula: str | sp.Expr) -> None:
        """Print what a formula of the reader's own would break, or that it breaks nothing.

        It is held against the quantity that the reading defines, computed exactly at small points;
        where the reading defines none, against the right formula. Nothing is recorded, and what is
        no formula gets an answer, too.

        Args:
            formula: as a reading writes it, such as ``"-2*d*sigma**4"``; or in the book's symbols.

        Example:
            >>> from verifiedbook import claim
            >>> claim("LOSS-14").would_be("-2*d*sigma**4")
            LOSS-14: not so: at d=3, sigma=1.3 it gives -17.1366, where Var(Sum(w[i]**2, (i, 1, d))) is 17.1366.
            >>> claim("LOSS-14").would_be("d*sigma**4 + d*sigma**4")
            LOSS-14: this is what the reading says, in another form.
        """  # noqa: E501  # what is printed is one line
        try:
            given = formula if isinstance(formula, sp.Expr) else parse(formula)
            found = self._off(given)
            said = equivalent(given, self.formula, tolerance=1e-15)
            if found:
                answer = f"this is what the article says, and {found}" if said else found
            elif said:
                answer = f"this is what the reading says{self._otherwise(formula)}"
            elif self.reading.truth_formula:
                answer = f"right; the article says {self.formula}"
            else:
                answer = f"not {self.formula}, but so near that no point tells the two apart"
        except (TypeError, ValueError) as error:
            answer = str(error).removeprefix(f"{self.name}: ")
        print(f"{self.name}: {answer}.")

    def _otherwise(self, formula: str | sp.Expr) -> str:
        text = self.reading.formula if self.of == "reading" else self.reading.truth_formula
        same = "".join(str(formula).split()) == "".join(str(text).split())
        return "" if same else ", in another form"

    def _off(self, given: sp.Expr) -> str | None:
        """Where a formula is not the quantity, and by how much; None where it is."""
        truth, quantity = self.reading.truth_formula, self.quantity
        right = parse(truth) if truth else self.formula
        defined = right if quantity is None else quantity
        oracle = getattr(defined, "oracle", lambda point: number(defined, point))
        shown = getattr(defined, "quantity", defined)
        looks = [(shown, oracle, small_points(given.free_symbols | defined.free_symbols))]
        if not equivalent(given, right, tolerance=1e-15):
            looks.append((right, lambda point: number(right, point), random_points(given, right)))
        for name, value, points in looks:
            for point in points:
                found = _beside(given, value, point)
                if found and not found.agrees:
                    said = "no finite value" if found.said is None else f"{float(found.said):.12g}"
                    at = f"at {place(point)} " if point else ""
                    return f"not so: {at}it gives {said}, where {name} is {found.exact.value:.12g}"
        return None


def _beside(given: sp.Expr, value: Callable[[Point], Any], point: Point) -> Comparison | None:
    """A formula beside a value; None at a point of which the definition does not speak."""
    try:
        return Comparison.of(given, approximation(value(point)), point)
    except ValueError:
        return None


def _named(quantity: Any, oracle: Any) -> tuple[str, Callable[[Point], object]]:
    if oracle is None and hasattr(quantity, "oracle") and hasattr(quantity, "quantity"):
        return quantity.quantity, quantity.oracle
    if not isinstance(quantity, str):
        raise TypeError(
            f"quantity: got {type(quantity).__name__}; accepted: a line of text with an oracle "
            "beside it, or a thing with both, such as an Oracle"
        )
    require_functions("a function of a point", oracle=oracle)
    return quantity, oracle


def _how_many(things: _Countable) -> int:
    """A whole number as it is, a collection's length; a range is a number in disguise."""
    if isinstance(things, numbers.Integral) and not isinstance(things, bool):
        return int(things)
    if isinstance(things, Iterable) and not isinstance(things, str | bytes | range):
        return sum(1 for _ in things)
    raise TypeError(
        f"counted: returned {things!r}, a {type(things).__name__}; accepted: a whole number, or a "
        "collection of the things"
    )
