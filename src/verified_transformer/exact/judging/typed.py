"""Is an oracle a formula that somebody typed? It is asked for symbols instead of numbers.

What counts, enumerates or integrates needs numbers; arithmetic does not. So a function of a point
that returns an expression when its point holds symbols has computed nothing of its own.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable
from typing import Any

import sympy as sp

_CONVERSIONS = ("int", "float", "round", "Fraction")  # they let a symbol pass


class _Math:
    """The functions of `math`, for symbols."""

    def __getattr__(self, name: str) -> Any:
        found = {"comb": sp.binomial, "prod": sp.prod, "fabs": sp.Abs, "perm": sp.ff}.get(name)
        found = found or getattr(sp, name, None)
        if found is None:
            raise TypeError(f"math.{name} takes numbers")
        return found


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
