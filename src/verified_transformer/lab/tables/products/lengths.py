"""Lengths of short vectors: which have the right product, and what tables of them store."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement

from ..costs.lookups import parameters, width_of
from .being_a_product import dimension

Rule = Callable[[int, int], int]  # from the length d of a vector and a number of factors


def fitting(rule: Rule, longest: int = 1000) -> list[tuple[int, int]]:
    """Return all (d, k) for which k vectors of the length that a rule gives make one of length d.

    Args:
        rule: a length, from d and k.
        longest: d goes from 2 up to this, k over its divisors from 2 on.

    Example:
        >>> fitting(lambda d, k: d // k, longest=50)
        [(4, 2)]
    """
    cases = ((d, k) for d in range(2, longest + 1) for k in range(2, d + 1) if d % k == 0)
    return [(d, k) for d, k in cases if rule(d, k) ** k == d]


def smaller_than_one_table(rule: Rule) -> bool:
    """Whether k tables of the lengths that a rule gives hold fewer parameters than a single one."""
    cases = (16, 2), (64, 2), (27, 3), (256, 4), (1024, 2)
    return all(parameters([rule(d, k)] * k, 30) < 30 * d for d, k in cases)


def store_less_than_they_make(cases: Sequence[tuple[int, int]]) -> bool:
    """Whether k vectors of length q store fewer numbers than their product has, for all (q, k)."""
    return all(parameters([q] * k, 1) < width_of([q] * k) for q, k in cases)


def dimension_is_sum_less(loss: Callable[[Sequence[int]], int]) -> bool:
    """Whether products of different lengths have their sum, less a loss, for a dimension."""
    choices = (2, 3), (2, 5), (2, 3, 4), (2, 2, 3)
    return all(dimension(lengths) == sum(lengths) - loss(lengths) for lengths in choices)


def have_least_sums(chosen: Mapping[int, Sequence[int]], whole: int = 1024) -> bool:
    """Whether lengths have the right product and the smallest sum, by trying all others.

    Args:
        chosen: lengths by their number.
        whole: their product, a power of two.
    """
    powers = [2**e for e in range(whole.bit_length())]
    for number, lengths in chosen.items():
        tried = combinations_with_replacement(powers, number)
        least = min(sum(other) for other in tried if math.prod(other) == whole)
        if math.prod(lengths) != whole or sum(lengths) != least:
            return False
    return True
