"""Ways of multiplying a token's vectors out: one embedding, different work and memory.

Vectors are given as an array (…, k, q) or, where their lengths differ, as a sequence of k arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate

import torch

from ....models.factorised.products import tensor_product

Vectors = torch.Tensor | Sequence[torch.Tensor]
Way = Callable[[Vectors], torch.Tensor]


def multiplied_out(x: Vectors) -> torch.Tensor:
    """Return the tensor product (…, q^k), made one vector after the other.

    Args:
        x: a token's vectors, (…, k, q) or k arrays (…, q_j).

    Example:
        >>> multiplied_out(torch.tensor([[1, 2], [3, 4]])).tolist()
        [3, 4, 6, 8]
    """
    return tensor_product(rows_of(x))


def from_scratch(x: Vectors) -> torch.Tensor:
    """Return the same product, each entry made by itself from one entry of each vector."""
    return reduce(torch.mul, copies(x)).flatten(-len(rows_of(x)))


def in_place(x: Vectors) -> torch.Tensor:
    """Return the same product, made as by `from_scratch` inside a single array."""
    first, *others = copies(x)
    return reduce(torch.Tensor.mul_, others, first.clone()).flatten(-len(rows_of(x)))


def in_blocks(x: Vectors) -> torch.Tensor:
    """Return the same product of vectors (k, q), multiplied out inside a single array.

    From the last vector on: what is there already becomes the blocks of what is to be.
    """
    *others, last = rows_of(x)
    e = last.new_empty(whole_length(x))
    e[: len(last)] = last
    size = len(last)
    for factor in reversed(others):
        for block in reversed(range(len(factor))):
            e[block * size : (block + 1) * size].copy_(e[:size]).mul_(factor[block])
        size *= len(factor)
    return e


def in_pairs(x: Vectors) -> tuple[torch.Tensor, int]:
    """Return the same product and in how many steps it is made: neighbours first, then pairs."""
    level, steps = rows_of(x), 0
    while len(level) > 1:
        level = [tensor_product(level[at : at + 2]) for at in range(0, len(level), 2)]
        steps += 1
    return level[0], steps


def products_made(x: Vectors) -> list[torch.Tensor]:
    """Return all that `multiplied_out` makes: products of the first 2, 3, …, k vectors."""
    return list(accumulate(rows_of(x), lambda p, factor: tensor_product((p, factor))))[1:]


def squared_norm(x: Vectors) -> torch.Tensor:
    """Return the squared norms (…) of the tensor products."""
    return multiplied_out(x).square().sum(-1)


def copies(x: Vectors) -> list[torch.Tensor]:
    """Return views of each vector in the shape (…, q_1, …, q_k) of the whole product."""
    rows = rows_of(x)
    sizes = [row.shape[-1] for row in rows]
    shapes = [[-1 if i == place else 1 for i in range(len(rows))] for place in range(len(rows))]
    return [
        row.reshape(*row.shape[:-1], *shape).expand(*row.shape[:-1], *sizes)
        for row, shape in zip(rows, shapes, strict=True)
    ]


def rows_of(x: Vectors) -> list[torch.Tensor]:
    """Return a token's vectors as a list.

    Raises:
        ValueError: there are none, or ``x`` is an array without an axis of vectors.
    """
    if isinstance(x, torch.Tensor):
        if x.ndim < 2:
            raise ValueError(f"x: got shape {tuple(x.shape)}; accepted: (…, k, q)")
        x = x.unbind(-2)
    if not x:
        raise ValueError("x: got no vectors; accepted: at least one")
    return list(x)


def whole_length(x: Vectors) -> int:
    """Return the length of the vectors' tensor product."""
    return math.prod(row.shape[-1] for row in rows_of(x))
