"""Sums of Kronecker products as matrices of low rank: the blocks of a table as rows."""

from __future__ import annotations

import torch

from ....models.factorised.decompositions import rearranged
from .exact import normals

Pair = tuple[int, int]


def blocks_as_rows(table: torch.Tensor, rows: Pair, columns: Pair) -> torch.Tensor:
    """Return the rearrangement as it is told: each block, read row by row, is a row.

    Args:
        table: (n1 n2, q1 q2).
        rows: n1, n2.
        columns: q1, q2.

    Returns:
        (n1 q1, n2 q2).
    """
    (n1, n2), (q1, q2) = rows, columns
    blocks = [table[i * n2 :, j * q2 :][:n2, :q2] for i in range(n1) for j in range(q1)]
    return torch.stack([block.flatten() for block in blocks])


def pieces_as_rows(table: torch.Tensor, rows: Pair, columns: Pair) -> torch.Tensor:
    """Return the same shape, but the table's rows cut into pieces in the place of blocks."""
    return table.reshape(rows[0] * columns[0], rows[1] * columns[1])


def nearest_products(
    table: torch.Tensor, rows: Pair, columns: Pair, rank: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the factors of the nearest sum of Kronecker products (Van Loan and Pitsianis 1993).

    Args:
        table: (n1 n2, q1 q2).
        rows: n1, n2.
        columns: q1, q2.
        rank: how many products.

    Returns:
        (rank, n1, q1) and (rank, n2, q2).
    """
    left, values, right = torch.linalg.svd(rearranged(table, rows, columns), full_matrices=False)
    A = (left[:, :rank] * values[:rank]).mT.reshape(rank, rows[0], columns[0])
    return A, right[:rank].reshape(rank, rows[1], columns[1])


def alternating_products(
    table: torch.Tensor,
    rows: Pair,
    columns: Pair,
    rank: int,
    sweeps: int = 400,
    name: str = "start",
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same by least squares in one factor after the other; no singular values.

    Args:
        table, rows, columns, rank: see `nearest_products`.
        sweeps: how often each factor is solved for.
        name: of the random start.
    """
    blocks = rearranged(table, rows, columns)
    B = normals(name, rank, blocks.shape[1])
    for _ in range(sweeps):
        A = torch.linalg.solve(B @ B.mT, B @ blocks.mT)
        B = torch.linalg.solve(A @ A.mT, A @ blocks)
    return A.reshape(rank, rows[0], columns[0]), B.reshape(rank, rows[1], columns[1])


def squared_error(table: torch.Tensor, A: torch.Tensor, B: torch.Tensor) -> float:
    """Return the squared distance of a table from the sum of the products of A's and B's."""
    return (table - sum(map(torch.kron, A, B))).pow(2).sum().item()
