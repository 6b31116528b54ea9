"""Chains of checked steps: derivations that can be shown, replayed and broken.

`claim(...).prove` accepts nothing that was merely typed in. It takes a `Derived`: the result of the
moment engine, or a `Derivation`, whose every step is an operation applied to the expression before
it and checked numerically.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import sympy as sp

from .formulas.evaluation import Approximation, equivalent, number
from .formulas.mutants import formula_mutants

_DEFINITION_MUTANTS = 20


class StepFailed(AssertionError):
    """A step of a derivation changed the value of the expression."""


@dataclass(frozen=True)
class Step:
    """One line of a derivation: why it is allowed, and what then stands there."""

    reason: str
    expression: sp.Expr | str


class Derived(Protocol):
    """What a proof accepts: a derived value with its trace and its oracle."""

    quantity: str
    route: str
    way: str

    @property
    def value(self) -> sp.Expr:
        """The derived result."""

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols of the definition, to which the oracle wants numbers."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The derivation, line by line."""

    def oracle(self, point: Mapping[sp.Symbol, object]) -> Approximation | None:
        """The definition's value at a point, found without the derived formula."""


class Replayed(Derived, Protocol):
    """What has steps of a reader's own, which must lead elsewhere from another definition."""

    def definition_mutants(self) -> Iterator[tuple[str, Callable[[], sp.Expr]]]:
        """Changed definitions and what the same derivation makes of them."""


@dataclass(frozen=True)
class Oracle:
    """A quantity that is known only by evaluation: for refutations and failing witnesses.

    Args:
        quantity: one line of text naming it.
        oracle: function of a point; returns a number or an `Approximation`.
    """

    quantity: str
    oracle: Callable[[Mapping[sp.Symbol, object]], object]


class Derivation:
    """A chain of checked steps from a definition to a result.

    Args:
        quantity: one line of text naming what is derived, the same on every machine.
        start: the definition, usually an unevaluated integral, sum or limit.
    """

    def __init__(self, quantity: str, start: sp.Expr) -> None:
        if not isinstance(start, sp.Basic):
            raise TypeError(f"start: got {type(start).__name__}; accepted: a SymPy expression")
        self.quantity = quantity
        self.start = start
        self.value: sp.Expr = start
        self.steps: tuple[Step, ...] = (Step("definition", start),)
        self._operations: tuple[Callable[[sp.Expr], sp.Expr], ...] = ()

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols of the definition."""
        found: set[sp.Symbol] = self.start.free_symbols
        return found

    way = "step by step"

    @property
    def route(self) -> str:
        """How the result was reached, in words."""
        count = len(self._operations)
        return f"{count} checked step{'s' if count != 1 else ''}"

    def then(self, reason: str, operation: Callable[[sp.Expr], sp.Expr]) -> Derivation:
        """Apply an operation and check that it left the value as it was.

        Args:
            reason: the rule that allows the step, shown to the reader.
            operation: a function of the current expression; it computes the next one.

        Returns:
            A new derivation, one step longer.

        Raises:
            StepFailed: before and after differ at a random point.
        """
        after = operation(self.value)
        if not equivalent(self.value, after, tolerance=1e-12):
            raise StepFailed(f"{self.quantity}: the step {reason!r} changes the value")
        longer = copy.copy(self)
        longer.value = after
        longer.steps = (*self.steps, Step(reason, after))
        longer._operations = (*self._operations, operation)
        return longer

    def oracle(self, point: Mapping[sp.Symbol, object]) -> Approximation | None:
        """Evaluate the definition numerically, without any of the steps."""
        value = number(self.start, point, 20)
        return (
            None if value is None else Approximation(float(value), 1e-14 * (1 + abs(float(value))))
        )

    def definition_mutants(self) -> Iterator[tuple[str, Callable[[], sp.Expr]]]:
        """Plant single mistakes, spread over the definition, and run the same steps on each."""
        for mutant in formula_mutants(self.start, at_most=_DEFINITION_MUTANTS):
            if mutant.label.endswith("1 %"):
                continue  # SymPy rewrites exp(101*x/100) in powers of exp(x/100), for hours
            yield mutant.label, partial(self.replay, mutant.formula)

    def replay(self, start: sp.Expr) -> sp.Expr:
        """Run the operations on another definition, unchecked."""
        value = start
        for operation in self._operations:
            value = operation(value)
        return value
