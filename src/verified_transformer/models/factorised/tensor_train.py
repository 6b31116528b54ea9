"""A table in the tensor-train format: each token a product of small matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Self

import torch
from torch import nn

from .base import FactorisedEmbedding, FromDense, prepared
from .decompositions import rearranged, tensor_train
from .gathering import digits, gathered, in_pieces
from .kronecker import checked_pair
from .shapes import checked_columns, checked_rows, whole

Tree = int | tuple["Tree", "Tree"]


class TensorTrainEmbedding(FactorisedEmbedding):
    """The row of token i is $G_1[i_1]\\,G_2[i_2]\\cdots G_k[i_k]$ (Oseledets 2011; Khrulkov et al.
    2020, "Tensorized embedding layers").

    $G_j[i_j]$ is a matrix of $r_{j-1}$ by $r_j$ whose entries are vectors of length $q_j$; their
    products are tensor products.

    Args:
        row_sizes: numbers of rows n_1, …, n_k; a token is the number with these digits i_j, the
            first the most significant.
        column_sizes: lengths q_1, …, q_k; their product is d.
        ranks: the inner ranks r_1, …, r_{k-1}, or one number for all of them.
        num_embeddings: number of tokens n; by default, and at most, the product of ``row_sizes``.
        embedding_dim: if given, what the product of ``column_sizes`` must equal.
        padding_idx: the token whose row is zero and takes no gradient; from the end if negative.
        σ: standard deviation of every entry of the table at the start.
        generator: source of the entries.
        device, dtype: of the parameters ``cores[j]`` (r_{j-1}, n_j, q_j, r_j), r_0 = r_k = 1.

    Raises:
        ValueError: an argument is out of range, or sizes do not fit.

    Example:
        >>> table = TensorTrainEmbedding((10, 10, 10), (4, 4, 4), 4)
        >>> sum(p.numel() for p in table.parameters()), tuple(table(torch.tensor([3, 5])).shape)
        (960, (2, 64))
    """

    def __init__(
        self,
        row_sizes: Sequence[int],
        column_sizes: Sequence[int],
        ranks: int | Sequence[int],
        *,
        num_embeddings: int | None = None,
        embedding_dim: int | None = None,
        padding_idx: int | None = None,
        σ: float = 1.0,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        rows, columns = checked_pair(row_sizes, column_sizes)
        n = checked_rows(rows, num_embeddings)
        d = checked_columns("column_sizes", columns, embedding_dim)
        super().__init__(n, d, padding_idx=padding_idx, σ=σ)
        self.row_sizes, self.column_sizes = rows, columns
        self.ranks = _checked_ranks(ranks, len(rows))
        ends = (1, *self.ranks, 1)
        self.cores = nn.ParameterList(
            torch.empty(ends[j], rows[j], columns[j], ends[j + 1], device=device, dtype=dtype)
            for j in range(len(rows))
        )
        self.reset_parameters(generator)

    @classmethod
    def from_dense(
        cls,
        weight: torch.Tensor,
        row_sizes: Sequence[int],
        column_sizes: Sequence[int],
        ranks: int | Sequence[int],
        *,
        padding_idx: int | None = None,
    ) -> FromDense[Self]:
        """Factorise a table by successive singular value decompositions (Oseledets 2011, TT-SVD).

        The squared error is at most the sum, over the k - 1 cuts, of the squared singular values
        dropped there, hence the error at most sqrt(k - 1) times the least that is possible: best
        for two cores, quasi-optimal for more. Where the row sizes make more rows than the weight
        has, those are zeros to be met like the others, and so is the row of ``padding_idx``, though
        the module makes it zero anyway: the least is that of the table with these zeros.

        Args:
            weight: (n, d); the module has its dtype and device. The decomposition runs in float64
                where the weight is float64, else in float32.
            row_sizes, column_sizes, ranks: as above; ranks beyond what the table has are filled up
                with zeros.
            padding_idx: the token whose row is set to zero before.

        Raises:
            ValueError: the sizes do not fit the weight.
        """
        table, kind = prepared(weight, padding_idx)
        n, d = weight.shape
        module = cls(
            row_sizes, column_sizes, ranks,
            num_embeddings=n, embedding_dim=d, padding_idx=padding_idx, **kind,
        )  # fmt: skip
        tensor = rearranged(table, module.row_sizes, module.column_sizes)
        found = tensor_train(tensor, module.ranks)
        shapes = [core.shape for core in module.cores]
        return module._filled([f.reshape(s) for f, s in zip(found, shapes, strict=True)], table)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        _, _, peak, tree = _tree(self.column_sizes, (1, *self.ranks, 1))

        def combined(rows: Sequence[torch.Tensor]) -> torch.Tensor:
            return _merged(tree, rows, (1, *self.ranks, 1)).flatten(1)

        return gathered(
            combined,
            [core.transpose(0, 1).flatten(1) for core in self.cores],
            digits(tokens, self.row_sizes, self.num_embeddings),
            width=self.embedding_dim,
            peak=peak,
            dropped=dropped,
        )

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        shapes = tuple(tuple(core.shape) for core in self.cores)
        forward = _march(shapes)
        backward = _march(tuple((s, n, q, r) for r, n, q, s in reversed(shapes)))
        function = _from_left if forward <= backward else _from_right
        width = max(math.prod(self.row_sizes), self.embedding_dim)
        peak = min(forward, backward)[1]
        logits = in_pieces(function, hidden, *self.cores, width=width, peak=peak)
        return logits[:, : self.num_embeddings]

    def _table(self) -> torch.Tensor:
        table = self.cores[0][0]
        for core in self.cores[1:]:
            table = torch.einsum("abr,rcds->acbds", table, core).flatten(2, 3).flatten(0, 1)
        return table[..., 0].clone() if len(self.cores) == 1 else table[..., 0]

    def _spread(self) -> float:
        return (self.σ**2 / math.prod(self.ranks)) ** (0.5 / len(self.row_sizes))

    def _sizes(self) -> str:
        return f"row_sizes={self.row_sizes}, column_sizes={self.column_sizes}, ranks={self.ranks}"


def _checked_ranks(ranks: int | Sequence[int], k: int) -> tuple[int, ...]:
    several = isinstance(ranks, Iterable)
    given = ranks if isinstance(ranks, Iterable) else [ranks] * max(1, k - 1)
    found = tuple(whole("ranks", rank) for rank in given)
    if any(rank < 1 for rank in found) or (several and len(found) != k - 1):
        raise ValueError(
            f"ranks: got {ranks}; accepted: a positive number, or {k - 1} of them for {k} cores"
        )
    return found[: k - 1]


@cache
def _tree(columns: tuple[int, ...], ends: tuple[int, ...]) -> tuple[int, int, int, Tree]:
    """The cheapest order in which a token's matrices multiply.

    Returns:
        Multiplications, the length of the product's vectors, the largest intermediate (both per
        token) and the order, as a tree whose leaves are cores.
    """

    def best(first: int, last: int) -> tuple[int, int, int, Tree]:
        if last - first == 1:
            return 0, columns[first], ends[first] * columns[first] * ends[last], first
        found = []
        for cut in range(first + 1, last):
            (cost, a, peak, left), (more, b, other, right) = chosen[first, cut], chosen[cut, last]
            size = ends[first] * a * b * ends[last]
            peaks = max(peak, other, size)
            found.append((cost + more + size * ends[cut], a * b, peaks, (left, right)))
        return min(found, key=lambda way: way[0])

    chosen: dict[tuple[int, int], tuple[int, int, int, Tree]] = {}
    for length in range(1, len(columns) + 1):
        for first in range(len(columns) - length + 1):
            chosen[first, first + length] = best(first, first + length)
    return chosen[0, len(columns)]


def _merged(tree: Tree, rows: Sequence[torch.Tensor], ends: Sequence[int]) -> torch.Tensor:
    """The product (T, r_left, length, r_right) of the tokens' matrices under a tree."""
    if isinstance(tree, int):
        return rows[tree].unflatten(1, (ends[tree], -1, ends[tree + 1]))
    left, right = (_merged(branch, rows, ends) for branch in tree)
    product = torch.bmm(left.flatten(1, 2), right.flatten(2))
    return product.view(len(product), left.shape[1], -1, right.shape[3])


