"""Calibrated Monte Carlo: as many draws as the design asks for, on the device that there is.

The draws of a quantity are made in chunks that stay in the cache, in two streams with seeds of
their own, so that they do not depend on the number of cores.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from ..exact.evaluation import Point
from ..exact.laws import SKEWED
from ..seeds import device, generator, seed_of
from .design import Design
from .quantities import Quantity, Statistic, call, central_moments, sizes_at

_CPU_BUFFER = 1 << 18  # entries: 1 MiB of float32, stays in the cache
_GPU_BUFFER = 1 << 25
_CPU_STREAMS = 2  # fixed, so that the draws do not depend on the machine's number of cores


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
        source = torch.Generator(where).manual_seed(seed + stream)
        return _stream(quantity, statistic, point, counts[stream], source, where)

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
        values = call(statistic, buffers, point)
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
    source = generator(f"{name} skewed")
    tensors = {}
    for key, item in quantity.draws.items():
        shape = (2048, *sizes_at(item, point))
        halves = [
            law.sample_(torch.empty(shape, dtype=torch.float64), source)
            for law in (SKEWED, item.law.at(point))
        ]
        tensors[key] = torch.cat(halves)
    defined = quantity.evaluate({key: value.numpy() for key, value in tensors.items()}, point)
    with torch.no_grad():
        found = call(statistic, tensors, point).double().numpy()
    if found.shape != defined.shape or not np.isfinite(found).all():
        return math.inf
    inside = np.isfinite(defined)  # a function may be defined on its law's support only
    defined, found = defined[inside], found[inside]
    spread = float(np.std(defined)) if defined.size else 0.0
    if spread == 0.0:
        raise ValueError(f"{quantity.quantity}: the definition does not depend on its inputs")
    return float(np.max(np.abs(found - defined))) / spread
