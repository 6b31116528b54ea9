r"""Calibrated Monte Carlo: how many draws a statement needs, and what they would have caught.

For $\mathbb{E}X=\theta$ with $\kappa^2=\mathrm{Var}X/\theta^2$ known beforehand, relative
resolution $\delta$, false-alarm rate $\alpha$ and miss rate $\beta$, the number of draws is

$$n=\left(\frac{z_{1-\alpha/2}+z_{1-\beta}}{\delta}\right)^2\kappa^2 ,$$

or $(\gamma z^3/1.2)^2$ where the skewness $\gamma$ asks for more before the normal tail holds.
The standard error comes from $\kappa^2$, not from the sample.

One switch chooses the device: the environment variable ``VERIFIED_DEVICE`` (``cpu``, ``cuda``, …);
without it CUDA where there is one, else the CPU (never MPS, which has no float64).
"""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import mpmath
import numpy as np
import sympy as sp
import torch

from .evaluation import Point

Statistic = Callable[..., torch.Tensor]

_CPU_BUFFER = 1 << 18  # entries: 1 MiB of float32, stays in the cache
_GPU_BUFFER = 1 << 25
_CPU_STREAMS = 2  # fixed, so that the draws do not depend on the machine's number of cores


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


@dataclass(frozen=True)
class Design:
    """What a measurement must be able to see.

    Args:
        resolution: smallest relative error that must be caught; where the expectation is zero,
            in units of the statistic's standard deviation.
        false_alarm: probability of rejecting a true statement.
        miss: probability of accepting one that is wrong by the resolution.

    Raises:
        ValueError: a rate at which the check could not fail, or would fail by chance.
    """

    resolution: float = 0.01
    false_alarm: float = 1e-6
    miss: float = 1e-3

    def __post_init__(self) -> None:
        limits = {"resolution": 0.1, "false_alarm": 1e-4, "miss": 0.01}
        for name, most in limits.items():
            value = getattr(self, name)
            if not 0 < value <= most:
                raise ValueError(f"{name}: got {value}; accepted: greater than 0, at most {most}")

    @property
    def threshold(self) -> float:
        """The largest |z| that a true statement may show."""
        return NormalDist().inv_cdf(1 - self.false_alarm / 2)

    @property
    def detectable(self) -> float:
        """The smallest displacement that is caught, in standard errors."""
        return self.threshold + NormalDist().inv_cdf(1 - self.miss)

    def sample_size(self, relative_variance: float, skewness: float) -> int:
        """Return the number of replicates.

        Args:
            relative_variance: Var X / θ², or 1 where θ = 0 and errors are in units of sd X.
            skewness: third standardised moment of X.

        Returns:
            The larger of the design formula and the number at which the normal tail holds.
        """
        power = (self.detectable / self.resolution) ** 2 * relative_variance
        tail = (abs(skewness) * self.threshold**3 / 1.2) ** 2
        return max(1000, math.ceil(max(power, tail)))


@dataclass(frozen=True)
class Estimate:
    """What one measurement found at one point.

    ``unit`` is the size against which errors are relative: |θ|, or sd X where θ = 0.
    """

    mean: float
    expected: float
    standard_error: float
    unit: float
    n: int
    seconds: float
    device: str
    confirmed: bool
    design: Design

    @property
    def z(self) -> float:
        """Distance of the estimate from its expectation, in standard errors."""
        return (self.mean - self.expected) / self.standard_error

    @property
    def detectable(self) -> float:
        """The smallest relative error that is caught with the design's probability."""
        return self.design.detectable * self.standard_error / self.unit

    def rejects(self, value: float) -> bool:
        """Whether the measurement excludes a value."""
        return abs(value - self.mean) > self.design.threshold * self.standard_error

    def can_see(self, value: float) -> bool:
        """Whether a value is far enough from the expected one for the design to tell them apart."""
        return abs(value - self.expected) >= self.design.resolution * self.unit * (1 - 1e-9)


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
        generator = torch.Generator().manual_seed(seed_of(f"{self.quantity} pilot"))
        arrays = {}
        for name, item in self.draws.items():
            shape = (self.replicates, *sizes_at(item, point))
            drawn = item.law.at(point).sample_(torch.empty(shape, dtype=torch.float64), generator)
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
        return np.asarray(_call(self.definition, arrays, point), dtype=float)


