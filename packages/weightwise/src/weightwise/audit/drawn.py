"""What a tensor holds at the start, and the chance that a rule would have drawn it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import gammainc, gammaincc, ndtr

from .rules import Asked

TESTS = 3  # that are random, of a deviation: its square, the mean, the largest entry
_UNIFORM, _NORMAL = 1.8, 3.0  # kurtosis


@dataclass(frozen=True)
class Drawn:
    """Readings: entries, ``wrong`` (NaN or infinite), moments, and what no draw makes.

    ``largest`` is in units of the deviation; ``alike`` counts rows that repeat another.
    """

    count: int
    wrong: int
    mean: float
    deviation: float
    kurtosis: float
    largest: float
    blank: tuple[int, ...]
    alike: int
    dtype: str

    @property
    def law(self) -> str:
        """The law by kurtosis and cut; of few entries it is not told."""
        if self.wrong or not self.deviation:
            return "not finite" if self.wrong else f"{self.mean:g} everywhere"
        error = math.sqrt(24 / self.count)
        if self.count < 1000:
            return "drawn"
        if abs(self.kurtosis - _UNIFORM) < 0.05 + 5 * error:
            return "uniform"
        if self.largest < 0.75 * math.sqrt(2 * math.log(self.count)) and self.kurtosis < _NORMAL:
            return f"normal, cut at {self.largest:.3g} deviations"
        return "normal" if abs(self.kurtosis - _NORMAL) < 0.1 + 5 * error else "neither"

    def __str__(self) -> str:
        if self.wrong:
            return f"{self.wrong} entries NaN or infinite"
        if not self.deviation:
            return self.law
        return f"deviation {self.deviation:.4g}, {self.law}, up to {self.largest:.3g}"


@torch.no_grad()
def drawn_in(tensor: torch.Tensor) -> Drawn:
    """Read a tensor, in float64."""
    given = tensor.detach()
    x = given.double().flatten()
    wrong = int((~x.isfinite()).sum())
    x = x[x.isfinite()] if wrong else x
    mean = float(x.mean()) if len(x) else 0.0
    off = x - mean
    square = float(off.square().mean()) if len(x) else 0.0
    blank, alike = _rows(given) if given.ndim == 2 and not wrong else ((), 0)
    deviation = math.sqrt(square) if len(x) and bool((x != x[0]).any()) else 0.0
    return Drawn(
        len(x) + wrong, wrong, mean, deviation,
        float((off**4).mean()) / square**2 if deviation else 0.0,
        float(x.abs().max()) / deviation if deviation else 0.0,
        blank, alike, str(given.dtype).removeprefix("torch."),
    )  # fmt: skip


def _rows(given: torch.Tensor) -> tuple[tuple[int, ...], int]:
    zero = (given == 0).all(1)
    blank = tuple(zero.nonzero()[:, 0].tolist())
    few = given[~zero, :32].float()
    if few.shape[1] < 8 or len(few) < 2:
        return blank, 0
    return blank, len(few) - len(torch.unique(few, dim=0))


def faults(tensor: torch.Tensor, found: Drawn, asked: Asked, α: float) -> tuple[str, ...]:
    """What of a tensor a rule would not have drawn, each with an error of at most α.

    Of independent normal entries the sum of squares is a chi-squared number, the mean a normal one,
    the largest a power of the normal law: exact. Entries of a uniform or of a cut normal law of the
    same deviation vary less in each, so that the error is smaller.
    """
    if found.wrong:
        return (f"{found.wrong} entries are NaN or infinite",)
    if asked.value is not None:
        return _other_value(found, asked.value)
    assert asked.deviation is not None
    if not found.deviation:
        return (f"not drawn: {found.law}",)
    x = tensor.detach().double()
    said = []
    blank = set(found.blank) - {asked.blank}
    if found.blank and x.ndim == 2:
        x = x[(x != 0).any(1)]
    count, σ = x.numel(), asked.deviation
    square = float(x.square().sum()) / σ**2
    mean, size = float(x.mean()) / σ, max(1.0, math.sqrt(square / count))
    most = float(x.abs().max()) / σ
    low, high = gammainc(count / 2, square / 2), gammaincc(count / 2, square / 2)
    if 2 * min(low, high) < α:
        said.append(f"{math.sqrt(square / count):.4g} times as wide")
    if 2 * ndtr(-abs(mean) * math.sqrt(count) / size) < α:  # in units of what was drawn, if wider
        said.append(f"mean {mean:+.3g} deviations")
    above = 2 * ndtr(-most)
    if -np.expm1(count * np.log1p(-min(above, 0.5))) < α:
        said.append(f"an entry of {most:.4g} deviations")
    if blank:
        said.append(f"{len(blank)} rows of zeros, as {min(blank)}")
    if found.alike:
        said.append(f"{found.alike} rows repeat others")
    return tuple(said)


def _other_value(found: Drawn, value: float) -> tuple[str, ...]:
    if found.deviation:
        return (f"drawn: {found}",)
    rounded = abs(found.mean - value) <= 2**-8 * abs(value)
    return () if rounded else (f"{found.mean:g} everywhere",)
