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
from ....exact.moments import Tensor
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
EQ_14 = _quarters(-2, -3, -1)

Statistic = Callable[..., torch.Tensor]


def uniforms(**scales: tuple[Any, ...]) -> dict[str, Tensor]:
    """Uniform tensors of mean 0 by name, each given as (standard deviation, *sizes)."""
    return {
        name: Tensor(name, Uniform.of_variance(scale**2), *sizes)
        for name, (scale, *sizes) in scales.items()
    }


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
