"""The mean of a statistic without sampling error: over all outcomes of a small skewed law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from ....exact.integrals.gaussian import Draw
from ....exact.laws import Discrete
from ....sampling.enumeration import Enumerated
from ....sampling.quantities import Sampled


def over_all_outcomes(quantity: Sampled) -> Callable[[Mapping[Any, Any]], float]:
    """Return an exact oracle for a sampled quantity that depends on variances alone.

    Every entry is minus a half or two standard deviations of the quantity's own law, with chances
    4/5 and 1/5: mean 0, the same variance, skewed.

    Args:
        quantity: a statistic of independent entries with mean 0.

    Returns:
        Function of a point; the mean of the statistic over all outcomes, each with its
        probability, to 12 digits: the last ones depend on the machine.

    Raises:
        ValueError: a law's mean is not 0; at a point with too many outcomes, or where the
            statistic is no definition (see `Enumerated`).

    Example:
        >>> from verified_transformer import Draw, Normal, Sampled
        >>> square = Sampled("E x^2", {"x": Draw(Normal(0, 3), (1,))}, lambda x: x[:, 0] ** 2)
        >>> over_all_outcomes(square)({})
        9.0
    """
    draws = {
        name: Draw(_skewed(name, item.law), item.sizes) for name, item in quantity.draws.items()
    }
    enumerated = Enumerated(quantity.quantity, draws, quantity.definition)
    return lambda point: float(f"{enumerated.oracle(point).value:.12g}")


def _skewed(name: str, law: Any) -> Discrete:
    if sp.simplify(law.cumulant(1)) != 0:
        raise ValueError(f"quantity: {name} has a mean; accepted: laws of mean 0")
    spread = sp.sqrt(law.cumulant(2))
    return Discrete((-spread / 2, 2 * spread), (sp.Rational(4, 5), sp.Rational(1, 5)))
