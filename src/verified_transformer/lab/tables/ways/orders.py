"""Products of the same numbers in other orders: brackets elsewhere, or entries elsewhere.

What keeps the places of the entries is a tensor product; the rest are wrong versions for checks.
"""

from __future__ import annotations

import torch

from .multiplying_out import Vectors, in_pairs, multiplied_out, rows_of


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
