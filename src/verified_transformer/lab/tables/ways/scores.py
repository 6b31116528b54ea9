"""Scores of a token that need no embedding: a factor of the product after the other."""

from __future__ import annotations

from functools import reduce

import torch

from .multiplying_out import Vectors, multiplied_out, rows_of


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
