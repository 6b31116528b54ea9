"""Tokens whose embedding is a sum of tensor products of short vectors of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import torch
from torch import nn

from .base import FactorisedEmbedding, FromDense, prepared
from .decompositions import canonical
from .gathering import again, gathered
from .products import tensor_product
from .shapes import checked_columns, checked_rank, checked_sizes


class TensorProductEmbedding(FactorisedEmbedding):
    """Each row is $\\sum_{a} v_1^{(a)}\\otimes\\cdots\\otimes v_k^{(a)}$ (Panahi et al. 2020,
    word2ket).

    `attend` makes the rows block by block: it takes the multiplications of a dense head, and only
    its memory is less.

    Args:
        num_embeddings: number of tokens n.
        sizes: lengths q_1, …, q_k of the factors; their product is the embedding's length d.
        rank: number of terms r; n r (q_1 + … + q_k) parameters in place of n d.
        padding_idx: the token whose row is zero and takes no gradient; from the end if negative.
        σ: standard deviation of every entry of the table at the start.
        generator: source of the entries.
        device, dtype: of the parameters ``factors[j]`` (n, r, q_j).

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> table = TensorProductEmbedding(1000, (8, 8))
        >>> sum(p.numel() for p in table.parameters()), tuple(table(torch.tensor([3, 5])).shape)
        (16000, (2, 64))
    """

    def __init__(
        self,
        num_embeddings: int,
        sizes: Sequence[int],
        rank: int = 1,
        *,
        padding_idx: int | None = None,
        σ: float = 1.0,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self_sizes = checked_sizes("sizes", sizes)
        d = checked_columns("sizes", self_sizes, None)
        super().__init__(num_embeddings, d, padding_idx=padding_idx, σ=σ)
        self.sizes, self.rank = self_sizes, checked_rank(rank)
        self.factors = nn.ParameterList(
            torch.empty(num_embeddings, self.rank, size, device=device, dtype=dtype)
            for size in self.sizes
        )
        self.reset_parameters(generator)

    @classmethod
    def from_dense(
        cls,
        weight: torch.Tensor,
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
            weight: (n, d); the module has its dtype and device. The decomposition runs in float64
                where the weight is float64, else in float32.
            sizes, rank: as above.
            padding_idx: the token whose row is set to zero before.
            sweeps: of alternating least squares, at most.

        Raises:
            ValueError: the sizes do not fit the weight.
        """
        table, kind = prepared(weight, padding_idx)
        checked_columns("sizes", checked_sizes("sizes", sizes), weight.shape[1])
        module = cls(len(weight), sizes, rank, padding_idx=padding_idx, **kind)
        return module._filled(canonical(table.view(-1, *module.sizes), module.rank, sweeps), table)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        return gathered(
            self._combined,
            [factor.flatten(1) for factor in self.factors],
            [tokens] * len(self.sizes),
            width=self.embedding_dim,
            peak=kronecker_peak(self.sizes, self.rank),
            dropped=dropped,
        )

    def _combined(self, rows: Sequence[torch.Tensor]) -> torch.Tensor:
        return summed_products([row.unflatten(1, (self.rank, -1)) for row in rows])

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        # as many rows at a time as there are tokens, or as the parameters would make
        parameters = sum(factor.numel() for factor in self.factors)
        block = max(1, len(hidden) + parameters // self.embedding_dim)
        block = max(1, block * self.embedding_dim // kronecker_peak(self.sizes, self.rank))
        if block >= self.num_embeddings:
            return _block_scores(hidden, *self.factors)
        blocks = zip(*(factor.split(block) for factor in self.factors), strict=True)
        return torch.cat([again(_block_scores, hidden, *factors) for factors in blocks], -1)

    def _table(self) -> torch.Tensor:
        table = self.factors[0]
        for factor in self.factors[1:]:
            table = torch.einsum("nra,nrb->nrab", table, factor).flatten(2)
        return table.sum(1)

    def _spread(self) -> float:
        return (self.σ**2 / self.rank) ** (0.5 / len(self.sizes))

    def _sizes(self) -> str:
        return f"sizes={self.sizes}, rank={self.rank}"


def summed_products(factors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return sums over the rank of tensor products, one for each token.

    Args:
        factors: each (T, r, q_j).

    Returns:
        (T, q_1 ⋯ q_k): the products of the first and of the last factors meet in one batched
        matrix product, which also sums over the rank.
    """
    if len(factors) == 1:
        return factors[0].sum(1)
    split = _split([factor.shape[2] for factor in factors])
    left, right = tensor_product(factors[:split]), tensor_product(factors[split:])
    return torch.bmm(left.transpose(1, 2), right).flatten(1)


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


def _block_scores(hidden: torch.Tensor, *factors: torch.Tensor) -> torch.Tensor:
    return hidden @ summed_products(factors).T
