r"""Induction: a recursion, its base and its step, and the closed form that solves it.

A product or a sum over layers that is typed in says what somebody made of a recursion. Here the
recursion itself is given; a closed form solves it if it has the right value at the base and if, put
into the step, it gives itself one place further. Both are proved symbolically.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import sympy as sp

from .derivations import Derived, Step, StepFailed
from .formulas.evaluation import Approximation, equivalent, number
from .formulas.mutants import formula_mutants
from .formulas.notation import symbols

_STEP_MUTANTS = 20
_LONGEST = 10_000  # steps that an oracle goes

_value = sp.Symbol("u_t", real=True)
_place = sp.Symbol("t", integer=True, positive=True)


def over_layers(formula: sp.Expr) -> bool:
    """Whether a formula has the number of layers in an exponent: it solves a recursion over them.

    Example:
        >>> from verifiedbook import symbols
        >>> l, d = symbols("l d")
        >>> over_layers(2 ** (-l / 2)), over_layers(2 / (l * d**2))
        (True, False)
    """
    depth = symbols("l")
    return any(depth in power.exp.free_symbols for power in formula.atoms(sp.Pow, sp.exp))


class Induction:
    """A recursion over a whole number: where it starts, and what one step makes of a value.

    Args:
        quantity: one line of text naming what the recursion gives, the same on every machine.
        over: the symbol over which it runs, such as the depth ``l``.
        base: the place where it starts, and the value there.
        step: function of a value and of its place ``t``; returns the value at ``t + 1``: an
            expression, or an engine's expectation such as ``mean(…)``.

    Raises:
        TypeError: ``over`` is no whole-number symbol, or the step is no function of the value.
        ValueError: the step leaves every value as it is, or ``base`` is no pair.

    Example:
        >>> from verifiedbook import symbols
        >>> l, x, F = sp.Symbol("l", integer=True, positive=True), *sp.symbols("x F")
        >>> sublayer = (x + F) / sp.sqrt(2)
        >>> coefficient = Induction(
        ...     "coefficient of x_0 in x_l", l, base=(0, 1),
        ...     step=lambda c, t: c * sp.diff(sublayer, x),
        ... )
        >>> coefficient.solved_by(2 ** (-l / 2)).value
        2**(-l/2)
        >>> coefficient.solved_by(2 ** (-l))
        Traceback (most recent call last):
        verifiedbook.exact.derivations.StepFailed: coefficient of x_0 in x_l: the \
