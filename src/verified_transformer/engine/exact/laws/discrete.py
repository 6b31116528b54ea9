"""Laws on finitely many values, and laws of which only moments are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mpmath
import sympy as sp

from .law import Law, MissingMoment, Rule, as_float, exact, put, require_positive

if TYPE_CHECKING:
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

    def nodes(self) -> Rule:
        values = [as_float(v, self) for v in self.values]
        return values, [as_float(p, self) for p in self.probabilities]

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        import torch

        values, weights = torch.tensor(self.nodes(), dtype=torch.float64, device=out.device)
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


@dataclass(frozen=True)
class General(Law):
    """Any law with these raw moments, such as ``General({1: 0, 2: σ**2, 4: κ*σ**4})``.

    A moment that is not given is unknown: it is refused where a result depends on it.
    """

    moments: tuple[tuple[int, sp.Expr], ...]

    def __init__(self, moments: Mapping[int, object]) -> None:
        if not moments or not all(isinstance(k, int) and k > 0 for k in moments):
            raise ValueError(f"moments: got orders {list(moments)}; accepted: integers >= 1")
        given = tuple((k, exact(moments[k], f"moments[{k}]")) for k in sorted(moments))
        object.__setattr__(self, "moments", given)

    @property
    def name(self) -> str:
        return "General({" + ", ".join(f"{k}: {m}" for k, m in self.moments) + "})"

    def _raw(self, k: int) -> sp.Expr:
        for order, moment in self.moments:
            if order == k:
                return moment
        raise MissingMoment(f"{self.name} does not give E[w**{k}], which is needed")

    def at(self, point: Mapping[sp.Symbol, object]) -> Law:
        """Return the Gauss law: the discrete law on fewest points that has these moments.

        Where every given odd moment is 0, the missing odd moments count as 0; with orders up to 4
        these are three symmetric points.

        Raises:
            ValueError: a symbol has no number, or no law has these moments.
            MissingMoment: a moment between the given ones is missing.
        """
        given = {k: as_float(put(m, point), self) for k, m in self.moments}
        symmetric = not any(m for k, m in given.items() if k % 2)
        if symmetric:
            given = {k: 0.0 for k in range(1, max(given), 2)} | given
        return _gauss_law([1.0] + [given[k] if k in given else float(self._raw(k))
                                   for k in range(1, max(given) + 1)], self.name)  # fmt: skip

    def nodes(self) -> Rule:
        return self.at({}).nodes()

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        self.at({}).sample_(out, generator)


def _gauss_law(raw: Sequence[float], name: str) -> Discrete:
    """The discrete law on fewest points with the raw moments 1, m₁, …, of which all are matched."""
    scale = math.sqrt(abs(raw[2])) if len(raw) > 2 and raw[2] else 1.0
    scaled = [m / scale**k for k, m in enumerate(raw)]
    padded = [*scaled, 0.0]
    for n in range(len(raw) // 2 + len(raw) % 2, 0, -1):
        rows, shifted = (
            mpmath.matrix([padded[i + by : i + by + n] for i in range(n)]) for by in (0, 1)
        )
        try:
            root = mpmath.cholesky(rows)
        except ValueError:
            continue
        if min(root[i, i] for i in range(n)) < 1e-6:
            continue  # fewer points carry these moments
        inverse = root**-1
        jacobi = inverse * shifted * inverse.T
        if 2 * n - 1 == len(raw):  # the last odd moment is free
            jacobi[n - 1, n - 1] = jacobi[0, 0]
        with mpmath.workdps(25):  # Golub and Welsch (1969)
            roots, vectors = mpmath.eigsy(jacobi)
        nodes, weights = [float(x) for x in roots], [float(v) ** 2 for v in vectors[0, :]]
        if all(_is_close(sum(w * x**k for x, w in zip(nodes, weights, strict=True)), m)
               for k, m in enumerate(scaled)):  # fmt: skip
            shares = [exact(w, "weight") for w in weights]
            return Discrete([scale * x for x in nodes], [w / sum(shares) for w in shares])
    raise ValueError(f"{name}: no law has the moments {list(raw[1:])}")


def _is_close(found: float, given: float) -> bool:
    return math.isclose(found, given, rel_tol=1e-9, abs_tol=1e-9)