def _march(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, int]:
    """Multiplications and largest intermediate, per hidden state, of `attend` from the left."""
    size = peak = math.prod(q for _, _, q, _ in shapes)
    cost = 0
    for left, n, q, right in shapes:
        cost += size * n * right
        size = size // (left * q) * n * right
        peak = max(peak, size)
    return cost, peak


def _from_left(hidden: torch.Tensor, *cores: torch.Tensor) -> torch.Tensor:
    """Hidden states (T, d) against all rows, the first core first: (T, n_1 ⋯ n_k)."""
    x = hidden[:, None]
    for core in cores:  # x: (T, rows so far, r q (what is left of d))
        left, _, q, _ = core.shape
        x = x.unflatten(2, (left, q, -1))
        x = torch.einsum("tarqz,rmqs->tamsz", x, core).flatten(1, 2).flatten(2)
    return x[:, :, 0]


def _from_right(hidden: torch.Tensor, *cores: torch.Tensor) -> torch.Tensor:
    """Hidden states (T, d) against all rows, the last core first: (T, n_1 ⋯ n_k)."""
    x = hidden[:, :, None]
    for core in reversed(cores):  # x: (T, (what is left of d) q r, rows so far)
        _, _, q, right = core.shape
        x = x.unflatten(1, (-1, q, right))
        x = torch.einsum("tzqsa,rmqs->tzrma", x, core).flatten(3).flatten(1, 2)
    return x[:, 0]
