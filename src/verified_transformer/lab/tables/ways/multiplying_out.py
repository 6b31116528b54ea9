"""Multiplying a token's vectors out, one after the other.

Vectors are given as an array (…, k, q) or, where their lengths differ, as a sequence of k arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch

from ....models.factorised.products import tensor_product

Vectors = torch.Tensor | Sequence[torch.Tensor]


def multiplied_out(x: Vectors) -> torch.Tensor:
    """Return the tensor product (…, q^k), made one vector after the other.

    Args:
        x: a token's vectors, (…, k, q) or k arrays (…, q_j).

    Example:
        >>> multiplied_out(torch.tensor([[1, 2], [3, 4]])).tolist()
        [3, 4, 6, 8]
    """
    return tensor_product(rows_of(x))


def products_made(x: Vectors) -> list[torch.Tensor]:
    """Return all that `multiplied_out` makes: products of the first 2, 3, …, k vectors."""
    return list(accumulate(rows_of(x), lambda p, factor: tensor_product((p, factor))))[1:]


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
