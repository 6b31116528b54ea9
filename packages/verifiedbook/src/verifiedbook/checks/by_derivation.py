"""Deciding by a derivation: of an engine, a chain of steps, a recursion, or the reader's cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp

from ..account.hashing import hash_of
from ..account.records.record import Record, Score
from ..exact.definitions import under
from ..exact.derivations import Derived, StepFailed
from ..exact.formulas.evaluation import (
    Point,
    checked_points,
    equivalent,
    number,
    place,
    small_points,
)
from ..exact.induction import Induction, Solved, over_layers
from ..exact.judging import break_definitions
from ..exact.laws import General
from ..exact.moments import Expectation
from ..exact.numeric_twin import Twinned, moments_of
from .subject import Subject, amount, as_much, display, equation, step
from .what_ran import watched

_UNEVALUATED = (sp.Integral, sp.Sum, sp.Product, sp.Limit, sp.Derivative)
_HIGHEST = 8  # moment of another density that a quantity may need
_CLOSE = 1e-6  # relative
_LONG = 120  # letters of a formula that nobody reads
_SHOWN_SLIPS = 4  # in a message


class ByDerivation(Subject):
    """The verbs that prove a claim."""

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
        steps that were written must end elsewhere when the definition is changed.

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
        derived = self._defined(derived)
        if isinstance(derived, Induction):
            derived = self._solved(derived)
        elif over_layers(self.formula) and not isinstance(derived, Solved):
            raise TypeError(
                f"derived: got {type(derived).__name__}, and {self.formula} goes over layers; "
                "accepted: an Induction, whose base and step are proved"
            )
        _require_derivation(derived)
        points = self._points(at, derived.free_symbols)
        if not equivalent(derived.value, self.formula, tolerance=1e-15):
            raise self._failed(
                f"the derivation gives {derived.value}{self._example(derived.value, points)}; "
                "look at the definition and at its last step"
            )
        score = self._judged(derived.oracle, points)
        self._check_digits()
        detail = (
            f"{derived.route}; exact at {amount(points, 'point')}; "
            f"{score.killed}/{score.total} mutants"
        )
        if not isinstance(derived, Expectation):  # the engine's value follows its definition
            broken = self._broken(derived)
            detail += f"; {broken}/{broken} changed definitions break it"
        return self._emit(
            "proof", "supports", f"{derived.quantity} = {self.formula}", detail,
            mutants=score, given=[derived], way=derived.way, counts={"points": len(points)},
            steps=tuple((s.reason, step(s.expression)) for s in derived.steps),
            latex=equation(derived, self.formula),
        )  # fmt: skip

    def _points(self, at: Sequence[Point] | None, others: set[sp.Symbol]) -> Sequence[Point]:
        if at is None:
            return small_points(others | self.formula.free_symbols)
        return checked_points(at, self.formula)

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

    def _example(self, value: sp.Expr, points: Sequence[Point]) -> str:
        """The derived and the claimed number at a point that tells them apart, if both have one."""
        point = self._telling(value, points)
        found, said = (_real(formula, point) for formula in (value, self.formula))
        if found is None or said is None:
            return f", not {self.formula}"
        return (
            f", not {self.formula}; at {place(point) or 'no symbols'} that is {found:.8g} and not "
            f"{said:.8g}: {as_much(found, said)}"
        )

    def _telling(self, value: sp.Expr, points: Sequence[Point]) -> Point:
        """The first point at which a formula is not the claimed one, or the first of all."""
        for point in points:
            found, said = (_real(formula, point) for formula in (value, self.formula))
            if found is None or said is None or not math.isclose(found, said, rel_tol=1e-9):
                return point
        return points[0]

    def _broken(self, derived: Any) -> int:
        """How many changed definitions lead elsewhere: all of them, or the proof fails."""
        broken, unmoved = break_definitions(derived, self.formula)
        if unmoved or not broken:
            which = ", ".join(unmoved) or "there is none"
            raise self._failed(
                f"changed definitions do not break the derivation: {which}; look for a step that "
                "types its result"
            )
        return len(broken)

    @watched()
    def derive(
        self,
        function: Callable[..., sp.Expr],
        *,
        wrong: Mapping[str, Any] | Sequence[Any],
        at: Sequence[Point] | None = None,
        alike: Mapping[str, str] | None = None,
        **objects: Any,
    ) -> Record:
        """Prove that the formula is what a function in plain SymPy derives.

        The function is run, and must return the claim's formula. Its lines are run again in numbers
        (quadrature, addition, root finding), and once more with each slip: a number off by one, an
        operator or a name exchanged, a line left out. Each must give another number. So must each
        wrong object; where the reading defines a mean or a variance, and the object is the density
        of an entry, the lines must give the number that the definition has for it.

        Args:
            function: of the definition's objects, such as a density; each parameter has its
                value as the default.
            wrong: for each parameter other objects; of a single one the objects alone.
            at: points; two small ones by default.
            alike: slips that change nothing, by name, each with the reason.
            objects: values for parameters, other than the defaults.

        Raises:
            ClaimFailed: another formula comes out, a slip or a wrong object changes nothing, or
                the lines do not follow their object.
            TypeError: the function or ``wrong`` is not as described.
            ValueError: nothing is computed in it, or it calls this library.
        """
        if over_layers(self.formula):
            raise TypeError(f"{self.formula} goes over layers; accepted: prove, with an Induction")
        shown = Twinned(function, objects)
        others = _others(shown, wrong)
        points = self._points(at, set())
        if not equivalent(shown.value, self.formula, tolerance=1e-12):
            raise self._failed(f"{shown.name} is {self._told(shown.value, points)}")
        if not shown.computes(points[0]):
            raise ValueError(
                f"{function.__name__}: writes the formula down; accepted: a function with an "
                "integral, a sum, a root, a limit or a derivative between definition and formula"
            )
        score = self._judged(shown.numeric, points)
        if isinstance(self.quantity, Expectation):
            self._judged(self.quantity.oracle, points)
        self._check_digits()
        slips = self._slips(shown, points, alike or {})
        for name, other in others:
            self._follows(shown, points, name, other)
        detail = (
            f"in the reader's cell; the same in numbers at {amount(points, 'point')}; "
            f"{score.killed}/{score.total} mutants; {slips}; "
            f"{len(others)}/{len(others)} wrong objects"
        )
        text = getattr(self.quantity, "quantity", shown.name)
        return self._emit(
            "proof", "supports", f"{text} = {self.formula}", detail,
            mutants=Score(score.killed, score.total), given=[function],
            counts={"points": len(points)},
            latex=self._equation(shown, self.formula),
        )  # fmt: skip

    def typeset(self, function: Callable[..., sp.Expr]) -> None:
        """Display what a function derives, as a formula, whether or not it is the claim's.

        Args:
            function: as `derive` takes it.
        """
        shown = Twinned(function)
        derived = f"$${self._equation(shown, shown.value)}$$"
        line = f"{self.name} derivation   #{hash_of(derived)}"
        display({"text/plain": line, "text/markdown": derived}, {})

    def _told(self, value: sp.Expr, points: Sequence[Point]) -> str:
        """What came out instead: as a formula, or as a number where the formula is no sentence."""
        point = self._telling(value, points)
        found, said = (number(formula, point, 15) for formula in (value, self.formula))
        longest = max(len(str(formula)) for formula in (value, self.formula))
        free = value.free_symbols | self.formula.free_symbols
        if None in (found, said) or (free and longest < _LONG):
            return f"{value}{self._example(value, points)}"
        found, said = float(str(found)), float(str(said))
        where = f", at {place(point)}" if free else ""
        return f"{found:.6g}, not {said:.6g}{where}: {as_much(found, said)}"

    def _equation(self, shown: Twinned, value: sp.Expr) -> str:
        if isinstance(self.quantity, Expectation):
            return equation(self.quantity, value)
        return rf"\text{{{shown.name}}} = {sp.latex(value)}"

    def _slips(self, shown: Twinned, points: Sequence[Point], alike: Mapping[str, str]) -> str:
        """How many slips give another number: all, but for those that are argued."""
        every = dict(shown.slips())
        if strange := set(alike) - set(every):
            raise ValueError(
                f"alike: got {', '.join(sorted(strange))}, no slip of these lines; accepted: "
                f"{'; '.join(every)}, or none"
            )
        alive = [
            label
            for label, tree in every.items()
            if not any(shown.differs(point, tree) for point in points)
        ]
        if unseen := [label for label in alive if label not in alike]:
            many = len(unseen) - _SHOWN_SLIPS
            more = f" and {many} more" if many > 0 else ""
            raise self._failed(
                f"{len(unseen)} of {len(every)} slips in {shown.name} give the same number: "
                f"{'; '.join(unseen[:_SHOWN_SLIPS])}{more}; write lines on which the result depends"
            )
        if vain := set(alike) - set(alive):
            raise ValueError(f"alike: {', '.join(sorted(vain))} gives another number; leave it out")
        argued = f", {len(alive)} argued away" if alive else ""
        return f"{len(every) - len(alive)}/{len(every) - len(alive)} slips{argued}"

    def _follows(self, shown: Twinned, points: Sequence[Point], name: str, other: Any) -> None:
        """Refuse lines that do not go with their object."""
        if other is shown.objects[name]:
            raise TypeError(f"wrong: {name} is {other} in the cell; accepted: another object")
        if not any(shown.differs(point, **{name: other}) for point in points):
            raise self._failed(f"{shown.name} is the same with {name} = {other}: a result typed in")
        if not isinstance(self.quantity, Expectation):
            return
        for point in points:
            expected = _under_density(self.quantity, shown.objects[name], other, point)
            if expected is None:
                continue
            found = shown.numeric(point, **{name: other})
            if abs(found - expected) > _CLOSE * max(abs(found), abs(expected)):
                raise self._failed(
                    f"with {name} = {other}, at {place(point)}, {shown.name} is {found:.8g} and "
                    f"the definition {expected:.8g}: {as_much(found, expected)}"
                )


def _require_derivation(derived: Any) -> None:
    if not all(hasattr(derived, part) for part in ("steps", "oracle")):
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


def _others(shown: Twinned, wrong: Mapping[str, Any] | Sequence[Any]) -> list[tuple[str, Any]]:
    """Pairs of a parameter and another object for it."""
    if not isinstance(wrong, Mapping):
        (name, *more) = shown.objects
        wrong = {name: wrong} if not more else {}
    lists = {k: v if isinstance(v, list | tuple) else [v] for k, v in wrong.items()}
    if set(lists) != set(shown.objects) or not all(lists.values()):
        raise TypeError(
            f"wrong: accepted: another object for each of {', '.join(shown.objects)}, by name"
        )
    return [(name, other) for name, several in lists.items() for other in several]


def _under_density(quantity: Expectation, usual: Any, other: Any, point: Point) -> float | None:
    """The quantity where entries have another density; None where the object is no density."""
    if not isinstance(usual, sp.Expr) or not isinstance(other, sp.Expr):
        return None
    moments = [moments_of(density, point, _HIGHEST) for density in (usual, other)]
    if not all(moments):
        return None
    drawn = [
        name for name, tensor in quantity.draws.items()
        if all(_is(tensor.law.raw_moment(k), moments[0][k], point) for k in (1, 2))
    ]  # fmt: skip
    if not drawn:
        return None
    law = General({k: moments[1][k] for k in range(1, _HIGHEST + 1)})
    value = number(under(quantity, dict.fromkeys(drawn, law)).value, point)
    return None if value is None else float(value)


def _is(moment: sp.Expr, found: float, point: Point) -> bool:
    value = number(moment, point)
    return value is not None and abs(float(value) - found) < _CLOSE
