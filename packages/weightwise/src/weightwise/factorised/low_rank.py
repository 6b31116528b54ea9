"""A table of low rank: short codes, and one map from codes to embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, Unpack

import torch
import torch.nn.functional as F
from torch import nn

from .base import FactorisedEmbedding, FromDense, Options, prepared
from .decompositions import truncated_svd
from .shapes import checked_rank


class LowRankEmbedding(FactorisedEmbedding):
    """The table is ``codes @ basis`` (Lan et al. 2020, ALBERT: "factorized embedding").

    Args:
        num_embeddings: number of tokens n.
        embedding_dim: length d of an embedding.
        rank: length r of a code; r (n + d) parameters in place of n d.
        options: ``padding_idx``, ``σ``, ``generator``, ``device`` and ``dtype`` as in
            `FactorisedEmbedding`; the parameters are ``codes`` (n, r) and ``basis`` (r, d).

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> table = LowRankEmbedding(1000, 64, 8)
        >>> sum(p.numel() for p in table.parameters()), tuple(table(torch.tensor([3, 5])).shape)
        (8512, (2, 64))
    """

    codes: nn.Parameter
    basis: nn.Parameter

    def __init__(
        self, num_embeddings: int, embedding_dim: int, rank: int, **options: Unpack[Options]
    ) -> None:
        r = checked_rank(rank, num_embeddings, embedding_dim)
        shapes: Any = {"codes": (num_embeddings, r), "basis": (r, embedding_dim)}
        super().__init__(num_embeddings, embedding_dim, shapes, terms=r, **options)
        self.rank = r

    @classmethod
    def from_dense(
        cls, weight: torch.Tensor | nn.Embedding, rank: int, *, padding_idx: int | None = None
    ) -> FromDense[Self]:
        """Factorise a table by its truncated singular value decomposition.

        No other table of this rank is closer in the Frobenius norm (Eckart and Young 1936); the
        error is the norm of the singular values that are dropped.

        Args:
            weight: (n, d), or an embedding; the module has its dtype and device. The decomposition
                runs in float64 where the weight is float64, else in float32.
            rank: as above; more than min(n, d) is filled up with zeros.
            padding_idx: the token whose row is set to zero before; the embedding's by default.
        """
        table, options = prepared(weight, padding_idx)
        n, d = table.shape
        module = cls(n, d, rank, **options)
        return module._filled(truncated_svd(table, module.rank), table)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        codes = F.embedding(tokens, self.codes)
        codes = codes if dropped is None else codes.masked_fill(dropped[:, None], 0)
        # under autocast too, embeddings have the table's dtype, as those of `nn.Embedding`
        return (codes @ self.basis).to(self.basis.dtype)

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden @ self.basis.T @ self.codes.T

    def _score_work(self) -> tuple[int, int]:
        n, d, r = self.num_embeddings, self.embedding_dim, self.rank
        return r * (n + d), r + n

    @staticmethod
    def _rows(factors: Sequence[torch.Tensor]) -> torch.Tensor:
        codes, basis = factors
        return codes @ basis

    def _row_work(self) -> int:
        return self.num_embeddings * self.embedding_dim * self.rank

    @staticmethod
    def _part(factors: Sequence[torch.Tensor], first: int, last: int) -> list[torch.Tensor]:
        codes, basis = factors
        return [codes[first:last], basis]

    def _sizes(self, n: int) -> dict[str, Any]:
        return {"num_embeddings": n, "embedding_dim": self.embedding_dim, "rank": self.rank}
