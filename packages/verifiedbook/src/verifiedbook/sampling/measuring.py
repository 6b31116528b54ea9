"""Calibrated Monte Carlo: as many draws as the design asks for, on the device that there is.

The draws of a quantity are made in chunks that stay in the cache, in two streams with seeds of
their own, so that they do not depend on the number of cores.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from ..exact.formulas.evaluation import Point
from ..seeds import device, generator
from .design import Design
from .quantities import (
    Quantity,
    Sampled,
    Statistic,
    central_moments,
    input_at,
    literal_statistic,
    require_same,
    values_of,
)

_CPU_BUFFER = 1 << 20  # entries: 4 MiB of float32
_GPU_BUFFER = 1 << 25
_CPU_STREAMS = 2  # fixed, so that the draws do not depend on the machine's number of cores


@dataclass(frozen=True, repr=False)
class Measurement:
    """What one measurement found at one point.

    ``unit`` is the size against which errors are relative: |θ|, or sd X where θ = 0. Where the
    first draw lay outside the threshold, the estimate is that of another one (``redrawn``). Where
    nothing was expected, ``expected`` is None, and nothing is confirmed or rejected.
    """

    mean: float
    expected: float | None
    standard_error: float
    unit: float
    n: int
    seconds: float
    device: str
    redrawn: bool
    design: Design

    @property
    def z(self) -> float:
        """Distance of the estimate from what is expected, in standard errors; else not a number."""
        expected = math.nan if self.expected is None else self.expected
        return (self.mean - expected) / self.standard_error

    @property
    def confirmed(self) -> bool:
        """Whether the measurement confirms what is expected."""
        return self.expected is not None and not self.rejects(self.expected)

    @property
    def detectable(self) -> float:
        """The smallest relative error that is caught with the design's probability."""
        return self.design.detectable * self.standard_error / self.unit

    def rejects(self, value: float) -> bool:
        """Whether the measurement excludes a value."""
        return not abs(value - self.mean) <= self.design.threshold * self.standard_error

    def can_see(self, value: float) -> bool:
        """Whether a value is so far from the expected one that the design tells them apart."""
        middle = self.mean if self.expected is None else self.expected
        return abs(value - middle) >= self.design.resolution * self.unit * (1 - 1e-9)

    def __repr__(self) -> str:
        found = f"{self.mean:.6g} ± {self.standard_error:.2g} ({self.n} draws)"
        if self.expected is None:
            return found
        verdict = "confirmed" if self.confirmed else "rejected, twice"
        return f"{found}; expected {self.expected:.6g}: {verdict}"


def measure(
    quantity: Quantity,
    statistic: Statistic | None,
    point: Point,
    expected: float | None = None,
    *,
    name: str,
    design: Design | None = None,
) -> Measurement:
    """Measure a quantity at a point, with as many independent draws as the design asks for.

    Args:
        quantity: what is measured; it gives the laws and sizes of the inputs and, from the
            symbolic side, the variance and the skewness of a replicate.
        statistic: the definition in torch: called with the random tensors by name, each of shape
            (replicates, *sizes); returns one number per replicate, the one that the quantity's own
            definition has. None for that definition (see `Sampled`).
        point: values of all symbols.
        expected: the value that a formula under test predicts; None where none is known.
        name: what the seed is derived from.
        design: resolution and error rates.

    Returns:
        The estimate; that of a second, independent draw where the first lies outside the threshold.

    Raises:
        OtherStatistic: the statistic is not the quantity's definition; a ValueError.
        ValueError: the statistic returns something else than one finite number per replicate.

    Example:
        >>> import torch
        >>> from verifiedbook import Index, Normal, Tensor, mean, measure, symbols, total
        >>> d, σ = symbols("d sigma")
        >>> i = Index("i", d)
        >>> norm = mean(total(Tensor("w", Normal(0, σ), d)[i] ** 2, i))
        >>> point = {d: 3, σ: 2}
        >>> measure(
        ...     norm, lambda w: (w * w).sum(-1), point, 12.0, name="a length"
        ... )  # doctest: +ELLIPSIS
        1... ± 0.015 (... draws); expected 12: confirmed
        >>> measure(norm, lambda w: (w * w).mean(-1), point, name="a mean")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        verifiedbook.sampling.quantities.OtherStatistic: the torch statistic is ...
    """
    if expected is not None and not math.isfinite(expected):
        raise ValueError(f"expected: got {expected}; accepted: a finite number")
    if statistic is None:
        if isinstance(quantity, Sampled):
            quantity.require_definition(point)
        statistic = literal_statistic(quantity, point)
    else:
        require_same(quantity, statistic, point, name)
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
    started = time.perf_counter()
    mean = _average(quantity, statistic, point, n, name, where)
    redrawn = expected is not None and abs(mean - expected) > design.threshold * error
    if redrawn:
        mean = _average(quantity, statistic, point, n, f"{name} confirmation", where)
    seconds = time.perf_counter() - started
    if not zero_mean and expected:  # errors are relative to the formula's value, not to the pilot's
        unit = abs(expected)
    return Measurement(mean, expected, error, unit, n, seconds, str(where), redrawn, design)


def _average(
    quantity: Quantity,
    statistic: Statistic,
    point: Point,
    n: int,
    name: str,
    where: torch.device,
) -> float:
    streams = _CPU_STREAMS if where.type == "cpu" else 1
    counts = [n // streams + (1 if s < n % streams else 0) for s in range(streams)]

    def run(stream: int) -> float:
        source = generator(f"{name} stream {stream}", where)
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
    source: torch.Generator,
    where: torch.device,
) -> float:
    inputs = {name: input_at(name, item, point) for name, item in quantity.draws.items()}
    entries = max(1, sum(math.prod(sizes) for _, sizes in inputs.values()))
    most = max(16, (_CPU_BUFFER if where.type == "cpu" else _GPU_BUFFER) // entries)
    rows = math.ceil(count / math.ceil(count / most) / 16) * 16  # chunks of one size, few left over
    buffers = {
        name: torch.empty((rows, *sizes), device=where) for name, (_, sizes) in inputs.items()
    }

    def draw() -> torch.Tensor:
        for name, (law, _) in inputs.items():
            law.sample_(buffers[name], source)
        return values_of(statistic, buffers, point)

    total = torch.zeros((), dtype=torch.float64, device=where)
    for done in range(0, count, rows):
        values = draw() if quantity.estimator == "mean" else (draw() - draw()) ** 2 / 2
        total += values[: count - done].sum()
    result = total.item()
    if not math.isfinite(result):
        raise ValueError("statistic: returned a value that is not finite")
    return result
