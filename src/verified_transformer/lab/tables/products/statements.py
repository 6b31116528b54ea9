"""What is said of a way of joining vectors, as checks: true of the tensor product, else false."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np
import torch

from ..ways.multiplying_out import Vectors, Way, multiplied_out

_SIZES = (2, 3), (3, 2), (2, 5), (4, 3)  # length and number


def gives_tensor_product(way: Way) -> bool:
    """Whether a way gives NumPy's tensor product of whole numbers, to the last bit."""
    for length, number in _SIZES:
        x = _whole(length, number)
        if not np.array_equal(way(x).numpy(), reduce(np.kron, x.numpy())):
            return False
    return True


def takes_logarithmic_steps(way: Callable[[Vectors], tuple[torch.Tensor, int]]) -> bool:
    """Whether a way gives the product in ⌈log2 k⌉ steps, for two to eight vectors.

    Args:
        way: returns what it makes and in how many steps.
    """
    for number in range(2, 9):
        x = _whole(2, number)
        e, steps = way(x)
        if steps != math.ceil(math.log2(number)) or not torch.equal(e, multiplied_out(x)):
            return False
    return True


def _whole(length: int, number: int) -> torch.Tensor:
    return torch.arange(1, length * number + 1, dtype=torch.float64).reshape(number, length)
