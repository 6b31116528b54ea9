"""What can be measured: a statistic of random tensors, with its definition and its moments."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import sympy as sp
import torch

from ..exact.evaluation import Point
from ..seeds import generator

Statistic = Callable[..., torch.Tensor]


class RandomInput(Protocol):
    """A random tensor of a statistic: the law of its iid entries and its symbolic sizes."""

    law: object
    sizes: tuple[sp.Expr, ...]


class Quantity(Protocol):
    """What can be measured: the mean or the variance of a statistic of random tensors."""

    quantity: str
    estimator: str

    @property
    def draws(self) -> Mapping[str, RandomInput]:
        """Random inputs of the statistic, by name."""

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Raw moments of the statistic at a point, from the first to ``order``."""

    def evaluate(self, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
        """The statistic as defined, on arrays with a leading replicate axis."""


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
    """

    estimator = "mean"

    def __init__(
        self,
        quantity: str,
        draws: Mapping[str, RandomInput],
        definition: Callable[..., np.ndarray],
        *,
        replicates: int = 1 << 16,
    ) -> None:
        self.quantity, self.draws, self.definition = quantity, dict(draws), definition
        self.replicates = replicates

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Raw moments from the pilot; the second one is an upper bound."""
        source = generator(f"{self.quantity} pilot")
        arrays = {}
        for name, item in self.draws.items():
            shape = (self.replicates, *sizes_at(item, point))
            drawn = item.law.at(point).sample_(torch.empty(shape, dtype=torch.float64), source)
            arrays[name] = drawn.numpy()
        values = torch.as_tensor(self.evaluate(arrays, point))
        moments = [values.pow(k).mean().item() for k in range(1, order + 1)]
        if order >= 2:
            spread = (values - moments[0]).pow(2)
            room = 5 * spread.std().item() / math.sqrt(self.replicates)
            moments[1] += room
            if order >= 3:  # so that the third central moment stays the pilot's
                moments[2] += 3 * moments[0] * room
        return moments

    def evaluate(self, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
        """The statistic as defined."""
        return np.asarray(call(self.definition, arrays, point), dtype=float)


class Sampled(Piloted):
    """A statistic with one definition, in torch: for the pilot and for the measurement.

    Args:
        quantity: one line of text naming it.
        draws: the random inputs of the statistic, by name.
        statistic: the definition in torch: called with the random tensors by name, each of shape
            (replicates, *sizes), and with ``point`` where it asks for it; one number a replicate.
        replicates: size of the pilot.
    """

    def evaluate(self, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
        """The statistic as defined."""
        tensors = {name: torch.as_tensor(array) for name, array in arrays.items()}
        with torch.no_grad():
            return call(self.definition, tensors, point).double().numpy()


def literal_statistic(quantity: Quantity) -> Statistic:
    """Return a quantity's own definition as a torch statistic."""
    if isinstance(quantity, Sampled):
        return quantity.definition
    if isinstance(quantity, Piloted):
        raise TypeError("statistic: none given, and the quantity's definition is in NumPy")

    def statistic(*, point: Mapping[str, float], **tensors: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(quantity.evaluate(tensors, point))

    return statistic


def call(statistic: Callable[..., Any], tensors: Mapping[str, Any], point: Point) -> Any:
    """Call a statistic with its tensors, and with ``point`` where it asks for it."""
    if "point" in inspect.signature(statistic).parameters:
        return statistic(**tensors, point={s: float(v) for s, v in point.items()})
    return statistic(**tensors)


def sizes_at(item: RandomInput, point: Point) -> tuple[int, ...]:
    """Return a random tensor's sizes at a point, as integers."""
    return tuple(int(sp.sympify(size).subs(dict(point))) for size in item.sizes)


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
