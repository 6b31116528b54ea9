"""Tensor products of vectors: entry by entry, multiplied out, and told from other vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import accumulate, product
from typing import Any

import numpy as np
import sympy as sp
import torch

from verifiedbook.seeds import generator
from weightwise.factorised.products import tensor_product


def entry_by_entry(vectors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the tensor product as its definition says: a product of one entry of each vector.

    Args:
        vectors: k arrays (q_j,).

    Returns:
        (q_1 ⋯ q_k,); the entries' indices run as those of nested loops, the last one fastest.

    Example:
        >>> entry_by_entry(torch.tensor([[1, 2], [3, 4]])).tolist()
        [3, 4, 6, 8]
    """
    places = product(*(range(len(vector)) for vector in vectors))
    return torch.stack([
        reduce(torch.mul, [vector[i] for vector, i in zip(vectors, place, strict=True)])
        for place in places
    ])  # fmt: skip


def drawn_vectors(*lengths: int) -> Callable[[str], list[torch.Tensor]]:
    """Return a draw: a function of a name that gives normal vectors of these lengths, float64.

    Example:
        >>> [tuple(vector.shape) for vector in drawn_vectors(2, 3)("a name")]
        [(2,), (3,)]
    """

    def draw(name: str) -> list[torch.Tensor]:
        source = generator(name)
        return [torch.randn(length, dtype=torch.float64, generator=source) for length in lengths]

    return draw


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


def exact_rank(rows: Iterable[Any]) -> int:
    """Return the rank of a matrix of whole numbers or fractions, as lists or a tensor."""
    return int(sp.Matrix(_exact(rows)).to_DM().to_field().rank())


def derivative(factors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the derivative of the tensor product by all entries of all factors.

    Args:
        factors: k vectors (q_j,).

    Returns:
        (q_1 ⋯ q_k, q_1 + … + q_k): a column for each entry, which is the product with a unit
        vector instead of that entry's factor.
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
    return exact_rank(derivative(factors))


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


Vectors = torch.Tensor | Sequence[torch.Tensor]


def multiplied_out(x: Vectors) -> torch.Tensor:
    """Return the tensor product (…, q^k), made one vector after the other.

    Args:
        x: a token's vectors, (…, k, q) or k arrays (…, q_j).

    Example:
        >>> multiplied_out(torch.tensor([[1, 2], [3, 4]])).tolist()
        [3, 4, 6, 8]
    """
    return tensor_product(rows_of(x))


def products_made(x: Vectors) -> list[torch.Tensor]:
    """Return all that `multiplied_out` makes: products of the first 2, 3, …, k vectors."""
    return list(accumulate(rows_of(x), lambda p, factor: tensor_product((p, factor))))[1:]


def rows_of(x: Vectors) -> list[torch.Tensor]:
    """Return a token's vectors as a list.

    Raises:
        ValueError: there are none, or ``x`` is an array without an axis of vectors.
    """
    if isinstance(x, torch.Tensor):
        if x.ndim < 2:
            raise ValueError(f"x: got shape {tuple(x.shape)}; accepted: (…, k, q)")
        x = x.unbind(-2)
    if not x:
        raise ValueError("x: got no vectors; accepted: at least one")
    return list(x)
