"""A table of low rank: short codes, and one map from codes to embeddings."""

from __future__ import annotations

from typing import Self

import torch
import torch.nn.functional as F
from torch import nn

from .base import FactorisedEmbedding, FromDense, prepared
from .decompositions import truncated_svd
from .shapes import checked_rank


class LowRankEmbedding(FactorisedEmbedding):
    """The table is ``codes @ basis`` (Lan et al. 2020, ALBERT: "factorized embedding").

    Args:
        num_embeddings: number of tokens n.
        embedding_dim: length d of an embedding.
        rank: length r of a code; r (n + d) parameters in place of n d.
        padding_idx: the token whose row is zero and takes no gradient; from the end if negative.
        σ: standard deviation of every entry of the table at the start.
        generator: source of the entries.
        device, dtype: of the parameters ``codes`` (n, r) and ``basis`` (r, d).

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> table = LowRankEmbedding(1000, 64, 8)
        >>> sum(p.numel() for p in table.parameters()), tuple(table(torch.tensor([3, 5])).shape)
        (8512, (2, 64))
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        rank: int,
        *,
        padding_idx: int | None = None,
        σ: float = 1.0,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx=padding_idx, σ=σ)
        self.rank = checked_rank(rank)
        self.codes = nn.Parameter(
            torch.empty(num_embeddings, self.rank, device=device, dtype=dtype)
        )
        self.basis = nn.Parameter(torch.empty(self.rank, embedding_dim, device=device, dtype=dtype))
        self.reset_parameters(generator)

    @classmethod
    def from_dense(
        cls, weight: torch.Tensor, rank: int, *, padding_idx: int | None = None
    ) -> FromDense[Self]:
        """Factorise a table by its truncated singular value decomposition.

        No other table of this rank is closer in the Frobenius norm (Eckart and Young 1936); the
        error is the norm of the singular values that are dropped.

        Args:
            weight: (n, d); the module has its dtype and device. The decomposition runs in float64
                where the weight is float64, else in float32.
            rank: as above; more than min(n, d) is filled up with zeros.
            padding_idx: the token whose row is set to zero before.
        """
        table, kind = prepared(weight, padding_idx)
        n, d = weight.shape
        module = cls(n, d, rank, padding_idx=padding_idx, **kind)
        return module._filled(truncated_svd(table, module.rank), table)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        codes = F.embedding(tokens, self.codes)
        codes = codes if dropped is None else codes.masked_fill(dropped[:, None], 0)
        # under autocast too, embeddings have the table's dtype, as those of `nn.Embedding`
        return (codes @ self.basis).to(self.basis.dtype)

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden @ self.basis.T @ self.codes.T

    def _table(self) -> torch.Tensor:
        return self.codes @ self.basis

    def _spread(self) -> float:
        return (self.σ**2 / self.rank) ** 0.25

    def _sizes(self) -> str:
        return f"rank={self.rank}"
