"""Products of the same numbers in other orders: brackets elsewhere, or entries elsewhere.

What keeps the places of the entries is a tensor product; the rest are wrong versions for checks.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .multiplying_out import Vectors, in_pairs, multiplied_out, rows_of


def from_the_right(vectors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the tensor product of vectors, the last two multiplied first."""
    first, *rest = vectors
    return torch.kron(first, from_the_right(rest)) if rest else first


def new_one_first(vectors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the product in the opposite order: each further vector is put before the others."""
    *first, last = vectors
    return torch.kron(last, new_one_first(first)) if first else last


def matrix_and_column(vectors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the outer product of two vectors, Kronecker times a third as a column: (m h, n)."""
    a, b, c = vectors
    return torch.kron(torch.outer(a, b), c[:, None])


def column_by_column(vectors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the entries of an outer product put down column by column, in its shape (m, n)."""
    u, v = vectors
    return torch.outer(v, u).reshape(len(u), len(v))


def entrywise_repeated(x: torch.Tensor) -> torch.Tensor:
    """Return products of equal places of vectors (k, q) only, repeated to the length q^k."""
    return x.prod(0).repeat(x.shape[1] ** (len(x) - 1))


def first_with_last(x: Vectors) -> tuple[torch.Tensor, int]:
    """Return the product in pairs and its steps, as `in_pairs`, but first and last are paired."""
    rows = rows_of(x)
    half = (len(rows) + 1) // 2
    pairs = zip(range(half), reversed(range(half, len(rows))), strict=False)
    order = [i for pair in pairs for i in pair] + [half - 1] * (len(rows) % 2)
    return in_pairs([rows[i] for i in order])


def one_after_the_other(x: Vectors) -> tuple[torch.Tensor, int]:
    """Return the product and in how many steps it is made one vector after the other."""
    return multiplied_out(x), len(rows_of(x)) - 1


def token_by_token(x: torch.Tensor) -> torch.Tensor:
    """Return the products (T, q^k) of tokens' vectors (T, k, q), made in a loop over tokens."""
    return torch.stack([multiplied_out(token) for token in x])
