"""A small table to compress, and tables of fewer numbers: cut, fitted, of products."""

from __future__ import annotations

import torch

from ....models.factorised import LowRankEmbedding
from ....models.factorised.products import tensor_product
from ..costs.sequence_layers import random


def decaying_table(
    n: int = 60, d: int = 24, name: str = "trained", *, power: float = 1.5
) -> torch.Tensor:
    """Draw a table whose singular values fall off by a power, (n, d), float64.

    Args:
        n: tokens.
        d: width.
        name: seed of the draw.
        power: the i-th singular value is near i to the minus this.
    """
    spread = torch.arange(1, d + 1, dtype=torch.float64) ** -power
    rotation: torch.Tensor = torch.linalg.qr(random(d, d))[0]
    return random(n, d, name=name) * spread @ rotation


def thin(codes: torch.Tensor, basis: torch.Tensor) -> LowRankEmbedding:
    """Return the layer of two thin matrices, (n, r) and (r, d)."""
    (n, r), d = codes.shape, basis.shape[1]
    layer = LowRankEmbedding(n, d, r, dtype=codes.dtype)
    with torch.no_grad():
        layer.codes.copy_(codes)
        layer.basis.copy_(basis)
    return layer


def cut(table: torch.Tensor, rank: int) -> LowRankEmbedding:
    """Return the nearest layer of two thin matrices (Eckart and Young 1936)."""
    return LowRankEmbedding.from_dense(table, rank)[0]


def distilled(rows: torch.Tensor, rank: int = 6, rounds: int = 200) -> LowRankEmbedding:
    """Fit two thin matrices to the rows that a teacher gives out, by alternating least squares.

    Args:
        rows: (n, d).
        rank: r.
        rounds: how often each matrix is solved for.
    """
    B = random(rank, rows.shape[1], name="start")
    for _ in range(rounds):
        A = torch.linalg.lstsq(B.T, rows.T).solution.T
        B = torch.linalg.lstsq(A, rows).solution
    return thin(A, B)


def nearest_products(table: torch.Tensor, length: int) -> torch.Tensor:
    """Return each row's nearest tensor product of two vectors, the first of that length."""
    U, S, Vh = torch.linalg.svd(table.reshape(len(table), length, -1))
    return S[:, :1] * tensor_product([U[:, :, 0], Vh[:, 0]])


def highest_unfolding_rank(vector: torch.Tensor, length: int, count: int) -> int:
    """Return the highest rank among the unfoldings of a vector folded into a cube.

    Args:
        vector: (length**count,).
        length: side of the cube.
        count: how many sides.
    """
    tensor = vector.reshape((length,) * count)
    unfolded = (tensor.movedim(side, 0).reshape(length, -1) for side in range(count))
    return max(int(torch.linalg.matrix_rank(matrix)) for matrix in unfolded)


def relative_distance(table: torch.Tensor, other: torch.Tensor) -> float:
    """Return |table - other| / |table|, in the Frobenius norm."""
    return (torch.linalg.norm(table - other) / torch.linalg.norm(table)).item()


def share_explained(student: torch.Tensor, teacher: torch.Tensor) -> float:
    """Return the share of a table's squared entries that another explains, both (n, d)."""
    return 1 - relative_distance(teacher, student) ** 2


def share_after_any_matrix(student: torch.Tensor, teacher: torch.Tensor) -> float:
    """Return the share that a table explains with the best matrix behind it, both (n, d).

    Args:
        student: whose rows a matrix may turn, stretch and mix.
        teacher: the table to be explained.

    Source: least squares; a random table of n rows explains d / n on average.

    Example:
        >>> table = torch.eye(4)[:, :2]
        >>> share_after_any_matrix(table.flip(1) * 3, table)
        1.0
    """
    return share_explained(student @ torch.linalg.lstsq(student, teacher).solution, teacher)


def products_of(n: int, length: int, count: int) -> torch.Tensor:
    """Return a table of tensor products: each token draws its own factors.

    Args:
        n: tokens.
        length: of a factor.
        count: factors of a token.

    Returns:
        (n, length**count), float64.
    """
    return tensor_product([random(n, length, name=f"factor {i}") for i in range(count)])
