"""Laws on finitely many values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from .law import Law, as_float, exact, put, require_positive

if TYPE_CHECKING:
    import numpy as np
    import torch


@dataclass(frozen=True)
class Discrete(Law):
    """The law with these values and probabilities."""

    values: tuple[sp.Expr, ...]
    probabilities: tuple[sp.Expr, ...]

    def __init__(self, values: Sequence[object], probabilities: Sequence[object]) -> None:
        values = tuple(exact(v, "values") for v in values)
        weights = tuple(exact(p, "probabilities") for p in probabilities)
        if len(values) != len(weights):
            raise ValueError(
                f"probabilities: got {len(weights)} for {len(values)} values; accepted: one each"
            )
        if any(p.is_negative for p in weights) or sp.simplify(sp.Add(*weights) - 1) != 0:
            raise ValueError(f"probabilities: got {weights}; accepted: >= 0 with sum 1")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "probabilities", weights)

    def at(self, point: Mapping[sp.Symbol, object]) -> Law:
        return Discrete(*([put(x, point) for x in xs] for xs in (self.values, self.probabilities)))

    def _raw(self, k: int) -> sp.Expr:
        pairs = zip(self.values, self.probabilities, strict=True)
        return sp.expand(sp.Add(*(p * v**k for v, p in pairs)))

    def nodes(self, degree: int) -> tuple[np.ndarray, np.ndarray]:
        import numpy as np

        values = [as_float(v, self) for v in self.values]
        return np.array(values), np.array([as_float(p, self) for p in self.probabilities])

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        import torch

        values, weights = (torch.from_numpy(x).to(out.device) for x in self.nodes(0))
        draws = torch.rand(out.shape, dtype=weights.dtype, device=out.device, generator=generator)
        out.copy_(values[torch.bucketize(draws, weights.cumsum(0)[:-1], right=True)])


class Rademacher(Discrete):
    """Plus or minus ``scale``, with probability 1/2 each."""

    def __init__(self, scale: object = 1) -> None:
        size = exact(scale, "scale")
        require_positive("scale", size)
        super().__init__((-size, size), (sp.Rational(1, 2), sp.Rational(1, 2)))

    @property
    def name(self) -> str:
        return f"Rademacher({self.values[1]})"


SKEWED = Discrete((-1, 1, 3), (sp.Rational(5, 8), sp.Rational(1, 4), sp.Rational(1, 8)))
"""Mean 0, E w² = 2, E w³ = 3, E w⁴ = 11: finds samplers that ignore their input."""