step from t to t + 1 gives sqrt(2)/(2*2**t), the formula 2**(-t - 1)
    """

    def __init__(
        self,
        quantity: str,
        over: sp.Symbol,
        *,
        base: tuple[Any, Any],
        step: Callable[[sp.Expr, sp.Expr], sp.Expr | Derived],
    ) -> None:
        if not isinstance(over, sp.Symbol) or not over.is_integer:
            raise TypeError(f"over: got {over!r}; accepted: a whole-number symbol, such as l")
        if not isinstance(base, tuple) or len(base) != 2:
            raise ValueError(f"base: got {base!r}; accepted: (place, value)")
        if not callable(step):
            raise TypeError(f"step: got {type(step).__name__}; accepted: a function of (value, t)")
        self.quantity, self.over = quantity, over
        self.start, self.first = (sp.sympify(part) for part in base)
        self._step, made = step, step(_value, _place)
        self.derived: Derived | None = made if hasattr(made, "oracle") else None
        self.rule: sp.Expr = sp.sympify(made.value if self.derived else made)
        if not self.rule.has(_value):
            raise TypeError(
                f"step: gives {self.rule}, whatever the value before it; accepted: a function of it"
            )
        if self.derived is None and sp.simplify(self.rule - _value) == 0:
            raise ValueError("step: leaves every value as it is; accepted: a step that takes one")

    def solved_by(self, formula: sp.Expr) -> Solved:
        """Prove that a closed form solves the recursion.

        Args:
            formula: the closed form, in the symbol over which the recursion runs.

        Returns:
            What `prove` accepts.

        Raises:
            StepFailed: it has another value at the base, or a step leads elsewhere, or SymPy does
                not show that it does not.
        """
        formula = sp.sympify(formula)
        for name, found, said in self._both_sides(self.start, self.first, self.rule, formula):
            if not (equivalent(found, said) and _is_zero(found - said)):
                raise StepFailed(f"{self.quantity}: {name} gives {found}, the formula {said}")
        return Solved(self, formula, self.over)

    def up_to(self, place: sp.Expr, closed: sp.Expr) -> Solved:
        """Prove a closed form and go to a place, where the steps themselves may depend on it.

        Args:
            place: how far, such as ``2*l``: twice as many sublayers as layers.
            closed: what solves the recursion, in the symbol over which it runs.

        Returns:
            What `prove` accepts; its value is the closed form at that place.

        Raises:
            StepFailed: as for `solved_by`.

        Example:
            >>> from verifiedbook import symbols
            >>> s, l = sp.Symbol("s", integer=True, positive=True), symbols("l")
            >>> share = Induction("share", s, base=(0, 1), step=lambda u, t: u / (1 + 1 / l))
            >>> share.up_to(2 * l, (1 + 1 / l) ** (-s)).value
            (1 + 1/l)**(-2*l)
        """
        return Solved(self, self.solved_by(closed).closed, sp.sympify(place))

    def _both_sides(
        self, start: sp.Expr, first: sp.Expr, rule: sp.Expr, formula: sp.Expr
    ) -> Iterator[tuple[str, sp.Expr, sp.Expr]]:
        """Yield base and step: what the recursion gives, and what the formula says."""
        here, there = (formula.subs(self.over, place) for place in (_place, _place + 1))
        yield f"the base at {self.over} = {start}", first, formula.subs(self.over, start)
        yield "the step from t to t + 1", rule.subs(_value, here), there


class Solved:
    """A recursion with the closed form that solves it: base and step are proved.

    Args:
        induction: the recursion.
        closed: the closed form.
        place: how far it goes: the symbol over which it runs, or an expression in others.
    """

    route, way = "by induction, base and step proved", "by induction"

    def __init__(self, induction: Induction, closed: sp.Expr, place: sp.Expr) -> None:
        self.induction, self.closed, self.place = induction, closed, place
        self.quantity = induction.quantity
        self.value: sp.Expr = closed.subs(induction.over, place)

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols of the recursion."""
        it = self.induction
        parts = (self.place, it.start, it.first, it.rule)
        found: set[sp.Symbol] = set().union(*(part.free_symbols for part in parts))
        found |= it.derived.free_symbols if it.derived else set()
        return found - {_value, _place}

    @property
    def steps(self) -> tuple[Step, ...]:
        """The recursion, then base and step with the closed form put in."""
        it = self.induction
        (_, base, _), (_, step, then) = it._both_sides(it.start, it.first, it.rule, self.closed)
        inner = it.derived.steps if it.derived else ()
        return (
            Step(f"base, at {it.over} = {it.start}", base),
            *inner,
            Step("step, from a value u_t to the next", it.rule),
            Step("the closed form, put into the step", step),
            Step("is the closed form one place further", then),
        )

    def oracle(self, point: Mapping[sp.Symbol, object]) -> Approximation:
        """Go through the recursion from its base, without the closed form.

        Raises:
            ValueError: the point lies before the base, or farther than 10 000 steps from it.
        """
        it = self.induction
        start, last = (int(sp.sympify(s).subs(dict(point))) for s in (it.start, self.place))
        if not 0 <= last - start <= _LONGEST:
            raise ValueError(
                f"at: {self.place} = {last}, where the recursion starts at {start}; accepted: from "
                f"there to {start + _LONGEST}"
            )
        value, error = _finite(number(it.first, point), start), 0.0
        for place in range(start, last):
            here = {**point, _value: value, _place: sp.Integer(place)}
            if it.derived:
                found = it.derived.oracle(here)
                value = _finite(found and sp.Float(found.value), place)
                error += found.error if found else 0.0
            else:
                value = _finite(number(it.rule, here), place)
        return Approximation(float(value), error + 1e-13 * (1 + abs(float(value))))

    def definition_mutants(self) -> Iterator[tuple[str, Callable[[], sp.Expr]]]:
        """Other bases and other steps, and whether the closed form still solves them."""
        it = self.induction
        for mutant in formula_mutants(it.first):
            yield f"base: {mutant.label}", partial(self._still, it.start, mutant.formula, it.rule)
        if not equivalent(self.closed.subs(it.over, it.over + 1), self.closed):
            yield "base: one place further", partial(self._still, it.start + 1, it.first, it.rule)
        for mutant in formula_mutants(it.rule, at_most=_STEP_MUTANTS):
            yield f"step: {mutant.label}", partial(self._still, it.start, it.first, mutant.formula)

    def _still(self, start: sp.Expr, first: sp.Expr, rule: sp.Expr) -> sp.Expr:
        """The closed form where it solves another recursion; no number where it does not."""
        sides = self.induction._both_sides(start, first, rule, self.closed)
        return self.value if all(equivalent(a, b) for _, a, b in sides) else sp.nan


def _finite(value: sp.Expr | None, place: int) -> sp.Expr:
    if value is None:
        raise ValueError(f"at: the recursion has no finite value after the place {place}")
    return value


def _is_zero(difference: sp.Expr) -> bool:
    """Whether SymPy shows that an expression is zero; points are not asked."""
    ways: tuple[Callable[[sp.Expr], sp.Expr], ...] = (
        sp.expand, sp.simplify, lambda e: sp.simplify(sp.powsimp(sp.expand(e))), sp.gammasimp,
        sp.combsimp,
    )  # fmt: skip
    return any(way(difference) == 0 for way in ways)
