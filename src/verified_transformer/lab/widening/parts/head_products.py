"""What layouts do to the inner products of heads: exactly, and as statistics of random vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from ....exact.formulas.notation import symbols
from ....models.growth.axes import heads
from .layouts import Layout

_t = symbols("t")


def head_products(
    query: torch.Tensor,
    key: torch.Tensor,
    count: int,
    k: int = 1,
    layout: Layout = heads,
    *,
    more_heads: bool = False,
) -> torch.Tensor:
    """Inner products of all heads after repetition, (…, heads).

    Args:
        query, key: (…, heads · size).
        count: how many heads the small vectors are cut into.
        k: factor of growth; larger heads are divided by √k.
        layout: where the copies go.
        more_heads: k times as many heads of the old size, and no division.
    """
    scale = 1.0 if more_heads else k**-0.5
    axis = layout(count, query.shape[-1] // count, k, scale=scale)
    number = count * k if more_heads else count
    u, v = (axis.write(z, -1).unflatten(-1, (number, -1)) for z in (query, key))
    return (u * v).sum(-1)


def products_change(
    count: int, size: int, layout: Layout, *, k: int = 2, times: float = 1.0, more: bool = False
) -> float:
    """Sum over heads of the mean square of new minus ``times`` old products, exactly.

    A product is bilinear in query and key, so that its coefficients are seen by unit vectors; for
    independent entries of variance 1 the mean square is the sum of their squares.

    Args:
        count, size: heads and their size.
        layout: where the copies go.
        k: factor of growth.
        times: what the old products are multiplied by.
        more: k times as many heads of the old size.
    """
    unit = torch.eye(count * size, dtype=torch.float64)
    q, y = unit[:, None].expand(-1, len(unit), -1), unit[None].expand(len(unit), -1, -1)
    new = head_products(q, y, count, k, layout, more_heads=more)
    old = head_products(q, y, count)[..., torch.arange(new.shape[-1]) % count]
    return (new - times * old).square().sum().item()


def products_gap(layout: Layout) -> Callable[..., torch.Tensor]:
    """The statistic of `products_change` for k = 2, of q and y, (replicates, heads, size)."""

    def statistic(q: torch.Tensor, y: torch.Tensor, point: Mapping[Any, Any]) -> torch.Tensor:
        flat, count = (q.flatten(1), y.flatten(1)), q.shape[1]
        new, old = (head_products(*flat, count, k, layout) for k in (2, 1))
        return (new - point.get(_t, 1.0) * old).square().sum(-1)

    return statistic


def tiled_gap(q: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same for the tiled vector: a new head's product is the mean of those of two heads."""
    old, count = (q * y).sum(-1), q.shape[1]
    pairs = [(2 * head % count, (2 * head + 1) % count) for head in range(count)]
    return sum(((old[:, u] + old[:, v]) / 2 - old[:, z]) ** 2 for z, (u, v) in enumerate(pairs))
