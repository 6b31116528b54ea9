"""The tensor product by its definition, entry by entry, and vectors to try it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product

import torch

from ....seeds import generator


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
