"""Is an oracle a formula that somebody typed? It is asked for symbols instead of numbers.

What counts, enumerates or integrates needs numbers; arithmetic does not. So a function of a point
that returns an expression when its point holds symbols has computed nothing of its own.
"""

from __future__ import annotations

import dis
import math
import types
from collections.abc import Callable, Iterable
from typing import Any

import sympy as sp

from .formulas.evaluation import equivalent

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
