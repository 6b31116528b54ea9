"""Scores of a token that need no embedding: a factor of the product after the other."""

from __future__ import annotations

from functools import reduce

import torch

from .multiplying_out import Vectors, multiplied_out, rows_of


def score_without_embedding(x: Vectors, h: torch.Tensor) -> torch.Tensor:
    """Return the inner product of a tensor product with h (d,), which is never written down.

    Example:
        >>> x, h = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.ones(4)
        >>> score_without_embedding(x, h).item(), (torch.kron(*x) @ h).item()
        (21.0, 21.0)
    """
    for factor in rows_of(x):
        h = h.reshape(len(factor), -1).T @ factor
    return h[0]


def inner_by_factors(x: Vectors) -> torch.Tensor:
    """Return a tensor product's inner product with itself, as a product of inner products."""
    return dot_by_factors(x, x)


def inner_of_embeddings(x: Vectors) -> torch.Tensor:
    """Return the same from two written-down embeddings."""
    return dot_of_rows(x, x)


def dot_by_factors(x: Vectors, y: Vectors) -> torch.Tensor:
    """Return the dot product of two tensor products, as a product of dot products.

    Args:
        x, y: the vectors of two tokens, k each, of the same lengths.

    Example:
        >>> x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [1.0, 1.0]])
        >>> dot_by_factors(x, y).item(), dot_of_rows(x, y).item()
        (7.0, 7.0)
    """
    return reduce(torch.mul, [a @ b for a, b in zip(rows_of(x), rows_of(y), strict=True)])


def dot_of_rows(x: Vectors, y: Vectors) -> torch.Tensor:
    """Return the same from the two written-down rows."""
    return multiplied_out(x) @ multiplied_out(y)
