"""Tokens whose embedding is a sum of tensor products of short vectors of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Self, Unpack

import torch
from torch import nn

from .base import FactorisedEmbedding, FromDense, Options, prepared
from .decompositions import canonical
from .gathering import gathered, in_pieces
from .products import tensor_product
from .shapes import checked_columns, checked_rank, checked_sizes


class TensorProductEmbedding(FactorisedEmbedding):
    """Each row is $\\sum_{a} v_1^{(a)}\\otimes\\cdots\\otimes v_k^{(a)}$ (Panahi et al. 2020,
    word2ket).

    As a head it is never less work than a dense one, for no two tokens share a factor: at rank 1
    and for a few states as much, which leaves a gain in memory, else more.

    Args:
        num_embeddings: number of tokens n.
        sizes: lengths q_1, …, q_k of the factors; their product is the embedding's length d.
        rank: number of terms r; n r (q_1 + … + q_k) parameters in place of n d.
        options: ``padding_idx``, ``σ``, ``generator``, ``device`` and ``dtype`` as in
            `FactorisedEmbedding`; the parameters are ``factors[j]`` (n, r, q_j).

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> table = TensorProductEmbedding(1000, (8, 8))
        >>> sum(p.numel() for p in table.parameters()), tuple(table(torch.tensor([3, 5])).shape)
        (16000, (2, 64))
    """

    factors: nn.ParameterList

    def __init__(
        self,
        num_embeddings: int,
        sizes: Sequence[int],
        rank: int = 1,
        **options: Unpack[Options],
    ) -> None:
        lengths = checked_sizes("sizes", sizes)
        r = checked_rank(rank, num_embeddings, math.prod(lengths))
        shapes: Any = {"factors": [(num_embeddings, r, q) for q in lengths]}
        super().__init__(num_embeddings, math.prod(lengths), shapes, terms=r, **options)
        self.sizes, self.rank = lengths, r

    @classmethod
    def from_dense(
        cls,
        weight: torch.Tensor | nn.Embedding,
        sizes: Sequence[int],
        rank: int = 1,
        *,
        padding_idx: int | None = None,
        sweeps: int = 50,
    ) -> FromDense[Self]:
        """Factorise each row of a table by itself.

        Two factors: by the singular value decomposition of the row as a matrix (q_1, q_2), than
        which nothing is closer. More: by alternating least squares from the higher-order singular
        value decomposition, the best method known; no certificate says that the result is best.

        Args:
            weight: (n, d), or an embedding; the module has its dtype and device. The decomposition
                runs in float64 where the weight is float64, else in float32.
            sizes, rank: as above.
            padding_idx: the token whose row is set to zero before; the embedding's by default.
            sweeps: of alternating least squares, at most.

        Raises:
            ValueError: the sizes do not fit the weight.
        """
        table, options = prepared(weight, padding_idx)
        checked_columns("sizes", checked_sizes("sizes", sizes), table.shape[1])
        module = cls(len(table), sizes, rank, **options)
        return module._filled(canonical(table.view(-1, *module.sizes), module.rank, sweeps), table)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        return gathered(
            partial(summed_rows, self.rank),
            [factor.flatten(1) for factor in self.factors],
            [tokens] * len(self.sizes),
            width=self.embedding_dim,
            peak=kronecker_peak(self.sizes, self.rank),
            dropped=dropped,
        )

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        n, (_, peak) = self.num_embeddings, self._score_work()
        return in_pieces(_contracted, hidden, *self.factors, width=n, peak=peak)

    def _score_work(self) -> tuple[int, int]:
        per_token = self.rank * self.embedding_dim // self.sizes[-1]
        return self.num_embeddings * per_token * self.sizes[-1], self.num_embeddings * per_token

    @staticmethod
    def _rows(factors: Sequence[torch.Tensor]) -> torch.Tensor:
        return summed_products(factors)

    def _row_work(self) -> int:
        return self.num_embeddings * self.embedding_dim * self.rank

    @staticmethod
    def _part(factors: Sequence[torch.Tensor], first: int, last: int) -> list[torch.Tensor]:
        return [factor[first:last] for factor in factors]

    def _sizes(self, n: int) -> dict[str, Any]:
        return {"num_embeddings": n, "sizes": self.sizes, "rank": self.rank}


def summed_products(
    factors: Sequence[torch.Tensor], out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return sums over the rank of tensor products, one for each token.

    Args:
        factors: each (T, r, q_j).
        out: where to put them, of the shape of what is returned.

    Returns:
        (T, q_1 ⋯ q_k): the products of the first and of the last factors meet in one batched
        matrix product, which also sums over the rank.
    """
    if len(factors) == 1:
        return torch.sum(factors[0], 1, out=out)
    split = _split([factor.shape[2] for factor in factors])
    left, right = tensor_product(factors[:split]), tensor_product(factors[split:])
    left = left.transpose(1, 2)
    return torch.bmm(left, right, out=into(out, left, right)).flatten(1)


def summed_rows(
    rank: int, rows: Sequence[torch.Tensor], out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the same of factors that lie as rows (T, r q_j)."""
    return summed_products([row.unflatten(1, (rank, -1)) for row in rows], out)


def into(out: torch.Tensor | None, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor | None:
    """Return a place, if there is one, as that of a batch of matrix products."""
    return None if out is None else out.view(len(left), left.shape[1], right.shape[2])


def kronecker_peak(sizes: Sequence[int], rank: int) -> int:
    """Return the most numbers per token that `summed_products` makes in one tensor."""
    split = _split(sizes) if len(sizes) > 1 else 1
    sides = math.prod(sizes[:split]), math.prod(sizes[split:])
    return max(rank * max(sides), math.prod(sizes))


def _split(sizes: Sequence[int]) -> int:
    """Where to cut, so that the larger side is least."""
    return min(
        range(1, len(sizes)), key=lambda cut: max(math.prod(sizes[:cut]), math.prod(sizes[cut:]))
    )


def _contracted(hidden: torch.Tensor, *factors: torch.Tensor) -> torch.Tensor:
    """Hidden states (T, d) against the products of each token, the last factor first: (T, n)."""
    *others, last = factors
    n, rank, q = last.shape
    x = last.flatten(0, 1) @ hidden.reshape(-1, q).T  # (n r, T · what is left of d)
    for factor in reversed(others):
        x = x.view(n * rank, -1, factor.shape[2]) @ factor.view(n * rank, -1, 1)
    return x.view(n, rank, -1).sum(1).T.clone()
