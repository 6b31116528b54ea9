"""One linear layer, small and grown, with every factor free: as polynomials and in torch.

The input is repeated, the rows and columns of the weight and the bias too, each entry k times in a
row; then each of the three takes a power of k. The article's equations are five triples of powers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import sympy as sp
import torch

from ....exact.formulas.notation import symbols
from ....exact.laws import Uniform
from ....exact.moments import Index, Tensor
from ....seeds import generator
from .layouts import repeated_along


class Powers(NamedTuple):
    """Powers of k on the input, the weight and the bias of a grown layer."""

    input: sp.Expr | float
    weight: sp.Expr | float
    bias: sp.Expr | float


def _quarters(*numbers: int) -> Powers:
    return Powers(*(sp.Rational(number, 4) for number in numbers))


EQ_6 = _quarters(-2, -4, -2)
EQ_9 = _quarters(-2, -2, 0)
EQ_11 = _quarters(0, -6, -4)
EQ_11_MENDED = _quarters(0, -6, -2)
EQ_14 = _quarters(-2, -3, -1)

Statistic = Callable[..., torch.Tensor]


def over_all(body: sp.Expr, *indices: Index) -> sp.Sum:
    """The sum over the indices, also over one that does not occur: the number of a copy."""
    return sp.Sum(body, *((index, 1, index.size) for index in indices))


def uniforms(**scales: tuple[Any, ...]) -> dict[str, Tensor]:
    """Uniform tensors of mean 0 by name, each given as (standard deviation, *sizes)."""
    return {
        name: Tensor(name, Uniform.of_variance(scale**2), *sizes)
        for name, (scale, *sizes) in scales.items()
    }


class Written:
    """A coordinate of a linear layer and of the grown one, as polynomials of random entries.

    Args:
        x, w, b: tensors of sizes (d,), (d, n) and (n,).
        one: ones over the copies, so that their index shows in the derivation.
    """

    def __init__(self, x: Tensor, w: Tensor, b: Tensor, one: Tensor | None = None) -> None:
        self.x, self.w, self.b, self.one = x, w, b, one
        self.k = symbols("k")
        self._i, self._j = Index("i", x.sizes[0]), Index("j", w.sizes[1])
        self._r = Index("r", self.k)

    @property
    def products(self) -> sp.Expr:
        """The small layer without its bias."""
        return over_all(self.x[self._i] * self.w[self._i, self._j], self._i)

    @property
    def small(self) -> sp.Expr:
        """Σᵢ xᵢ wᵢⱼ + bⱼ."""
        return self.products + self.b[self._j]

    def grown(self, powers: Powers, *, bias: bool = True) -> sp.Expr:
        """A coordinate of the grown layer, with these powers of k."""
        of_x, of_w, of_b = (self.k ** sp.sympify(power) for power in powers)
        body = of_x * self.x[self._i] * of_w * self.w[self._i, self._j]
        body *= self.one[self._r] if self.one else 1
        return over_all(body, self._i, self._r) + (of_b * self.b[self._j] if bias else 0)

    def gap(self, powers: Powers, times: sp.Expr, *, bias: bool = True) -> sp.Expr:
        """(grown - times · small)²."""
        return (
            self.grown(powers, bias=bias) - times * (self.small if bias else self.products)
        ) ** 2


def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Linear layers side by side, x (…, d), w (…, d, n), b (…, n), by torch's batched product."""
    return torch.baddbmm(b[:, None], x[:, None], w)[:, 0]


def grown_layer(
    x: torch.Tensor,
    w: torch.Tensor,
    b: torch.Tensor,
    k: float,
    powers: Powers,
    *,
    tiled: bool = False,
) -> torch.Tensor:
    """The same layers grown: (…, k n); with a ``tiled`` weight, which is wrong."""
    of_x, of_w, of_b = (k ** float(power) for power in powers)
    wide = w.tile(1, round(k), round(k)) if tiled else repeated_along(w, k, axes=2)
    return layer(
        of_x * repeated_along(x, k),
        of_w * wide,
        of_b * repeated_along(b, k),
    )


def gap(powers: Powers, *, bias: bool = True, times: sp.Expr | None = None) -> Statistic:
    """The torch statistic of `Written.gap`; ``times`` is the symbol t where none is given."""
    k, t = symbols("k t")
    times = t if times is None else sp.sympify(times)

    def statistic(
        x: torch.Tensor, w: torch.Tensor, point: Mapping[Any, Any], b: torch.Tensor | None = None
    ) -> torch.Tensor:
        b = torch.zeros_like(w[:, 0]) if b is None or not bias else b
        copies = round(point[k])
        new = grown_layer(x, w, b, point[k], powers)[:, copies - 1]  # the first output's last copy
        return (new - float(times.subs(point)) * layer(x, w, b)[:, 0]) ** 2

    return statistic


def layer_pair(
    name: str,
    k: int,
    powers: Powers,
    activation: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.clone,
    *,
    shift: float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A grown layer's output, and the small layer's, repeated.

    Args:
        name: what weights and inputs are drawn from.
        k: factor of growth.
        powers: of k, on input, weight and bias.
        activation: behind the layer; none where nothing is given.
        shift: what is added to the grown layer's argument.
    """
    source = generator(name)
    x, w, b = (torch.randn(50, *s, generator=source).double() for s in ((4,), (4, 3), (3,)))
    found = activation(grown_layer(x, w, b, k, powers) + shift)
    return found, repeated_along(activation(layer(x, w, b)), k)
