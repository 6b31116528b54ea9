"""Points of a figure that are measured where they are wanted."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ...exact.moments import Expectation
from ...sampling.measuring import measure
from .measured import Measured, points_of


def points_along(
    of: str,
    quantity: Expectation,
    symbol: sp.Symbol,
    places: Sequence[float],
    *,
    unit: sp.Expr | int = 1,
) -> Measured:
    """Measure a mean at several values of one symbol, for `live`.

    Args:
        of: name of the curve on which the points should lie.
        quantity: the mean, which has no other symbol; each draw is summed literally.
        symbol: the symbol of the horizontal axis.
        places: its values.
        unit: what the mean is divided by; may have the symbol.

    Raises:
        ValueError: the mean has other symbols, or not this one.

    Example:
        >>> from verified_transformer import Index, Normal, Tensor, mean, symbols
        >>> σ, d = symbols("sigma d")
        >>> x = Tensor("x", Normal(0, σ), 2)
        >>> points_along("square", mean(x[Index("i", 2)] ** 2), σ, (0.5, 2)).of
        'square'
    """
    if quantity.value.free_symbols != {symbol}:
        has = sorted(map(str, quantity.value.free_symbols))
        raise ValueError(f"symbol: got {symbol}, of a mean with {has}; accepted: its only symbol")
    means, errors = [], []
    for place in places:
        point = {symbol: place}
        size = float(sp.sympify(unit).subs(point))
        expected = float(quantity.value.subs(point))
        found = measure(quantity, None, point, expected, name=f"{of} at {place}")
        means.append(found.mean / size)
        errors.append(found.standard_error / abs(size))
    return points_of(of, places, means, errors)
