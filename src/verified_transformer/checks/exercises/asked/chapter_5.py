"""Functions that the exercises of chapter five ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..problem import Problem


def multiply_out(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """The tensor product of several vectors, one after the other."""
    product = np.ones(1)
    for vector in vectors:
        product = np.multiply.outer(product, vector).reshape(-1)
    return product


def _from_the_end(vectors: Any) -> Any:
    return multiply_out(list(vectors)[::-1])


def _joined(vectors: Any) -> Any:
    return np.concatenate(list(vectors))


_SHORT = (np.array([2.0, 3.0]), np.array([1.0, -1.0]), np.array([5.0, 7.0]))


PROBLEMS = {
    "multiply_out": Problem(
        multiply_out, ((_SHORT[:2],), (_SHORT,), ((np.array([1.0, 2.0, 3.0]), _SHORT[0]),)),
        ((_from_the_end, "All products are there, in another order: the last index must run "
          "fastest."),
         (_joined, "That lays the vectors side by side; the product multiplies them.")),
    ),
}  # fmt: skip