def _call(statistic: Callable[..., Any], tensors: Mapping[str, Any], point: Point) -> Any:
    """Call a statistic with its tensors, and with ``point`` where it asks for it."""
    if "point" in inspect.signature(statistic).parameters:
        return statistic(**tensors, point={s: float(v) for s, v in point.items()})
    return statistic(**tensors)


def device() -> torch.device:
    """Return the device on which everything is measured (see the module's text)."""
    chosen = os.environ.get("VERIFIED_DEVICE")
    if chosen == "mps":
        raise ValueError("VERIFIED_DEVICE: got 'mps', which has no float64; accepted: cpu, cuda")
    return torch.device(chosen or ("cuda" if torch.cuda.is_available() else "cpu"))


def seed_of(name: str) -> int:
    """Return the seed that belongs to a name: a hash of it, so that nobody chooses seeds."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")


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


def measure(
    quantity: Quantity,
    statistic: Statistic,
    point: Point,
    expected: float,
    *,
    name: str,
    design: Design | None = None,
) -> Estimate:
    """Measure a quantity at a point, with as many independent draws as the design asks for.

    Args:
        quantity: what is measured; it gives the laws and sizes of the inputs and, from the
            symbolic side, the variance and the skewness of a replicate.
        statistic: the definition in torch: called with the random tensors by name, each of shape
            (replicates, *sizes); returns one number per replicate.
        point: values of all symbols.
        expected: the value that the formula under test predicts.
        name: what the seed is derived from.
        design: resolution and error rates.

    Returns:
        The estimate. Where the first draw lies outside the threshold, it is the one independent
        confirmation draw, marked ``confirmed``.

    Raises:
        ValueError: the statistic returns something else than one finite number per replicate.
    """
    design = design or Design()
    where = device()
    theta, variance, skewness = central_moments(quantity, point)
    if variance <= 1e-12 * theta**2:
        raise ValueError(
            f"quantity: {quantity.quantity} does not vary at {point}; prove it instead"
        )
    zero_mean = abs(theta) <= 1e-9 * math.sqrt(variance)
    unit = math.sqrt(variance) if zero_mean else abs(theta)
    n = design.sample_size(variance / unit**2, skewness)
    error = math.sqrt(variance / n)
    if design.detectable * error > design.resolution * unit * (1 + 1e-6):
        raise ValueError(f"n = {n} draws cannot see an error of {design.resolution:.2%}")
    started = time.perf_counter()
    mean = _average(quantity, statistic, point, n, seed_of(name), where)
    confirmed = abs(mean - expected) > design.threshold * error
    if confirmed:
        mean = _average(quantity, statistic, point, n, seed_of(f"{name} confirmation"), where)
    seconds = time.perf_counter() - started
    return Estimate(mean, expected, error, unit, n, seconds, str(where), confirmed, design)


def _average(
    quantity: Quantity,
    statistic: Statistic,
    point: Point,
    n: int,
    seed: int,
    where: torch.device,
) -> float:
    streams = _CPU_STREAMS if where.type == "cpu" else 1
    counts = [n // streams + (1 if s < n % streams else 0) for s in range(streams)]

    def run(stream: int) -> float:
        generator = torch.Generator(where).manual_seed(seed + stream)
        return _stream(quantity, statistic, point, counts[stream], generator, where)

    if streams == 1:
        return run(0) / n
    with ThreadPoolExecutor(streams) as pool:
        return math.fsum(pool.map(run, range(streams))) / n


def _stream(
    quantity: Quantity,
    statistic: Statistic,
    point: Point,
    count: int,
    generator: torch.Generator,
    where: torch.device,
) -> float:
    inputs = {
        name: (item.law.at(point), sizes_at(item, point)) for name, item in quantity.draws.items()
    }
    entries = max(1, sum(math.prod(sizes) for _, sizes in inputs.values()))
    rows = (_CPU_BUFFER if where.type == "cpu" else _GPU_BUFFER) // entries
    rows = max(16, min(rows, count) // 16 * 16)
    buffers = {
        name: torch.empty((rows, *sizes), device=where) for name, (_, sizes) in inputs.items()
    }

    def draw() -> torch.Tensor:
        for name, (law, _) in inputs.items():
            law.sample_(buffers[name], generator)
        values = _call(statistic, buffers, point)
        if values.shape != (rows,):
            raise ValueError(
                f"statistic: returned shape {tuple(values.shape)}; accepted: ({rows},), one number "
                "per replicate"
            )
        return values.double()

    total = torch.zeros((), dtype=torch.float64, device=where)
    with torch.no_grad():
        for done in range(0, count, rows):
            values = draw() if quantity.estimator == "mean" else (draw() - draw()) ** 2 / 2
            total += values[: count - done].sum()
    result = total.item()
    if not math.isfinite(result):
        raise ValueError("statistic: returned a value that is not finite")
    return result


def mean_interval(values: Sequence[float], level: float = 0.99) -> tuple[float, float]:
    """Return Student's confidence interval for the mean of a few independent runs.

    Args:
        values: one number per run; at least two.
        level: coverage.
    """
    n = len(values)
    if n < 2:
        raise ValueError(f"values: got {n}; accepted: at least two independent runs")
    centre, error = float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(n)

    def tail(t: float) -> float:
        x = (n - 1) / (n - 1 + t * t)
        return float(mpmath.betainc((n - 1) / 2, 0.5, 0, x, regularized=True)) - (1 - level)

    low, high = 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 0 else (low, middle)
    return centre - high * error, centre + high * error


def sizes_at(item: RandomInput, point: Point) -> tuple[int, ...]:
    """Return a random tensor's sizes at a point, as integers."""
    return tuple(int(sp.sympify(size).subs(dict(point))) for size in item.sizes)


