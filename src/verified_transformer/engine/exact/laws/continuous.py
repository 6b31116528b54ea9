"""Laws with a density: normal, uniform, truncated normal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from .law import Law, exact, require_positive

if TYPE_CHECKING:
    import torch

_LEAST_ACCEPTANCE = 1e-3
_LARGEST_BATCH = 1 << 22  # draws at a time, to replace rejected ones


@dataclass(frozen=True)
class Normal(Law):
    """Normal law with this mean and standard deviation."""

    mean: sp.Expr
    sd: sp.Expr

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("sd", self.sd)

    def _raw(self, k: int) -> sp.Expr:
        pairs = ((j, math.comb(k, j) * sp.factorial2(j - 1)) for j in range(0, k + 1, 2))
        return sp.Add(*(count * self.mean ** (k - j) * self.sd**j for j, count in pairs))

    def _cumulant(self, k: int) -> sp.Expr:
        return {1: self.mean, 2: self.sd**2}.get(k, sp.Integer(0))

    def _standard(self) -> tuple[float, float, float, float, bool]:
        mean, sd = self._numbers()
        return mean, sd, -math.inf, math.inf, True

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        mean, sd = self._numbers()
        out.normal_(mean, sd, generator=generator)


@dataclass(frozen=True)
class Uniform(Law):
    """Uniform law on the interval from low to high."""

    low: sp.Expr
    high: sp.Expr

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("high - low", self.high - self.low)

    @classmethod
    def of_variance(cls, variance: object, mean: object = 0) -> Uniform:
        """Return the uniform law with this variance and mean."""
        half, centre = sp.sqrt(3 * exact(variance, "variance")), exact(mean, "mean")
        return cls(centre - half, centre + half)

    def _raw(self, k: int) -> sp.Expr:
        powers = (self.high**j * self.low ** (k - j) for j in range(k + 1))
        return sp.expand(sp.Add(*powers) / (k + 1))

    def _cumulant(self, k: int) -> sp.Expr:
        if k == 1:
            return (self.low + self.high) / 2
        return sp.expand(sp.bernoulli(k) * (self.high - self.low) ** k / k)

    def _standard(self) -> tuple[float, float, float, float, bool]:
        low, high = self._numbers()
        return (low + high) / 2, (high - low) / 2, -1.0, 1.0, False

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        low, high = self._numbers()
        out.uniform_(low, high, generator=generator)


@dataclass(frozen=True)
class TruncatedNormal(Law):
    """The normal law of this mean and sd (before truncation), given that low <= w <= high.

    The bounds are absolute, not in standard deviations, and may be ``-oo`` or ``oo``.
    """

    mean: sp.Expr
    sd: sp.Expr
    low: sp.Expr
    high: sp.Expr
    opaque = True
    _unbounded = ("low", "high")

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("sd", self.sd)
        require_positive("high - low", self.high - self.low)

    def _raw(self, k: int) -> sp.Expr:
        a, b = (self.low - self.mean) / self.sd, (self.high - self.mean) / self.sd
        mass = (sp.erf(b / sp.sqrt(2)) - sp.erf(a / sp.sqrt(2))) / 2

        def edge(x: sp.Expr, power: int) -> sp.Expr:
            density = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
            return sp.Integer(0) if x.is_infinite else x**power * density

        standard = [sp.Integer(1)]
        for j in range(1, k + 1):  # integration by parts
            inner = (j - 1) * standard[j - 2] if j > 1 else 0
            standard.append(inner + (edge(a, j - 1) - edge(b, j - 1)) / mass)
        terms = (math.comb(k, j) * self.mean ** (k - j) * self.sd**j * m
                 for j, m in enumerate(standard))  # fmt: skip
        return sp.Add(*terms)

    @property
    def acceptance(self) -> float:
        """Probability that a draw before truncation lies between the bounds."""
        a, b = (bound / math.sqrt(2) for bound in self._standard()[2:4])
        if a > 0:  # erfc keeps its digits in the lower tail of -x only
            a, b = -b, -a
        return (math.erfc(-b) - math.erfc(-a)) / 2

    def _standard(self) -> tuple[float, float, float, float, bool]:
        mean, sd, low, high = self._numbers()
        return mean, sd, (low - mean) / sd, (high - mean) / sd, True

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        mean, sd, low, high = self._numbers()
        if self.acceptance < _LEAST_ACCEPTANCE:
            raise ValueError(
                f"{self.name}: rejection would accept only {self.acceptance:.1e} of the draws; "
                f"accepted: at least {_LEAST_ACCEPTANCE}"
            )
        flat = out.view(-1) if out.is_contiguous() else out.new_empty(out.numel())
        flat.normal_(mean, sd, generator=generator)
        rejected = ((flat < low) | (flat > high)).nonzero().view(-1)
        while rejected.numel():  # the next accepted draws take the rejected ones' places
            size = min(_LARGEST_BATCH, int(rejected.numel() / self.acceptance) + 16)
            fresh = flat.new_empty(size).normal_(mean, sd, generator=generator)
            accepted = fresh[(fresh >= low) & (fresh <= high)][: rejected.numel()]
            flat[rejected[: accepted.numel()]] = accepted
            rejected = rejected[accepted.numel() :]
        if not out.is_contiguous():
            out.copy_(flat.view(out.shape))
