"""Statements on Kronecker products and rearrangements, each a predicate of what does the work.

A check gives it the right way and a wrong one: `blocks_as_rows` and `pieces_as_rows`, say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from ....models.factorised.decompositions import rearranged
from ....models.factorised.products import tensor_product
from . import rearranging, trains
from .exact import exact_rank, identity, integers, normals
from .random_tables import first_gain

Move = Callable[[torch.Tensor, Sequence[int], Sequence[int]], torch.Tensor]
Cut = tuple[tuple[int, int], tuple[int, int]]


def row_by_row(*factors: torch.Tensor) -> torch.Tensor:
    """Return the table whose rows are the tensor products of the same rows of the factors."""
    return tensor_product(factors)


def has_products_of_values(product: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> bool:
    """Whether the singular values of a product are all products of one of A's and one of B's.

    Args:
        product: of two matrices with as many rows; `torch.kron` is right.
    """
    A, B = (integers(name, 6, columns).double() for name, columns in (("A", 4), ("B", 5)))
    values = torch.outer(torch.linalg.svdvals(A), torch.linalg.svdvals(B)).flatten()
    found = torch.linalg.svdvals(product(A, B))
    return torch.allclose(found, values.sort(descending=True).values[: len(found)], rtol=1e-10)


def have_full_rank(sizes: Sequence[tuple[int, Sequence[int]]], shared: bool) -> bool:
    """Whether tables whose rows are products of random integer vectors have full rank, exactly.

    Args:
        sizes: pairs of the number of rows and the lengths of the vectors.
        shared: whether all rows have the last vector in common.
    """
    for tokens, lengths in sizes:
        own = [integers(f"{tokens} {lengths} {j}", tokens, q) for j, q in enumerate(lengths)]
        own[-1] = own[-1][:1].expand(tokens, -1) if shared else own[-1]
        if exact_rank(tensor_product(own)) != min(tokens, math.prod(lengths)):
            return False
    return True


def products_of_units(lengths: Sequence[int]) -> torch.Tensor:
    """Return the table whose rows are all products of unit vectors of these lengths."""
    chosen = np.unravel_index(range(math.prod(lengths)), tuple(lengths))
    return tensor_product([identity(q)[c] for q, c in zip(lengths, chosen, strict=True)])


def becomes_rank_one(move: Move) -> bool:
    """Whether a rearrangement turns A (x) B into vec A vec B^T, and moves each entry to one place.

    Args:
        move: a function of table, rows and columns.
    """
    for rows, columns in (((3, 4), (2, 5)), ((5, 2), (3, 3))):
        A, B = (integers(f"{rows} {j}", rows[j], columns[j]) for j in (0, 1))
        moved = move(torch.kron(A, B), rows, columns)
        places = torch.arange(moved.numel())
        kept = move(places.reshape(math.prod(rows), -1), rows, columns).flatten().sort().values
        if not torch.equal(moved, torch.outer(A.flatten(), B.flatten())):
            return False
        if not torch.equal(kept, places):
            return False
    return True


def turns_outer_into_kronecker(move: Move) -> bool:
    """Whether a rearrangement turns u v^T into the Kronecker product of u and v as matrices."""
    U, V = integers("U", 3, 4), integers("V", 2, 5)
    moved = move(torch.outer(U.flatten(), V.flatten()), tuple(U.shape), tuple(V.shape))
    return torch.equal(moved, torch.kron(U, V))


def are_extremes(vector: Callable[[int, int], torch.Tensor]) -> bool:
    """Whether rank 1 and the largest rank change places when a table is rearranged, in two cuts.

    Args:
        vector: a function of two sizes that returns a vector of their product's length.
    """
    for (n1, n2), (q1, q2) in (((4, 4), (3, 3)), ((4, 2), (2, 4))):
        outer = torch.outer(vector(n1, n2), integers("v", q1 * q2))
        crossed = torch.kron(integers("A", n1, q1), integers("B", n2, q2))
        cut = [rearranging.blocks_as_rows(W, (n1, n2), (q1, q2)) for W in (outer, crossed)]
        ranks = [*map(exact_rank, (outer, cut[0], crossed, cut[1]))]
        if ranks != [1, min(n1, n2) * min(q1, q2), min(n1, q1) * min(n2, q2), 1]:
            return False
    return True


def unfolds_to_rearranged(tensor_of: Move) -> bool:
    """Whether the unfolding of a table's tensor at its one cut is the rearranged table."""
    W = integers("to be cut", 12, 10)
    return all(
        torch.equal(
            tensor_of(W, rows, columns).reshape(rows[0] * columns[0], -1),
            rearranging.blocks_as_rows(W, rows, columns),
        )
        for rows, columns in (((3, 4), (2, 5)), ((6, 2), (5, 2)))
    )


def is_nearest(fit: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> bool:
    """Whether the error of a fit is the tail of squared singular values, which rivals only reach.

    Args:
        fit: a function of table, rows, columns and rank, such as `nearest_products`.
    """
    rows, columns, W = (3, 4), (2, 5), normals("target", 12, 10)
    error_of, rival = rearranging.squared_error, rearranging.alternating_products
    for rank in (1, 2, 3):
        error = error_of(W, *fit(W, rows, columns, rank))
        tail = torch.linalg.svdvals(rearranged(W, rows, columns))[rank:].pow(2).sum().item()
        starts = [rival(W, rows, columns, rank, name=f"start {s}") for s in range(4)]
        best = min(error_of(W, *found) for found in starts)
        if abs(error / tail - 1) >= 1e-9 or abs(best / tail - 1) >= 1e-9:
            return False
    return True


def is_between_tails(
    fit: Callable[[torch.Tensor, Sequence[int]], trains.Cores],
    targets: Sequence[tuple[torch.Tensor, Sequence[int]]],
) -> bool:
    """Whether trains err by no less than the largest cut's tail and no more than all tails.

    Of three cores, the best train is refitted from the fit; it lies between as well.

    Args:
        fit: a function of tensor and ranks that returns cores.
        targets: pairs of tensor and ranks.
    """
    near = 1e-9
    for T, ranks in targets:
        cut, cores = trains.tails(T, ranks), fit(T, ranks)
        error = trains.squared_train_error(T, cores)
        if not max(cut) * (1 - near) <= error <= sum(cut) * (1 + near):
            return False
        if T.ndim == 3:
            best = trains.refitted_error(T, cores)
            if not max(cut) * (1 - near) <= best <= error * (1 + near):
                return False
    return True


def square_cut_gains_most(families: Sequence[torch.Tensor], cuts: Sequence[Cut]) -> bool:
    """Whether the first term's mean gain is as predicted to 5 %, and falls from cut to cut.

    Args:
        families: tables of one law each, (tables, n, d).
        cuts: rows and columns of each, the squarest first.
    """
    for tables in families:
        gains = np.array([[first_gain(W, *cut) for cut in cuts] for W in tables]).mean(0)
        if (np.abs(gains[:, 0] / gains[:, 1] - 1) >= 0.05).any() or (
            np.diff(gains[:, 0]) >= 0
        ).any():
            return False
    return True