def disagreement(quantity: Quantity, statistic: Statistic, point: Point, name: str) -> float:
    """Return how far a torch statistic is from the quantity's definition on skewed random inputs.

    Both are evaluated on the same 2048 draws from a skewed discrete law and 2048 from the inputs'
    own laws. A statistic that is the closed form in disguise, or that ignores its input, is found
    here whatever its mean is.

    Args:
        quantity: the quantity, whose definition is evaluated literally.
        statistic: the torch function to be compared.
        point: values of all symbols.
        name: what the seed is derived from.

    Returns:
        The largest difference, relative to the standard deviation of the defined values; infinite
        where the statistic has another shape or a value that is not finite.
    """
    from .laws import SKEWED

    generator = torch.Generator().manual_seed(seed_of(f"{name} skewed"))
    tensors = {}
    for key, item in quantity.draws.items():
        shape = (2048, *sizes_at(item, point))
        halves = [
            law.sample_(torch.empty(shape, dtype=torch.float64), generator)
            for law in (SKEWED, item.law.at(point))
        ]
        tensors[key] = torch.cat(halves)
    defined = quantity.evaluate({key: value.numpy() for key, value in tensors.items()}, point)
    with torch.no_grad():
        found = _call(statistic, tensors, point).double().numpy()
    if found.shape != defined.shape or not np.isfinite(found).all():
        return math.inf
    inside = np.isfinite(defined)  # a function may be defined on its law's support only
    defined, found = defined[inside], found[inside]
    spread = float(np.std(defined)) if defined.size else 0.0
    if spread == 0.0:
        raise ValueError(f"{quantity.quantity}: the definition does not depend on its inputs")
    return float(np.max(np.abs(found - defined))) / spread
