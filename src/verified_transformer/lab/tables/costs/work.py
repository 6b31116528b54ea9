"""How much work a way of making an embedding is, and vectors to try it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ....models.counting import Count
from ....seeds import generator


def counted(way: Callable[..., Any], *inputs: Any) -> Count:
    """Return the work and memory of calling ``way`` on ``inputs``, without gradients kept.

    Example:
        >>> counted(torch.mul, torch.ones(3), torch.ones(3)).multiplications
        3
    """
    with Count() as count:
        way(*inputs)
    return count


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
