"""Chains of matrices applied to a vector, whose outcome is a tensor product.

Each matrix holds one of the vectors. The article's "Tensor-Train Product" is such a chain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from .multiplying_out import Vectors, copies, rows_of, whole_length


class Chain:
    """A way to the tensor product: matrices, each of one vector, applied to a vector of ones.

    Args:
        name: of the kind of matrix.
        matrices: function from vectors (k, q) to k matrices.
        narrows: whether the chain starts at length 1; else every matrix is square.

    Example:
        >>> NARROW(torch.tensor([[1, 2], [3, 4]])).tolist()
        [3, 4, 6, 8]
    """

    def __init__(
        self, name: str, matrices: Callable[[Vectors], list[torch.Tensor]], *, narrows: bool
    ) -> None:
        self.name, self.matrices, self._narrows = name, matrices, narrows

    def __repr__(self) -> str:
        return f"the {self.name} chain"

    def __call__(self, x: Vectors) -> torch.Tensor:
        """Return the chain's outcome (q^k,)."""
        return applied(self.matrices(x), self.ones(x))

    def ones(self, x: Vectors) -> torch.Tensor:
        """Return the vector of ones at the end of the chain, of length 1 or q^k."""
        return rows_of(x)[0].new_ones(1 if self._narrows else whole_length(x))

    def nonzeros(self, x: Vectors) -> int:
        """Return how many entries of the matrices are not zero."""
        return sum(int(torch.count_nonzero(matrix)) for matrix in self.matrices(x))

    def ended_by_first_elements(self, x: Vectors) -> torch.Tensor:
        """Return the outcome with the article's end: ones times the product of first elements."""
        end = self.ones(x) * math.prod(factor[0] for factor in rows_of(x))
        return applied(self.matrices(x), end)


def on_diagonal(entries: torch.Tensor) -> torch.Tensor:
    """Return the matrix (n, n) with these entries (n,) on its diagonal, else zeros."""
    matrix = entries.new_zeros(len(entries), len(entries))
    matrix.diagonal().copy_(entries)
    return matrix


def applied(matrices: Sequence[torch.Tensor], v: torch.Tensor) -> torch.Tensor:
    """Return G_1 (G_2 (… (G_k v))), the last matrix applied first."""
    for matrix in reversed(matrices):
        v = matrix @ v
    return v


def _diagonals(x: Vectors) -> list[torch.Tensor]:
    return [on_diagonal(copy.flatten()) for copy in copies(x)]


def _narrow_matrices(x: Vectors) -> list[torch.Tensor]:
    rows = rows_of(x)
    after = [math.prod(map(len, rows[place + 1 :])) for place in range(len(rows))]
    return [
        torch.kron(row[:, None], on_diagonal(row.new_ones(size)))
        for row, size in zip(rows, after, strict=True)
    ]


DIAGONAL = Chain("diagonal", _diagonals, narrows=False)
NARROW = Chain("narrow", _narrow_matrices, narrows=True)
