"""A table in the tensor-train format: each token a product of small matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, pairwise, product
from operator import mul
from typing import Any, Self, Unpack

import torch
from torch import nn

from .base import FromDense, Options
from .decompositions import tensor_train
from .digits import DigitEmbedding, digits
from .gathering import gathered, in_pieces
from .shapes import checked_grid, whole
from .tensor_product import into

Tree = int | tuple["Tree", "Tree"]


class TensorTrainEmbedding(DigitEmbedding):
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
        options: ``padding_idx``, ``σ``, ``generator``, ``device`` and ``dtype`` as in
            `FactorisedEmbedding`; the parameters are ``cores[j]`` (r_{j-1}, n_j, q_j, r_j),
            r_0 = r_k = 1.

    Raises:
        ValueError: an argument is out of range, or sizes do not fit.

    Example:
        >>> table = TensorTrainEmbedding((10, 10, 10), (4, 4, 4), 4)
        >>> sum(p.numel() for p in table.parameters()), tuple(table(torch.tensor([3, 5])).shape)
        (960, (2, 64))
    """

    cores: nn.ParameterList

    def __init__(
        self,
        row_sizes: Sequence[int],
        column_sizes: Sequence[int],
        ranks: int | Sequence[int],
        *,
        num_embeddings: int | None = None,
        embedding_dim: int | None = None,
        **options: Unpack[Options],
    ) -> None:
        rows, columns, n, d = checked_grid(row_sizes, column_sizes, num_embeddings, embedding_dim)
        inner = _checked_ranks(ranks, len(rows), max(n, d))
        ends = (1, *inner, 1)
        shapes: Any = {"cores": [*zip(ends, rows, columns, ends[1:], strict=False)]}
        super().__init__(n, d, shapes, terms=math.prod(inner), **options)
        self.row_sizes, self.column_sizes, self.ranks = rows, columns, inner

    @classmethod
    def from_dense(
        cls,
        weight: torch.Tensor | nn.Embedding,
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
            weight: (n, d), or an embedding; the module has its dtype and device. The decomposition
                runs in float64 where the weight is float64, else in float32.
            row_sizes, column_sizes, ranks: as above; ranks beyond what the table has are filled up
                with zeros.
            padding_idx: the token whose row is set to zero before; the embedding's by default.

        Raises:
            ValueError: the sizes do not fit the weight.
        """
        module, table, tensor = cls._like(weight, padding_idx, row_sizes, column_sizes, ranks)
        return module._filled(tensor_train(tensor, module.ranks), table)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        # digits that few tokens differ in are multiplied out once for all of them
        groups = _groups(self.row_sizes, self.column_sizes, self.ranks, len(tokens))
        dtype = self.cores[0].dtype  # under autocast too
        cores = [_multiplied([self.cores[j] for j in group]).to(dtype) for group in groups]
        _, rows, columns, after = zip(*(core.shape for core in cores), strict=True)
        ends = (1, *after)
        _, _, peak, tree = _tree(columns, ends)

        def combined(
            found: Sequence[torch.Tensor], out: torch.Tensor | None = None
        ) -> torch.Tensor:
            return _merged(tree, found, ends, out).flatten(1)

        return gathered(
            combined,
            [core.transpose(0, 1).flatten(1) for core in cores],
            digits(tokens, rows, self.num_embeddings),
            width=self.embedding_dim,
            peak=peak,
            dropped=dropped,
        )

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        forward, backward = self._marches()
        function = _from_left if forward <= backward else _from_right
        width = max(math.prod(self.row_sizes), self.embedding_dim)
        peak = min(forward, backward)[1]
        logits = in_pieces(function, hidden, *self.cores, width=width, peak=peak)
        return logits[:, : self.num_embeddings]

    def _score_work(self) -> tuple[int, int]:
        work, _, made = min(self._marches())
        return work, made

    def _marches(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        shapes = tuple(tuple(core.shape) for core in self.cores)
        return _march(shapes), _march(tuple((s, n, q, r) for r, n, q, s in reversed(shapes)))

    @staticmethod
    def _rows(factors: Sequence[torch.Tensor]) -> torch.Tensor:
        table = _multiplied(factors)[0, ..., 0]
        return table.clone() if len(factors) == 1 else table

    def _row_work(self) -> int:
        return _work_of_all(self.row_sizes, self.column_sizes, (1, *self.ranks, 1))

    def _sizes(self, n: int) -> dict[str, Any]:
        return super()._sizes(n) | {"ranks": self.ranks}


def _checked_ranks(ranks: int | Sequence[int], k: int, most: int) -> tuple[int, ...]:
    several = isinstance(ranks, Iterable)
    given = ranks if isinstance(ranks, Iterable) else [ranks] * max(1, k - 1)
    found = tuple(whole("ranks", rank) for rank in given)
    fits = all(rank > 0 for rank in found) and all(rank <= most for rank in found[: k - 1])
    if not fits or (several and len(found) != k - 1):
        accepted = f"1 to {most}, or {k - 1} of them for {k} cores"
        raise ValueError(f"ranks: got {ranks}; accepted: {accepted}")
    return found[: k - 1]


def _multiplied(cores: Sequence[torch.Tensor]) -> torch.Tensor:
    """Neighbouring cores as one, whose digit is that of all of them."""
    made = cores[0]
    for core in cores[1:]:
        made = torch.einsum("zabr,rcds->zacbds", made, core).flatten(3, 4).flatten(1, 2)
    return made


def _work_of_all(rows: Sequence[int], columns: Sequence[int], ends: Sequence[int]) -> int:
    """Multiplications of `_multiplied` for cores of these sizes."""
    n, q = accumulate(rows, mul), accumulate(columns, mul)
    made = [ends[0] * a * b * s for a, b, s in zip(n, q, ends[1:], strict=True)]
    return sum(r * size for r, size in zip(ends[1:], made[1:], strict=False))


@cache
def _groups(
    rows: tuple[int, ...], columns: tuple[int, ...], ranks: tuple[int, ...], tokens: int
) -> tuple[tuple[int, ...], ...]:
    """Which neighbouring cores to multiply out for all digits, before tokens are looked up.

    Only those that have fewer digits than there are tokens, and make no more numbers than four
    times what is asked for; of those the least multiplications.
    """
    ends = (1, *ranks, 1)
    width = math.prod(columns)

    def work(groups: tuple[tuple[int, ...], ...]) -> float:
        spent, lengths, after = 0, list[int](), [1]
        for group in groups:
            n, q, r = (tuple(sizes[j] for j in group) for sizes in (rows, columns, ends))
            s, digit = ends[group[-1] + 1], math.prod(n)
            size = digit * math.prod(q) * r[0] * s
            if len(group) > 1 and (digit > tokens or size > 4 * tokens * width):
                return math.inf
            spent += _work_of_all(n, q, (*r, s))
            lengths, after = [*lengths, math.prod(q)], [*after, s]
        return spent + tokens * _tree(tuple(lengths), tuple(after))[0]

    k = len(rows)
    cuts = [[j for j in range(1, k) if keep[j - 1]] for keep in product((1, 0), repeat=k - 1)]
    ways = [tuple(tuple(range(a, b)) for a, b in pairwise([0, *cut, k])) for cut in cuts]
    return min(ways, key=work)


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


def _merged(
    tree: Tree, rows: Sequence[torch.Tensor], ends: Sequence[int], out: torch.Tensor | None = None
) -> torch.Tensor:
    """The product (T, r_left, length, r_right) of the tokens' matrices under a tree."""
    if isinstance(tree, int):
        row = rows[tree].unflatten(1, (ends[tree], -1, ends[tree + 1]))
        return row if out is None else out.view(row.shape).copy_(row)
    # under autocast a product has another dtype, which `out` has not
    left, right = (_merged(branch, rows, ends).to(rows[0].dtype) for branch in tree)
    one, other = left.flatten(1, 2), right.flatten(2)
    product = torch.bmm(one, other, out=into(out, one, other))
    return product.view(len(product), left.shape[1], -1, right.shape[3])


def _march(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, int, int]:
    """Scores from the left: multiplications, largest intermediate and all numbers, per state."""
    size = peak = math.prod(q for _, _, q, _ in shapes)
    cost = made = 0
    for left, n, q, right in shapes:
        cost += size * n * right
        size = size // (left * q) * n * right
        peak, made = max(peak, size), made + size
    return cost, peak, made


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
