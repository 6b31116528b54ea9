"""What can be measured: a statistic of random tensors, with its definition and its moments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from ...seeds import generator
from ..exact.formulas.evaluation import Point
from ..exact.integrals.law_means import LawMean
from .statistics import (
    Array,
    Draws,
    Quantity,
    Statistic,
    call,
    checked_draws,
    draw_inputs,
    require_definition,
    values_of,
)

_LEAST_PILOT = 1024


class Piloted:
    """The mean of a statistic whose moments no engine knows, such as a norm or a logsumexp.

    Variance and skewness come from a pilot of independent draws, the variance as an upper bound
    (five standard errors above the pilot's estimate).

    Args:
        quantity: one line of text naming it.
        draws: the random inputs of the statistic, by name.
        definition: the statistic in NumPy, called as a torch statistic is; written apart from the
            one that is measured, against which it is compared.
        replicates: size of the pilot.

    Raises:
        TypeError: an input without law and sizes.
        ValueError: no inputs, or a pilot of fewer than 1024 replicates.
    """

    estimator = "mean"

    def __init__(
        self,
        quantity: str,
        draws: Draws,
        definition: Callable[..., Any],
        *,
        replicates: int = 1 << 16,
    ) -> None:
        if not callable(definition):
            raise TypeError(f"definition: got {definition!r}; accepted: a function of the inputs")
        if replicates < _LEAST_PILOT:
            raise ValueError(f"replicates: got {replicates}; accepted: at least {_LEAST_PILOT}")
        self.quantity, self.draws, self.definition = quantity, checked_draws(draws), definition
        self.replicates = replicates

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Raw moments from the pilot; the second one is an upper bound."""
        source = generator(f"{self.quantity} pilot")
        tensors = draw_inputs(self.draws, point, self.replicates, source)
        values = torch.as_tensor(self.evaluate(_arrays(tensors), point))
        moments = [values.pow(k).mean().item() for k in range(1, order + 1)]
        if order >= 2:
            spread = (values - moments[0]).pow(2)
            room = 5 * spread.std().item() / math.sqrt(self.replicates)
            moments[1] += room
            if order >= 3:  # so that the third central moment stays the pilot's
                moments[2] += 3 * moments[0] * room
        return moments

    def evaluate(self, arrays: Mapping[str, Array], point: Point) -> Array:
        """The statistic as defined."""
        return np.asarray(call(self.definition, arrays, point), dtype=float)


class Sampled(Piloted):
    """A statistic with one definition, in torch: for the pilot and for the measurement.

    No second statistic is needed: ``claim("…").measure(Sampled(…), at=points)``. The one
    definition must be able to fail: it is refused where it is constant (the closed form in its
    place), ignores an input that varies, mixes replicates, or draws numbers of its own.

    Args:
        quantity: one line of text naming it.
        draws: the random inputs of the statistic, by name.
        statistic: the definition in torch: called with the random tensors by name, each of shape
            (replicates, *sizes), and with ``point`` where it asks for it; one number a replicate.
        replicates: size of the pilot.

    Example:
        >>> import math
        >>> from verified_transformer import Normal, Sampled, Tensor, measure, symbols
        >>> d, σ = symbols("d sigma")
        >>> w = Tensor("w", Normal(0, σ), d)
        >>> norm = Sampled("E |w|", {"w": w}, lambda w: w.norm(dim=-1))
        >>> expected = 1.3 * math.sqrt(math.pi / 2)
        >>> found = measure(norm, None, {d: 2, σ: 1.3}, expected, name="an example")
        >>> found.rejects(found.expected), found.rejects(1.01 * found.expected)
        (False, True)
    """

    def evaluate(self, arrays: Mapping[str, Array], point: Point) -> Array:
        """The statistic as defined."""
        tensors = {name: torch.as_tensor(array) for name, array in arrays.items()}
        found: Array = values_of(self.definition, tensors, point).numpy()
        return found

    def require_definition(self, point: Point) -> None:
        """Refuse the statistic where it could not be wrong; see `statistics`."""
        require_definition(self.definition, self.draws, point, self.quantity)


def _arrays(tensors: Mapping[str, torch.Tensor]) -> dict[str, Array]:
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}


def literal_statistic(quantity: Quantity, point: Point) -> Statistic:
    """Return a quantity's own definition as a torch statistic.

    Args:
        quantity: a `Sampled` one, or an engine's, whose statistic is summed literally.
        point: values of all symbols.

    Raises:
        TypeError: its definition is in NumPy, and cannot run where the measurement does.
    """
    if isinstance(quantity, Sampled):
        return quantity.definition
    if isinstance(quantity, Piloted):
        raise TypeError(
            f"statistic: none given, and the definition of {quantity.quantity} is in NumPy; "
            "accepted: a torch statistic beside it, or a Sampled quantity in its place"
        )
    if isinstance(quantity, LawMean):  # a function of one variable, which SymPy compiles for NumPy
        return lambda **z: torch.as_tensor(quantity.evaluate(_arrays(z), point))
    return lambda **tensors: torch.as_tensor(quantity.evaluate(tensors, point))


def central_moments(quantity: Quantity, point: Point) -> tuple[float, float, float]:
    r"""Return mean, variance and skewness of the replicate that a measurement averages.

    For the estimator "mean" the replicate is the statistic $X$; for "variance" it is
    $Y=\tfrac12(X-X')^2$ from two independent draws, whose mean is exactly $\mathrm{Var}X$ and for
    which nothing needs to be known about $\mathbb{E}X$.

    Args:
        quantity: the quantity to be measured.
        point: values of its symbols.

    Returns:
        Mean, variance and skewness.
    """
    if quantity.estimator == "mean":
        m1, m2, m3 = quantity.statistic_moments(point, 3)
        variance = m2 - m1**2
        third = m3 - 3 * m1 * m2 + 2 * m1**3
        return m1, variance, third / variance**1.5 if variance > 0 else 0.0
    raw = [1.0, *quantity.statistic_moments(point, 6)]
    c = [
        sum(math.comb(k, j) * raw[j] * (-raw[1]) ** (k - j) for j in range(k + 1)) for k in range(7)
    ]
    # even central moments of the difference of two independent copies, halved and squared
    differences = [
        sum(math.comb(k, j) * c[j] * c[k - j] * (-1) ** (k - j) for j in range(k + 1))
        for k in (2, 4, 6)
    ]
    first, second, third_raw = (
        value / 2**power for power, value in enumerate(differences, start=1)
    )
    variance = second - first**2
    third = third_raw - 3 * first * second + 2 * first**3
    return first, variance, third / variance**1.5 if variance > 0 else 0.0
