"""One linear layer made wider: layouts, and every factor free.

The input is repeated, the rows and columns of the weight and the bias too, each entry k times in a
row; then each of the three takes a power of k. The article's equations are five triples of powers.
Layouts say which old coordinate each new one copies, beyond those that `models.growth` uses; all
give an `Axis`, as `heads` of `models.growth.axes` does and with its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import sympy as sp
import torch
from torch import nn

from verifiedbook.exact.laws import Uniform
from verifiedbook.exact.moments import Tensor
from verifiedbook.seeds import generator
from weightwise.growth.axes import Axis, heads
from weightwise.growth.rules import Part, linear

# ---------------------------------------------------- a linear layer by the rule of `models.growth`


def widened(
    layer: nn.Linear, writes: Axis, reads: Axis, *, weight: float = 1.0, bias: float = 1.0
) -> nn.Linear:
    """Return a linear layer grown by W̃ = E_out W E_in⁺, b̃ = E_out b.

    Args:
        layer: the small one.
        writes: axis of its outputs.
        reads: axis of its inputs.
        weight, bias: further factors; 1 is the exact rule.

    Returns:
        A new layer; without a bias where the small one has none.

    Raises:
        ValueError: an axis has another size than the layer.

    Example:
        >>> from weightwise.growth.axes import repeated
        >>> widened(nn.Linear(3, 2), repeated(2, 4), repeated(3, 4))
        Linear(in_features=12, out_features=8, bias=True)
    """
    if (writes.size, reads.size) != (layer.out_features, layer.in_features):
        raise ValueError(
            f"writes, reads: got sizes {writes.size}, {reads.size}; accepted: the layer's "
            f"{layer.out_features}, {layer.in_features}"
        )
    factors = {"weight": weight, "bias": bias}
    large = nn.Linear(
        len(reads.source), len(writes.source), layer.bias is not None, dtype=layer.weight.dtype
    )
    with torch.no_grad():
        for leaf, value in layer.named_parameters():
            part = Part(leaf, value.detach(), writes, reads, value.detach())
            getattr(large, leaf).copy_(factors[leaf] * linear(part))
    return large


# ------------------------------------------------------------------------------ layouts

Layout = Callable[..., Axis]


def tiled(count: int, size: int, k: int, *, scale: float = 1.0) -> Axis:
    """The whole vector k times: (x₁, x₂) becomes s (x₁, x₂, x₁, x₂) for k = 2.

    It is cut into ``count`` heads of ``size`` coordinates only afterwards, which mixes them.
    """
    return copied(torch.arange(count * size).repeat(k), count * size, scale=scale)


def tiled_in_heads(count: int, size: int, k: int, *, scale: float = 1.0) -> Axis:
    """Each of ``count`` heads of ``size`` coordinates k times as a whole, inside its head."""
    source = torch.arange(count * size).view(count, size).repeat(1, k).flatten()
    return copied(source, count * size, scale=scale)


def each_coordinate(count: int, size: int, k: int, layout: str) -> Axis:
    """Eq. 2: every coordinate k times in a row, whatever the layout."""
    return heads(count, size, k)


def each_pair(count: int, size: int, k: int, layout: str) -> Axis:
    """Eq. 15 as printed: every block of two neighbours k times, whatever the layout."""
    source = torch.arange(count * size).view(-1, 1, 2).expand(-1, k, 2).flatten()
    return copied(source, count * size)


def copied(source: torch.Tensor, size: int, *, scale: float = 1.0) -> Axis:
    """The axis whose new coordinates copy the old ones numbered in ``source``, times a scale.

    Raises:
        ValueError: an old coordinate has no copy.
    """
    if missing := sorted(set(range(size)) - set(source.tolist())):
        raise ValueError(f"source: coordinates {missing} have no copy; accepted: one each or more")
    return Axis(source, torch.full((len(source),), scale, dtype=torch.float64), size)


def by_ceiling(value: torch.Tensor, k: int, *, axes: int = 1) -> torch.Tensor:
    """The article's index, literally: entry ⌈i/k⌉ of the old array at place i, from 1.

    Args:
        value: any array.
        k: factor of growth.
        axes: on how many of the last axes.
    """
    for axis in range(-axes, 0):
        places = [-(-i // k) - 1 for i in range(1, k * value.shape[axis] + 1)]
        value = value.index_select(axis, torch.tensor(places, device=value.device))
    return value


def repeated_along(value: torch.Tensor, k: float, *, axes: int = 1) -> torch.Tensor:
    """The same by torch: each entry k times in a row, on the last ``axes`` axes."""
    for axis in range(-axes, 0):
        value = value.repeat_interleave(round(k), axis)
    return value


def entropy(value: torch.Tensor) -> float:
    """Entropy of the distribution of an array's values, in nats."""
    share = value.unique(return_counts=True)[1].double() / value.numel()
    return -(share * share.log()).sum().item()


# ---------------------------------------------------------------- one layer, with every factor free


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
    x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, k: float, powers: Powers
) -> torch.Tensor:
    """The same layers grown: (…, k n)."""
    of_x, of_w, of_b = (k ** float(power) for power in powers)
    wide = of_w * repeated_along(w, k, axes=2)
    return layer(of_x * repeated_along(x, k), wide, of_b * repeated_along(b, k))


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
