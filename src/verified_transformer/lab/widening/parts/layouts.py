"""Layouts: which old coordinate each new one copies, beyond those that `models.growth` uses.

All give an `Axis`, as `heads` of `models.growth.axes` does and with its arguments: the number of
heads, their size, the factor, and a scale.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ....models.growth.axes import Axis
from ....seeds import generator

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


def padded(size: int, k: int, *, scale: float = 1.0) -> Axis:
    """The vector and zeros after it: (x₁, x₂) becomes s (x₁, x₂, 0, 0) for k = 2."""
    factor = torch.zeros(k * size, dtype=torch.float64)
    factor[:size] = scale
    return Axis(torch.arange(size).repeat(k), factor, size)


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


def normal(name: str, *shape: int) -> torch.Tensor:
    """Standard normal numbers in float64, drawn from a name."""
    return torch.randn(shape, generator=generator(name), dtype=torch.float64)
