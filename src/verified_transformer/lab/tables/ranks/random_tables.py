"""How much of a random table few terms keep: measured, predicted, bounded."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F

from ....models.factorised.decompositions import rearranged
from .exact import normals


def kept_shares(matrices: torch.Tensor) -> np.ndarray:
    """Return the kept share of the squared norm at every rank, (…, min(N, M)).

    Args:
        matrices: (…, N, M).
    """
    squares = torch.linalg.svdvals(matrices).pow(2)
    return (squares.cumsum(-1) / squares.sum(-1, keepdim=True)).numpy()


def predicted_shares(N: int, M: int, points: int = 20_001) -> tuple[np.ndarray, np.ndarray]:
    """Return shares of the rank and of the squared norm kept, for a large iid N by M table.

    The law of the squared singular values is Marchenko and Pastur's (1967).

    Args:
        N, M: rows and columns.
        points: of the integration.
    """
    ratio = min(N, M) / max(N, M)
    φ = (np.arange(points) + 0.5) * math.pi / points  # squared singular values, from the top
    value = 1 + ratio + 2 * math.sqrt(ratio) * np.cos(φ)
    mass = 2 * np.sin(φ) ** 2 / (math.pi * value) * math.pi / points
    return np.cumsum(mass), np.cumsum(mass * value)


def worst_distance(matrices: torch.Tensor) -> float:
    """Return the largest distance of the mean curve from the prediction, in units of 1/M.

    Args:
        matrices: (tables, N, M).
    """
    N, M = matrices.shape[-2:]
    ranks = np.arange(1, M + 1) / M
    predicted = np.interp(ranks, *predicted_shares(N, M))
    return float(np.abs(kept_shares(matrices).mean(0) - predicted).max() * M)


def best_product_share(tensors: torch.Tensor, starts: int = 24, sweeps: int = 60) -> torch.Tensor:
    """Return the share of the squared norm that the best product of three vectors keeps.

    Args:
        tensors: (B, p, q, s).
        starts: random starts of the alternating maximum, of which the best counts.
        sweeps: of each.
    """
    T = tensors
    y, z = (normals(f"{T.shape} {a}", starts, len(T), T.shape[a]) for a in (2, 3))
    for _ in range(sweeps):
        x = F.normalize(torch.einsum("bpqs,abq,abs->abp", T, y, z), dim=-1)
        y = F.normalize(torch.einsum("bpqs,abp,abs->abq", T, x, z), dim=-1)
        found = torch.einsum("bpqs,abp,abq->abs", T, x, y)
        z = F.normalize(found, dim=-1)
    return found.pow(2).sum(-1).amax(0) / T.pow(2).sum((1, 2, 3))


def first_share(tensors: torch.Tensor) -> torch.Tensor:
    """Return the share that the best single product keeps: of matrices, or of 3-way tensors."""
    if tensors.ndim == 4:
        return best_product_share(tensors)
    values = torch.linalg.svdvals(tensors).pow(2)
    return values[:, 0] / values.sum(-1)


def share_limits(sizes: Sequence[int]) -> tuple[float, float, float]:
    """Return lower and upper bound of the mean share of one product, and its share of parameters.

    Args:
        sizes: of the tensor.
    """
    entries = math.prod(sizes)
    lower = (sum(sizes) + 1) / (entries + 2) if len(sizes) == 2 else 0.0
    return lower, (sum(map(math.sqrt, sizes)) ** 2 + 1) / entries, sum(sizes) / entries


def first_gain(
    table: torch.Tensor, rows: Sequence[int], columns: Sequence[int]
) -> tuple[float, float]:
    """Return the best term's share over its share of the parameters, and what is predicted.

    Args:
        table: (n, d).
        rows: n1, n2 of the cut.
        columns: q1, q2 of the cut.
    """
    R = rearranged(table, rows, columns)
    N, M = R.shape
    squares = torch.linalg.eigvalsh(R.mT @ R)
    gain = (squares[-1] / squares.sum()).item() * N * M / (N + M)
    return gain, (math.sqrt(N) + math.sqrt(M)) ** 2 / (N + M)


def projected_square(basis: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    """Return the squared length of the projection on the rows of a basis, by Cholesky's factor.

    Args:
        basis: (…, r, d); where its rows are dependent to six digits, the result is 0.
        h: (…, d).
    """
    basis = basis.double()
    L = torch.linalg.cholesky_ex(basis @ basis.mT).L
    full = torch.diagonal(L, dim1=-2, dim2=-1).nan_to_num().amin(-1) > 1e-6
    inner = basis @ h.double().unsqueeze(-1)
    found = torch.linalg.solve_triangular(L, inner, upper=False).pow(2).sum((-1, -2))
    return torch.where(full, found, 0.0)
