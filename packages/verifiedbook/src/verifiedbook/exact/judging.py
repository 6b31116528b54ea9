"""The judge: do a formula and its definition agree, at which points, and which mutants fell?

Pure functions of a formula, its mutants, an oracle and points. They decide and report; what a
failure is called, and how a record shows it, is the business of those who ask.
"""

from __future__ import annotations

import dis
import math
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import sympy as sp

from .derivations import Replayed
from .formulas.evaluation import Approximation, Point, equivalent, number
from .formulas.mutants import Mutant

_EXACT = 1e-10  # relative; oracles are good to 1e-13, mutants differ by 1e-3 and more
_DIGITS = 60  # where a formula is no plain fraction, such as log(8)/log(2)
_SMALLEST = 1e-6  # magnitude below which the relative tolerance no longer shrinks


@dataclass(frozen=True)
class Comparison:
    """What the definition and a formula give at one point.

    Attributes:
        point: value of each symbol.
        exact: the definition's value, with its error.
        said: the formula's value; None where it has no finite real one.
    """

    point: Point
    exact: Approximation
    said: sp.Expr | None

    @classmethod
    def of(cls, formula: sp.Expr, exact: Approximation, point: Point) -> Comparison:
        """Evaluate a formula beside the definition's value at a point."""
        return cls(point, exact, number(formula, point))

    @property
    def agrees(self) -> bool:
        """Whether the two are the same number, up to rounding and the oracle's error."""
        if self.said is None:
            return False
        exact, said = self.exact.value, float(self.said)
        room = _EXACT * max(abs(exact), abs(said), _SMALLEST) + self.exact.error
        return math.isfinite(room) and abs(said - exact) <= room

    def within(self, allowed: float) -> bool:
        """Whether the two differ by no more than ``allowed`` and the oracle's error."""
        if self.said is None:
            return False
        return abs(float(self.said) - self.exact.value) <= allowed + self.exact.error


