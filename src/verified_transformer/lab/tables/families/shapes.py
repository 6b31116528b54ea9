"""Four families of factorised tables: what they store, where they break even, what an entry is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

Shapes = list[tuple[int, ...]]


def low_rank(n: int, d: int, r: int) -> Shapes:
    """Shapes of a low-rank table's two factors."""
    return [(n, r), (r, d)]


def product(n: int, lengths: Sequence[int], r: int) -> Shapes:
    """Shapes of a sum of r tensor products for each token (word2ket)."""
    return [(n, r, q) for q in lengths]


def kronecker(rows: Sequence[int], lengths: Sequence[int], r: int) -> Shapes:
    """Shapes of a sum of r Kronecker products (word2ketXS)."""
    return [(m, r, q) for m, q in zip(rows, lengths, strict=True)]


def tensor_train(rows: Sequence[int], lengths: Sequence[int], r: int) -> Shapes:
    """Shapes of a tensor train's cores, all ranks r."""
    ranks = [1] + [r] * (len(rows) - 1) + [1]
    return [(m, a, q, b) for m, q, a, b in zip(rows, lengths, ranks[:-1], ranks[1:], strict=True)]


def stored(shapes: Shapes) -> int:
    """Return how many numbers arrays of these shapes hold."""
    return sum(torch.empty(shape, device="meta").numel() for shape in shapes)


def rank_of_break_even(stored_at: Callable[[int], int], dense: int) -> float:
    """Return the rank at which a family stores as much as the dense table.

    Args:
        stored_at: what it stores at a rank; at most quadratic in it, and 0 at rank 0.
        dense: what the dense table stores.
    """
    once, twice = stored_at(1), stored_at(2)
    square = (twice - 2 * once) / 2
    linear = once - square
    return 2 * dense / (linear + math.sqrt(linear**2 + 4 * square * dense))


def row_of(w: torch.Tensor | Sequence[torch.Tensor]) -> torch.Tensor:
    """Return a row of a sum of tensor products.

    Args:
        w: the k factors, (…, k, r, q), or a list of (…, r, q) with a length q each.

    Returns:
        (…, q**k), or the product of the lengths.
    """
    factors = w.unbind(-3) if isinstance(w, torch.Tensor) else w
    row = factors[0]
    for factor in factors[1:]:
        row = (row[..., :, None] * factor[..., None, :]).flatten(-2)
    return row.sum(-2)


def train_entry(w: torch.Tensor) -> torch.Tensor:
    """Return an entry of a tensor train: a row, matrices, a column.

    Args:
        w: one slice of each of the k cores, (…, k, r, r); of the first its first row counts, of the
            last its first column.

    Returns:
        (…).
    """
    row, *inner, column = w.unbind(-3)
    row = row[..., :1, :]
    for core in inner:
        row = row @ core
    return (row @ column[..., :, :1])[..., 0, 0]
