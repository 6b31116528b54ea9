"""How much work a way of making an embedding is, and how it grows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ....models.counting import Count
from ....seeds import generator
from ..ways.chains import Chain, applied


def counted(way: Callable[..., Any], *inputs: Any) -> Count:
    """Return the work and memory of calling ``way`` on ``inputs``, without gradients kept.

    Example:
        >>> counted(torch.mul, torch.ones(3), torch.ones(3)).multiplications
        3
    """
    with Count() as count:
        way(*inputs)
    return count


def multiplications(way: Callable[..., Any], *inputs: Any) -> int:
    """Return the multiplications of a call; a `Chain` is counted with its matrices ready."""
    if isinstance(way, Chain):
        return counted(applied, way.matrices(*inputs), way.ones(*inputs)).multiplications
    return counted(way, *inputs).multiplications


def numbers_alive(way: Callable[..., Any], x: torch.Tensor) -> int:
    """Return how many numbers of the input's kind are alive at most while a way is taken."""
    return counted(way, x).peak // x.itemsize


def exponent_in_length(
    way: Callable[..., Any], number: int, length: int, whole: Callable[[int, int], int]
) -> float:
    """Return the power of d as which a way's multiplications grow when its vectors are doubled.

    Args:
        way: function of vectors (number, length).
        number, length: of the vectors; the second count has twice the length.
        whole: d from length and number.
    """
    small, large = (
        (multiplications(way, whole_vectors(size, number)), whole(size, number))
        for size in (length, 2 * length)
    )
    return math.log(large[0] / small[0]) / math.log(large[1] / small[1])


def whole_vectors(
    length: int, number: int, name: str = "whole numbers", *, batch: Sequence[int] = ()
) -> torch.Tensor:
    """Return vectors (\\*batch, number, length) of whole numbers from 1 to 7, in float64.

    Products of them are exact, so that different ways can be compared to the last bit.

    Raises:
        ValueError: ``length`` or ``number`` is not positive.
    """
    if length < 1 or number < 1:
        raise ValueError(f"length, number: got {length}, {number}; accepted: positive numbers")
    return torch.randint(1, 8, (*batch, number, length), generator=generator(name)).double()
