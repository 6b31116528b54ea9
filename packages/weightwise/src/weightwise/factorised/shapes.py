"""Sizes of factors: choosing them, and refusing those that do not fit."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import SupportsIndex

from ..accepted import require_positive


def balanced_factors(number: int, k: int) -> tuple[int, ...]:
    """Return k sizes with exactly this product and the least sum, in rising order.

    Args:
        number: the product, such as the length of an embedding.
        k: how many sizes.

    Returns:
        ``(16, 16, 16)`` for 4096 and 3; ``(1, 1, 7)`` for 7 and 3, since 7 is prime.

    Raises:
        ValueError: an argument is not positive.
    """
    require_positive(number=number, k=k)
    found = _factors(number, k, 1)
    assert found is not None  # 1, …, 1, number always fits
    return found


def covering_factors(number: int, k: int) -> tuple[int, ...]:
    """Return k sizes, nearly equal, whose product is little more than a number, or the number.

    Each size in turn is the root of what is left, rounded up: the product is no less than the
    number, and close to it, but not always the least that is possible.

    Args:
        number: what the product must reach, such as the number of tokens.
        k: how many sizes.

    Returns:
        ``(390, 390)`` for 152064 and 2.

    Raises:
        ValueError: an argument is not positive.
    """
    require_positive(number=number, k=k)
    sizes, rest = [], number
    for left in range(k, 0, -1):
        size = max(1, round(rest ** (1 / left)) - 1)
        while size**left < rest:
            size += 1
        sizes.append(size)
        rest = -(-rest // size)
    return tuple(sizes)


def checked_sizes(name: str, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return sizes as a tuple; refuse none, and what is no positive whole number."""
    if not isinstance(sizes, Iterable):
        raise TypeError(f"{name}: got {sizes!r}; accepted: several, such as (24, 32)")
    found = tuple(whole(name, size) for size in sizes)
    if not found or any(size < 1 for size in found):
        raise ValueError(f"{name}: got {found}; accepted: at least one, all positive")
    return found


def checked_columns(name: str, sizes: Sequence[int], embedding_dim: int | None) -> int:
    """Return the product of column sizes; refuse one that is not ``embedding_dim``, if given."""
    product = math.prod(sizes)
    if embedding_dim not in (None, product):
        raise ValueError(
            f"{name}: got {tuple(sizes)}, whose product is {product}; accepted: sizes whose "
            f"product equals embedding_dim = {embedding_dim}"
        )
    return product


def checked_grid(
    row_sizes: Sequence[int],
    column_sizes: Sequence[int],
    num_embeddings: int | None,
    embedding_dim: int | None,
) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """Return row and column sizes, n and d; refuse those that do not fit each other."""
    rows = checked_sizes("row_sizes", row_sizes)
    columns = checked_sizes("column_sizes", column_sizes)
    if len(rows) != len(columns):
        raise ValueError(
            f"column_sizes: got {len(columns)} of them with {len(rows)} row_sizes; accepted: as "
            "many of the one as of the other"
        )
    most = math.prod(rows)
    n = most if num_embeddings is None else num_embeddings
    require_positive(num_embeddings=n)
    if most < n:
        raise ValueError(
            f"row_sizes: got {rows}, whose product is {most}; accepted: sizes whose product must "
            f"be at least num_embeddings = {n}"
        )
    return rows, columns, n, checked_columns("column_sizes", columns, embedding_dim)


def checked_rank(rank: int, n: int, d: int, needed: int = 1) -> int:
    """Return a rank; refuse what is no positive whole number, or larger than both sizes.

    ``needed`` is a rank that is allowed in any case: one with which every table is met.
    """
    rank = whole("rank", rank)
    require_positive(rank=rank, num_embeddings=n, embedding_dim=d)
    if rank > max(n, d, needed):
        most = f"with {n} tokens of width {d}"
        raise ValueError(f"rank: got {rank}; accepted: 1 to {max(n, d, needed)} {most}")
    return rank


def whole(name: str, number: SupportsIndex) -> int:
    """Return a whole number, of numpy or torch too, as Python's own; refuse another."""
    try:
        return int(operator.index(number))
    except TypeError:
        raise TypeError(f"{name}: got {number!r}; accepted: whole numbers") from None


@lru_cache(maxsize=4096)
def _factors(number: int, k: int, least: int) -> tuple[int, ...] | None:
    """The rising factorisation of least sum whose sizes are at least ``least``, if any."""
    if k == 1:
        return (number,) if number >= least else None
    found = None
    size = least
    while size**k <= number:
        rest = _factors(number // size, k - 1, size) if number % size == 0 else None
        if rest is not None and (found is None or size + sum(rest) < sum(found)):
            found = (size, *rest)
        size += 1
    return found
