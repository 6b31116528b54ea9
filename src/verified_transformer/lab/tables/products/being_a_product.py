"""Which vectors are tensor products: ranks of their layouts, and how many dimensions they fill.

Ranks are exact, of whole numbers or fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sympy as sp
import torch

from ....models.factorised.products import tensor_product
from ....seeds import generator


def is_product(vector: Iterable[Any], lengths: Sequence[int]) -> bool:
    """Whether a vector is a tensor product of vectors of these lengths, in exact arithmetic.

    Args:
        vector: whole numbers or fractions, as many as the product of the lengths.
        lengths: of the factors; laid out with these, the vector must have rank one along each.

    Raises:
        ValueError: the lengths do not fit the vector.

    Example:
        >>> is_product([3, 4, 6, 8], (2, 2)), is_product([3, 4, 6, 9], (2, 2))
        (True, False)
    """
    entries = np.array(_exact(vector), dtype=object)
    if math.prod(lengths) != entries.size:
        raise ValueError(
            f"lengths: got {tuple(lengths)} for {entries.size} entries; accepted: their product"
        )
    cube = entries.reshape(tuple(lengths))
    layouts = (np.moveaxis(cube, axis, 0).reshape(q, -1) for axis, q in enumerate(lengths))
    return all(exact_rank(layout.tolist()) <= 1 for layout in layouts)


def exact_rank(rows: Sequence[Sequence[Any]]) -> int:
    """Return the rank of a matrix of whole numbers or fractions."""
    return int(sp.Matrix(rows).to_DM().to_field().rank())


def derivative(factors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the derivative of the tensor product by all entries of all factors.

    Args:
        factors: k vectors (q_j,).

    Returns:
        (q_1 ⋯ q_k, q_1 + … + q_k): a column for each entry, which is the product with a unit
        vector in the place of that entry's factor.
    """
    columns = []
    for place, factor in enumerate(factors):
        for entry in torch.eye(factor.shape[0]).to(factor):
            columns.append(tensor_product([*factors[:place], entry, *factors[place + 1 :]]))
    return torch.stack(columns, 1)


def dimension(lengths: Sequence[int]) -> int:
    """Return the dimension of the set of products: the derivative's rank at a general point.

    Args:
        lengths: of the factors, which are drawn as whole numbers; the rank is exact.

    Example:
        >>> dimension((2, 2))
        3
    """
    source = generator("factors in general position")
    factors = [torch.randint(1, 100, (length,), generator=source) for length in lengths]
    return exact_rank(derivative(factors).tolist())


def share_of_best_pair(vectors: torch.Tensor) -> torch.Tensor:
    """Return the share (R,) of squared norms that the best product of two vectors carries.

    By the theorem of Eckart and Young (1936) it is that of the largest singular value.

    Args:
        vectors: (R, q^2), each laid out as a square; the two factors have length q.

    Raises:
        ValueError: the length is no square.
    """
    side = math.isqrt(vectors.shape[-1])
    if side**2 != vectors.shape[-1]:
        raise ValueError(f"vectors: got length {vectors.shape[-1]}; accepted: a square number")
    values = torch.linalg.svdvals(vectors.double().unflatten(-1, (side, side))).square()
    return values[..., 0] / values.sum(-1)


def _exact(vector: Iterable[Any]) -> list[Any]:
    return vector.tolist() if isinstance(vector, torch.Tensor) else list(vector)
