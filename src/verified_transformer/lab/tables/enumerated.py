"""The mean of a statistic without sampling error: over all outcomes of a small law."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
import torch

from ...sampling.quantities import Sampled, call, sizes_at
from ..arrays.enumerating import LOPSIDED, outcomes


def over_all_outcomes(
    quantity: Sampled, law: Sequence[tuple[float, float]] = LOPSIDED
) -> Callable[[Mapping[Any, Any]], float]:
    """Return an exact oracle for a sampled quantity that depends on variances alone.

    Every entry has the law given here, scaled to the variance of the quantity's own law.

    Args:
        quantity: a statistic of independent entries with mean 0.
        law: pairs (value, probability) with mean 0 and variance 1.

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
        arrays, chances = outcomes(*(sizes_at(item, point) for _, item in drawn), law=law)
        tensors = {}
        for (name, item), array in zip(drawn, arrays, strict=True):
            entry: Any = item.law
            if sp.sympify(entry.cumulant(1)).subs(dict(point)) != 0:
                raise ValueError(f"quantity: {name} has a mean; accepted: laws of mean 0")
            spread = sp.sqrt(entry.cumulant(2)).subs(dict(point))
            tensors[name] = float(spread) * array
        with torch.no_grad():
            values = call(quantity.definition, tensors, point)
        return float(f"{(chances @ values.double()).item():.12g}")

    return oracle
