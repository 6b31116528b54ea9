"""Ranks of tables of whole numbers, exactly; and how many ways a factorised table can move."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
import torch
from sympy.polys.matrices import DomainMatrix

from ....seeds import generator


def integers(name: str, *shape: int) -> torch.Tensor:
    """Draw random integers from -999 to 999, with the seed of a name.

    So many that a rank falls by chance once in a hundred thousand times: with one digit a vector of
    two zeros comes once in 361.
    """
    return torch.randint(-999, 1000, shape, generator=generator(name))


def normals(name: str, *shape: int) -> torch.Tensor:
    """Draw standard normal numbers in double precision, with the seed of a name."""
    return torch.randn(*shape, generator=generator(name), dtype=torch.float64)


def identity(size: int) -> torch.Tensor:
    """Return the identity in integers."""
    return torch.eye(size, dtype=torch.long)


def exact_rank(matrix: torch.Tensor) -> int:
    """Return the rank of a matrix of integers, over the rationals."""
    return int(DomainMatrix.from_Matrix(sp.Matrix(matrix.tolist())).to_field().rank())


def planted(name: str, rows: int, columns: int, rank: int) -> torch.Tensor:
    """Return an integer matrix of a given rank, with the seed of a name."""
    return integers(name + " left", rows, rank) @ integers(name + " right", rank, columns)


def null_vector(rows: torch.Tensor) -> list[int]:
    """Return an integer vector that is orthogonal to all the rows.

    Args:
        rows: integers, (r, d), with r < d.

    Raises:
        ValueError: only zero is orthogonal to them.
    """
    found = sp.Matrix(rows.tolist()).nullspace()
    if not found:
        raise ValueError(f"rows: got rank {rows.shape[1]}; accepted: fewer than their length")
    scale = sp.ilcm(*[entry.q for entry in found[0]])
    return [int(entry * scale) for entry in found[0]]


def moves_of_matrix(n: int, d: int, r: int) -> int:
    """Return the rank of the derivative of codes times basis by all entries of both.

    Args:
        n: rows of the table.
        d: columns.
        r: width of the codes.
    """
    codes, basis = integers("moving codes", n, r), integers("b", r, d)
    by_codes = torch.kron(identity(n), basis.T.contiguous())
    return exact_rank(torch.cat([by_codes, torch.kron(codes, identity(d))], 1))


def moves_of_product(k: int, q: int) -> int:
    """Return the rank of the derivative of the tensor product of k vectors by their entries.

    Args:
        k: how many vectors.
        q: their length.
    """
    vectors = [integers(f"moving {j}", q, 1) for j in range(k)]
    columns: Sequence[torch.Tensor] = []
    for moved in range(k):
        whole = identity(1)
        for j, vector in enumerate(vectors):
            whole = torch.kron(whole, identity(q) if j == moved else vector)
        columns = [*columns, whole]
    return exact_rank(torch.cat(list(columns), 1))
