"""Deciding by proof: a derivation or a recursion that fails from other definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from ...account.records.record import Record
from ...exact.derivations import Derived, StepFailed
from ...exact.formulas.evaluation import (
    Point,
    checked_points,
    equivalent,
    number,
    place,
    small_points,
)
from ...exact.induction import Induction, Solved, over_layers
from ...exact.judging import break_definitions
from ...exact.moments import Expectation
from ..subject import Subject
from ..what_ran import watched
from ..wording import as_much, equation, step
from ..wording import count as counted_noun

_UNEVALUATED = (sp.Integral, sp.Sum, sp.Product, sp.Limit, sp.Derivative)


class ByProof(Subject):
    """The verb that proves a claim."""

    @watched()
    def prove(
        self,
        derived: Derived | Induction | None = None,
        *,
        at: Sequence[Point] | None = None,
    ) -> Record:
        """Prove that the formula is what an engine or a chain of checked steps derives.

        The derivation must end at the formula; the oracle, which evaluates the definition
        numerically, must agree with the formula and reject each of its mutants at small points; and
        the derivation must end elsewhere when the definition is changed.

        Args:
            derived: where the reading defines a mean or a variance, that definition written out,
                by whatever names: the moment engine derives it; where it defines an integral or a
                sum, a `Derivation` that begins with it; where it defines nothing, either of them,
                or an `Induction`, whose recursion the formula must solve.
            at: points for the oracle; two small ones by default.

        Raises:
            ClaimFailed: one of these did not happen, or the cell defines another quantity than the
                reading; the message has both.
            TypeError: nothing is given, and the message says what to write; the derivation was not
                made by an engine or a chain, begins with a product that is typed in, or integrates
                what does not depend on the variable; or the formula solves a recursion over layers,
                and no `Induction` is given.
        """
        if derived is None:
            raise TypeError(f"derived: none given; accepted: {self._to_write()}")
        given, derived = derived, self._defined(derived)
        if isinstance(derived, Induction):
            derived = self._solved(derived)
        elif over_layers(self.formula) and not isinstance(derived, Solved):
            raise TypeError(
                f"derived: got {type(derived).__name__}, and {self.formula} goes over layers; "
                "accepted: an Induction, whose base and step are proved"
            )
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
            mutants=score, given=[given, at],
            steps=[(s.reason, step(s.expression)) for s in derived.steps],
            latex=equation(derived, self.formula),
        )  # fmt: skip

    def _to_write(self) -> str:
        """What a proof of this claim begins with, as a cell has to say it."""
        if self.quantity is None:
            return (
                "an engine's expectation, a Derivation or an Induction; the reading of "
                f"{self.name} defines none"
            )
        if not isinstance(self.quantity, Expectation):
            return f"a Derivation that begins with {self.quantity}"
        where = (f"{name} = {thing}" for name, thing in self.reading.where.items())
        return f"{self.reading.quantity}, written out in the cell, with {', '.join(where)}"

    def _solved(self, recursion: Induction) -> Derived:
        try:
            return recursion.solved_by(self.formula)
        except StepFailed as error:
            raise self._failed(f"the formula does not solve the recursion: {error}") from error

    def _example(self, value: sp.Expr, point: Point) -> str:
        """The derived and the claimed number at a point, where both have one."""
        found, said = (_real(formula, point) for formula in (value, self.formula))
        if found is None or said is None:
            return f", not {self.formula}"
        return (
            f", not {self.formula}; at {place(point) or 'no symbols'} that is {found:.8g} and not "
            f"{said:.8g}: {as_much(found, said)}"
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


def _require_derivation(derived: Any) -> None:
    if not all(hasattr(derived, part) for part in ("steps", "oracle", "definition_mutants")):
        raise TypeError(
            f"derived: got {type(derived).__name__}; accepted: an engine's expectation or a "
            "Derivation, not a typed expression"
        )
    start = getattr(derived, "start", None)
    if start is not None and not start.has(*_UNEVALUATED):
        raise TypeError(f"derived: starts from the closed form {start}; accepted: a definition")
    if start is not None and start.has(sp.Product):
        raise TypeError(
            f"derived: begins with the product {start}, which is typed in; accepted: an Induction, "
            "whose step makes each factor"
        )
    integrals = start.atoms(sp.Integral) if start is not None else set()
    if integrals and not any(map(_integrates, integrals)):
        raise TypeError(
            f"derived: {start} integrates what does not depend on the variable; accepted: an "
            "integrand that does"
        )


def _integrates(integral: sp.Integral) -> bool:
    """Whether the integrand, or an end of an inner integral, depends on every variable."""
    parts = [integral.function, *(end for _, *ends in integral.limits for end in ends)]
    return all(any(p.has(variable) for p in parts) for variable, *_ in integral.limits)


def _real(formula: sp.Expr, point: Point) -> float | None:
    """A formula's value at a point, infinite ones included."""
    value = number(formula, point, 15)
    if value is None:
        value = sp.sympify(formula).subs(dict(point))
        return float(value) if value in (sp.oo, -sp.oo) else None
    return float(str(value))
