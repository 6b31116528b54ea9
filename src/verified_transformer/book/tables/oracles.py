"""Oracles for tables: counts at sizes that are built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp


def at_sizes(function: Callable[..., Any], *sizes: Any) -> Callable[[Mapping[Any, Any]], Any]:
    """Return an exact oracle: the function, called with the sizes that a point gives.

    Args:
        function: of whole numbers.
        sizes: symbols or formulas, such as ``d / k``.

    Returns:
        Function of a point.

    Raises:
        ValueError: at a point where a size is no whole number.

    Example:
        >>> from verified_transformer import symbols
        >>> d, k = symbols("d k")
        >>> at_sizes(pow, d / k, k)({d: 12, k: 4})
        81
    """

    def oracle(point: Mapping[Any, Any]) -> Any:
        found = [sp.sympify(size).subs(dict(point)) for size in sizes]
        if not all(size.is_Integer for size in found):
            raise ValueError(f"point: gives the sizes {found}; accepted: whole numbers")
        return function(*map(int, found))

    return oracle
