"""Oracles for tables: expectations over all outcomes, and counts at sizes that are built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
import torch

from ...engine.sampling.inputs import call, sizes_at
from ...engine.sampling.quantities import Sampled
from ..arrays import LOPSIDED, outcomes


def over_all_outcomes(quantity: Sampled) -> Callable[[Mapping[Any, Any]], float]:
    """Return an exact oracle for a sampled quantity that depends on variances alone.

    Every entry is minus a half or two standard deviations of the quantity's own law, with chances
    4/5 and 1/5: mean 0, the same variance, skewed. It may be a constant at a point, such as the
    error of a way that is exact there.

    Args:
        quantity: a statistic of independent entries with mean 0.

    Returns:
        Function of a point; the mean of the statistic over all outcomes, each with its
        probability, to 12 digits: the last ones depend on the machine.

    Raises:
        ValueError: at a point with too many outcomes, or where a law's mean is not 0.

    Example:
        >>> from verified_transformer import Draw, Normal, Sampled
        >>> square = Sampled("E x^2", {"x": Draw(Normal(0, 3), (1,))}, lambda x: x[:, 0] ** 2)
        >>> over_all_outcomes(square)({})
        9.0
    """

    def oracle(point: Mapping[Any, Any]) -> float:
        drawn = quantity.draws.items()
        sizes = [sizes_at(name, item, point) for name, item in drawn]
        arrays, chances = outcomes(*sizes, law=LOPSIDED)
        tensors = {}
        for (name, item), array in zip(drawn, arrays, strict=True):
            law: Any = item.law
            if sp.sympify(law.cumulant(1)).subs(dict(point)) != 0:
                raise ValueError(f"quantity: {name} has a mean; accepted: laws of mean 0")
            tensors[name] = float(sp.sqrt(law.cumulant(2)).subs(dict(point))) * array
        with torch.no_grad():
            values = call(quantity.definition, tensors, point)
        return float(f"{(chances @ values.double()).item():.12g}")

    return oracle


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