@dataclass(frozen=True)
class Judgement:
    """Whether a formula is the definition's value, and which of its mutants were rejected.

    Attributes:
        first_disagreement: the first point at which formula and definition differ, or None.
        killed: labels of the mutants that differ from the definition at some point.
        survivors: labels of those that agree at every point. Where the formula itself disagrees,
            mutants are not looked at: both are empty.
    """

    first_disagreement: Comparison | None = None
    killed: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the formula is right at every point."""
        return self.first_disagreement is None


def approximation(value: object) -> Approximation:
    """Read what an oracle gave: an `Approximation`, or a number without error.

    Args:
        value: the oracle's answer.

    Raises:
        ValueError: the oracle gave None: it has no value at this point.
        TypeError: it gave something that is no real number.
    """
    if isinstance(value, Approximation):
        return value
    if value is None:
        raise ValueError("oracle: gave no value at this point")
    if isinstance(value, Integral):
        return Approximation(int(value), 0.0)
    try:
        return Approximation(float(value), 0.0)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"oracle: got {value!r}; accepted: a real number or an Approximation"
        ) from error


def judge(
    formula: sp.Expr,
    mutants: Iterable[Mutant],
    oracle: Callable[[Point], object],
    points: Sequence[Point],
    *,
    counted: bool = False,
) -> Judgement:
    """Judge a formula, and the check itself, by an exact oracle.

    Args:
        formula: the formula under test.
        mutants: its wrong versions; the check is good only if each of them falls.
        oracle: the definition as a function of a point; gives a number or an `Approximation`.
        points: where to compare; at least one.
        counted: whether the oracle gives whole numbers, which are compared without a tolerance.
            Mutants of one label then count as one, which survives where one of them does.

    Returns:
        Whether the formula is right, where first it is not, which mutants fell and which did not.

    Raises:
        ValueError: there is no point, or the oracle has no value at one.

    Example:
        >>> from verifiedbook.exact.formulas.mutants import Mutant
        >>> d = sp.Symbol("d", integer=True, positive=True)
        >>> found = judge(d**2, [Mutant("doubled", 2 * d**2)], lambda at: at[d] ** 2, [{d: 3}])
        >>> found.agrees, found.killed, found.survivors
        (True, ('doubled',), ())
    """

    def agree(said: sp.Expr, value: Approximation, point: Point) -> bool:
        return (
            _is_whole(said, value, point) if counted else Comparison.of(said, value, point).agrees
        )

    exact = [(point, approximation(oracle(point))) for point in points]
    if not exact:
        raise ValueError("points: got none; accepted: at least one")
    for point, value in exact:
        if not agree(formula, value, point):
            return Judgement(Comparison.of(formula, value, point))
    found: dict[bool, list[str]] = {True: [], False: []}  # a label may be that of two mutants
    for mutant in mutants:
        found[all(agree(mutant.formula, value, at) for at, value in exact)].append(mutant.label)
    killed = dict.fromkeys(found[False]) if counted else found[False]
    return Judgement(None, tuple(killed), tuple(found[True]))


def _is_whole(formula: sp.Expr, counted: Approximation, point: Point) -> bool:
    """Whether a formula is exactly this whole number at a point."""
    value = formula.subs(dict(point))
    if value.is_Rational:
        return bool(value == counted.value)
    value = number(formula, point, _DIGITS)
    return value is not None and abs(value - counted.value) < sp.Float(10) ** -(_DIGITS // 2)


def break_definitions(derived: Replayed, formula: sp.Expr) -> tuple[list[str], list[str]]:
    """Run a derivation on changed definitions; each must lead elsewhere than to the formula.

    A change to which the rules do not apply (they raise) is none and is left out.

    Args:
        derived: the derivation, which knows its changed definitions.
        formula: where the unchanged derivation ends.

    Returns:
        Labels of the changes that lead elsewhere, and of the others.
    """
    broken: list[str] = []
    unmoved: list[str] = []
    for label, recompute in derived.definition_mutants():
        try:
            value = recompute()
        except (ValueError, TypeError, ArithmeticError, sp.PolynomialError):
            continue
        (unmoved if equivalent(value, formula) else broken).append(label)
    return broken, unmoved


def digits_match(value: sp.Expr, printed: str) -> bool:
    """Whether printed digits are the leading digits of a value, cut off and not rounded.

    Args:
        value: the number, to more digits than are printed.
        printed: decimal digits, with a sign where negative.

    Raises:
        ValueError: ``printed`` is no decimal number.

    Example:
        >>> digits_match(sp.N(sp.pi, 25), "3.14159"), digits_match(sp.N(sp.pi, 25), "3.1416")
        (True, False)
    """
    places = len(printed.partition(".")[2])
    step = sp.Integer(10) ** -places
    try:
        distance = abs(value) - abs(sp.Rational(printed))
    except (TypeError, ValueError) as error:
        raise ValueError(f"printed: got {printed!r}; accepted: decimal digits") from error
    return bool(0 <= distance < step) and bool(value < 0) == printed.startswith("-")


def refuse_nothing(**things: object) -> None:
    """Refuse things that are empty: a predicate on all of their members would hold of none.

    Raises:
        ValueError: one of them has no members; its name is that of the argument.

    Example:
        >>> refuse_nothing(on=[1], not_on=2)
    """
    for name, thing in things.items():
        if isinstance(thing, list | tuple | dict | set | str) and not thing:
            raise ValueError(f"{name}: got {thing!r}; accepted: a thing that has members")


# ------------------------------------------------------------------ oracles that somebody typed
# An oracle is asked for symbols instead of numbers. What counts, enumerates or integrates needs
# numbers; arithmetic does not. So a function of a point that returns an expression when its point
# holds symbols has computed nothing of its own.


_CONVERSIONS = ("int", "float", "round", "Fraction")  # they let a symbol pass


class _Math:
    """The functions of `math`, for symbols."""

    def __getattr__(self, name: str) -> Any:
        found = {"comb": "binomial", "fabs": "Abs", "perm": "ff"}.get(name, name)
        return getattr(sp, found)


def typed_formula(
    function: Callable[[Any], object], symbols: Iterable[sp.Symbol]
) -> sp.Expr | None:
    """Return the formula that a function of a point is, or None where it computes.

    Args:
        function: takes a dictionary from symbols to numbers.
        symbols: those that it wants values for.

    Example:
        >>> d, n = sp.symbols("d n")
        >>> typed_formula(lambda at: int(at[d]) * at[n], [d, n])
        d*n
        >>> typed_formula(lambda at: sum(1 for _ in range(at[d])), [d]) is None
        True
    """
    point = {symbol: symbol for symbol in symbols}
    try:
        found = _with_symbols(function)(point)
    except Exception:  # whatever it is: the function wants numbers
        return None
    return found if isinstance(found, sp.Expr) and found.free_symbols else None


def is_typed(function: Callable[[Any], object], formula: sp.Expr) -> bool:
    """Whether a function of a point is the formula once more, and computes nothing of its own.

    One that calls other functions, or gives decimals that it has from somewhere, computes.

    Args:
        function: takes a dictionary from symbols to numbers.
        formula: what it is held against.

    Example:
        >>> d = sp.Symbol("d", positive=True)
        >>> is_typed(lambda at: at[d] * (at[d] + 1), d**2 + d)
        True
        >>> is_typed(lambda at: at[d] ** 2, d**2 + d)
        False
    """
    if not isinstance(function, types.FunctionType) or _calls_others(function):
        return False
    found = typed_formula(function, formula.free_symbols)
    return found is not None and not found.has(sp.Float) and equivalent(found, formula)


def is_constant(function: object) -> bool:
    """Whether a function returns a number that is written in it, whatever it is given.

    Example:
        >>> is_constant(lambda at: 99), is_constant(lambda at: at["d"])
        (True, False)
    """
    if not isinstance(function, types.FunctionType):
        return False
    return {step.opname for step in dis.get_instructions(function)} <= _OF_A_CONSTANT


_OF_A_CONSTANT = {
    "RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "UNARY_NEGATIVE",
    "COPY_FREE_VARS", "LOAD_SMALL_INT",
}  # fmt: skip


def _calls_others(function: types.FunctionType) -> bool:
    """Whether a function uses other functions than conversions and those of `math`."""
    known = {name: function.__globals__[name] for name in function.__code__.co_names
             if name in function.__globals__ and name not in _CONVERSIONS}  # fmt: skip
    inner = [cell.cell_contents for cell in function.__closure__ or ()]
    inner += [*(function.__defaults__ or ())]
    things = [*known.values(), *inner]
    return any(callable(thing) and not isinstance(thing, sp.Basic) for thing in things)


def _with_symbols(function: Callable[[Any], object]) -> Callable[[Any], object]:
    """The function with `int`, `float` and `math` that let symbols pass."""
    if not isinstance(function, types.FunctionType):
        return function
    known: dict[str, Any] = dict.fromkeys(_CONVERSIONS, lambda value, *_: value)
    names = {key: _Math() for key, value in function.__globals__.items() if value is math}
    copy = types.FunctionType(
        function.__code__, {**function.__globals__, **known, **names}, function.__name__,
        function.__defaults__, function.__closure__,
    )  # fmt: skip
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
