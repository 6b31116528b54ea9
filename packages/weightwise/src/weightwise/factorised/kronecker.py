"""A table that is a sum of Kronecker products of small tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Self, Unpack

import torch
from torch import nn

from .base import FromDense, Options
from .decompositions import canonical
from .digits import DigitEmbedding, digits
from .gathering import gathered, in_pieces
from .shapes import checked_grid, checked_rank
from .tensor_product import kronecker_peak, summed_rows


class KroneckerEmbedding(DigitEmbedding):
    """The table is $\\sum_{a} F_1^{(a)}\\otimes\\cdots\\otimes F_k^{(a)}$, its first n rows
    (Panahi et al. 2020, word2ketXS).

    Args:
        row_sizes: numbers of rows n_1, …, n_k of the factors; a token is the number whose digits
            in these radices, the first the most significant, are the factors' rows.
        column_sizes: lengths q_1, …, q_k of those rows; their product is d.
        rank: number of terms r; r (n_1 q_1 + … + n_k q_k) parameters in place of n d.
        num_embeddings: number of tokens n; by default, and at most, the product of ``row_sizes``.
        embedding_dim: if given, what the product of ``column_sizes`` must equal.
        options: ``padding_idx``, ``σ``, ``generator``, ``device`` and ``dtype`` as in
            `FactorisedEmbedding`; the parameters are ``factors[j]`` (r, n_j, q_j).

    Raises:
        ValueError: an argument is out of range, or sizes do not fit.

    Example:
        >>> table = KroneckerEmbedding((10, 100), (8, 8), 2)
        >>> sum(p.numel() for p in table.parameters()), tuple(table(torch.tensor([3, 5])).shape)
        (1760, (2, 64))
    """

    factors: nn.ParameterList

    def __init__(
        self,
        row_sizes: Sequence[int],
        column_sizes: Sequence[int],
        rank: int = 1,
        *,
        num_embeddings: int | None = None,
        embedding_dim: int | None = None,
        **options: Unpack[Options],
    ) -> None:
        rows, columns, n, d = checked_grid(row_sizes, column_sizes, num_embeddings, embedding_dim)
        sizes = [a * b for a, b in zip(rows, columns, strict=True)]
        r = checked_rank(rank, n, d, math.prod(sizes) // min(sizes))
        shapes: Any = {"factors": [(r, *pair) for pair in zip(rows, columns, strict=True)]}
        super().__init__(n, d, shapes, terms=r, **options)
        self.row_sizes, self.column_sizes, self.rank = rows, columns, r

    @classmethod
    def from_dense(
        cls,
        weight: torch.Tensor | nn.Embedding,
        row_sizes: Sequence[int],
        column_sizes: Sequence[int],
        rank: int = 1,
        *,
        padding_idx: int | None = None,
        sweeps: int = 50,
    ) -> FromDense[Self]:
        """Factorise a table by the decomposition of its rearrangement.

        Put the entries into a tensor (n_1 q_1, …, n_k q_k): a sum of r Kronecker products becomes
        a tensor of rank r (Van Loan and Pitsianis 1993). Two factors: a truncated singular value
        decomposition, than which nothing is closer. More: alternating least squares, the best
        method known; no certificate says that the result is best. Where the row sizes make more
        rows than the weight has, those are zeros to be met like the others, and so is the row of
        ``padding_idx``: even two factors are then best for the table with these zeros only.

        Args:
            weight: (n, d), or an embedding; the module has its dtype and device. The decomposition
                runs in float64 where the weight is float64, else in float32.
            row_sizes, column_sizes, rank: as above.
            padding_idx: the token whose row is set to zero before; the embedding's by default.
            sweeps: of alternating least squares, at most.

        Raises:
            ValueError: the sizes do not fit the weight.
        """
        module, table, tensor = cls._like(weight, padding_idx, row_sizes, column_sizes, rank)
        return module._filled(canonical(tensor[None], module.rank, sweeps), table)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        return gathered(
            partial(summed_rows, self.rank),
            [factor.transpose(0, 1).flatten(1) for factor in self.factors],
            digits(tokens, self.row_sizes, self.num_embeddings),
            width=self.embedding_dim,
            peak=kronecker_peak(self.column_sizes, self.rank),
            dropped=dropped,
        )

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        order, _, peak, _ = _plan(self.row_sizes, self.column_sizes, self.rank)
        width = max(math.prod(self.row_sizes), self.embedding_dim)

        def contracted(part: torch.Tensor, *factors: torch.Tensor) -> torch.Tensor:
            return _contracted(part.unflatten(1, self.column_sizes), factors, order)

        logits = in_pieces(contracted, hidden, *self.factors, width=width, peak=peak)
        return logits[:, : self.num_embeddings]

    def _score_work(self) -> tuple[int, int]:
        _, work, _, made = _plan(self.row_sizes, self.column_sizes, self.rank)
        return work, made

    @staticmethod
    def _rows(factors: Sequence[torch.Tensor]) -> torch.Tensor:
        table = factors[0]
        for factor in factors[1:-1]:
            table = torch.einsum("rab,rcd->racbd", table, factor).flatten(3).flatten(1, 2)
        if len(factors) == 1:
            return table.sum(0)
        return torch.einsum("rab,rcd->acbd", table, factors[-1]).flatten(2).flatten(0, 1)

    def _row_work(self) -> int:
        return math.prod(self.row_sizes) * self.embedding_dim * self.rank

    def _sizes(self, n: int) -> dict[str, Any]:
        return super()._sizes(n) | {"rank": self.rank}


def _plan(
    rows: Sequence[int], columns: Sequence[int], rank: int
) -> tuple[list[int], int, int, int]:
    """The cheapest order of factors for `attend`.

    Factor j multiplies the size of what is left by n_j / q_j. Exchanging two neighbours in an
    order shows that the one with the larger 1/n_j - 1/q_j goes first.

    Returns:
        The order; per token, its multiplications, its largest intermediate, and all numbers that
        it makes.
    """
    order = sorted(range(len(rows)), key=lambda j: 1 / columns[j] - 1 / rows[j])
    size = peak = math.prod(columns)
    work = made = 0
    for j in order:
        work += rank * size * rows[j]
        size = size // columns[j] * rows[j]
        terms = 1 if j == order[-1] else rank
        peak, made = max(peak, rank * size if j != order[-1] else 0), made + terms * size
    return order, work, peak, made


def _contracted(
    x: torch.Tensor, factors: Sequence[torch.Tensor], order: Sequence[int]
) -> torch.Tensor:
    """Hidden states (T, q_1, …, q_k) against all rows: (T, n_1 ⋯ n_k)."""
    for step, j in enumerate(order):
        terms = "r" if step else ""  # the first step makes the axis of terms, the last sums it
        kept = "" if j == order[-1] else "r"
        x = x.movedim(j + 1 + bool(step), -1)
        x = torch.einsum(f"{terms}...q,rmq->{kept}...m", x, factors[j])
        x = x.movedim(-1, j + 1 + bool(kept))
    return x.flatten(1)
