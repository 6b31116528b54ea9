"""The best known approximations of a table by factors: SVD, CP and tensor-train."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F

from .products import tensor_product


class Canonical(NamedTuple):
    """What `alternating_least_squares` found.

    ``factors[j]`` is (B, r, m_j); ``errors`` is (sweeps, B), the norm of what is left after each
    sweep.
    """

    factors: list[torch.Tensor]
    errors: torch.Tensor


def truncated_svd(matrix: torch.Tensor, rank: int) -> list[torch.Tensor]:
    """Return the two factors of the nearest matrices of a rank (Eckart and Young 1936).

    Args:
        matrix: (…, m, p).
        rank: r; beyond min(m, p), the factors are filled up with zeros.

    Returns:
        (…, m, r) and (…, r, p), each with the square roots of the singular values.
    """
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    root = s[..., :rank].sqrt()
    fill = max(0, rank - root.shape[-1])
    left, right = u[..., :rank] * root[..., None, :], root[..., None] * v[..., :rank, :]
    return [F.pad(left, (0, fill)), F.pad(right, (0, 0, 0, fill))]


def rearranged(table: torch.Tensor, rows: Sequence[int], columns: Sequence[int]) -> torch.Tensor:
    """Return a table as a tensor (n_1 q_1, …, n_k q_k) (Van Loan and Pitsianis 1993).

    Args:
        table: (n, d); rows of zeros are appended until there are n_1 ⋯ n_k.
        rows: n_1, …, n_k.
        columns: q_1, …, q_k.
    """
    k = len(rows)
    table = F.pad(table, (0, 0, 0, math.prod(rows) - len(table)))
    pairs = [axis for j in range(k) for axis in (j, k + j)]
    sizes = [n * q for n, q in zip(rows, columns, strict=True)]
    return table.view(*rows, *columns).permute(pairs).reshape(sizes)


def canonical(tensors: torch.Tensor, rank: int, sweeps: int) -> list[torch.Tensor]:
    """Return factors of sums of tensor products near to tensors.

    Args:
        tensors: (B, m_1, …, m_k), each of the B by itself.
        rank: number of terms r.
        sweeps: of alternating least squares at most, for more than two factors.

    Returns:
        (B, r, m_j) for each j, their norms balanced in every term: the nearest for one and two
        factors, the best that is known for more.
    """
    if tensors.ndim == 2:
        return [F.pad(tensors[:, None], (0, 0, 0, rank - 1))]
    if tensors.ndim == 3:
        left, right = truncated_svd(tensors, rank)
        return [left.transpose(1, 2), right]
    with torch.autocast(tensors.device.type, enabled=False):
        return alternating_least_squares(tensors, rank, sweeps).factors


def alternating_least_squares(
    tensors: torch.Tensor, rank: int, sweeps: int, *, tolerance: float = 1e-10
) -> Canonical:
    """Approximate tensors by sums of tensor products, a factor at a time.

    The first factors are the leading left singular vectors of the unfoldings (HOSVD; De Lathauwer
    et al. 2000), and fixed random ones beyond what an unfolding has. Each step solves a least
    squares problem exactly, so that no sweep makes the error larger. Where it ends need not be the
    nearest, and for r > 1 there may be no nearest (de Silva and Lim 2008) or the way there may take
    thousands of sweeps.

    Args:
        tensors: (B, m_1, …, m_k), k >= 2, each of the B by itself.
        rank: number of terms r.
        sweeps: at most.
        tolerance: stop when no error falls by more than this part of its tensor's norm.

    Raises:
        ValueError: ``sweeps`` is not positive.
    """
    if sweeps < 1:
        raise ValueError(f"sweeps: got {sweeps}; accepted: a positive number")
    modes = range(tensors.ndim - 1)
    unfolded = [tensors.movedim(j + 1, 1).flatten(2) for j in modes]
    factors = [_leading(unfolding, rank) for unfolding in unfolded]
    norms, errors = tensors.flatten(1).norm(dim=1), []
    for _ in range(sweeps):
        for j in modes:
            factors = [_unit(f) if i != j else f for i, f in enumerate(factors)]
            factors[j] = _solved(unfolded[j], factors, j)
        left = unfolded[-1] - factors[-1].transpose(1, 2) @ tensor_product(factors[:-1])
        errors.append(left.flatten(1).norm(dim=1))
        if len(errors) > 1 and bool((errors[-2] - errors[-1] <= tolerance * norms).all()):
            break
    length = factors[-1].norm(dim=2, keepdim=True)
    share = length ** (1 / len(factors))
    factors = [_unit(factor) * share for factor in factors]
    return Canonical(factors, torch.stack(errors))


def tensor_train(tensor: torch.Tensor, ranks: Sequence[int]) -> list[torch.Tensor]:
    """Return the cores of a tensor train near to a tensor (Oseledets 2011, algorithm 1).

    The squared error is at most the sum of the squared singular values that the unfoldings
    (m_1 ⋯ m_j, m_{j+1} ⋯ m_k) have beyond the ranks.

    Args:
        tensor: (m_1, …, m_k).
        ranks: r_1, …, r_{k-1}; beyond what there is, the cores are filled up with zeros.

    Returns:
        (r_{j-1}, m_j, r_j) for each j, r_0 = r_k = 1, all of the same norm.
    """
    cores, rest, before = [], tensor.reshape(1, -1), 1
    for size, rank in zip(tensor.shape, ranks, strict=False):
        u, s, v = torch.linalg.svd(rest.reshape(before * size, -1), full_matrices=False)
        u, rest = u[:, :rank], s[:rank, None] * v[:rank]
        fill = rank - u.shape[1]
        cores.append(F.pad(u, (0, fill)).view(before, size, rank))
        rest, before = F.pad(rest, (0, 0, 0, fill)), rank
    cores.append(rest.view(before, tensor.shape[-1], 1))
    norms = torch.stack([core.norm() for core in cores])
    each = norms.log().mean().exp()
    return [
        core * (each / norm) if norm > 0 else core for core, norm in zip(cores, norms, strict=True)
    ]


def _leading(unfolding: torch.Tensor, rank: int) -> torch.Tensor:
    """Leading left singular vectors (B, r, m) of (B, m, p), random ones beyond them."""
    u = torch.linalg.svd(unfolding, full_matrices=False)[0][..., :rank].transpose(1, 2)
    generator = torch.Generator().manual_seed(0)
    more = torch.randn(rank - u.shape[1], u.shape[2], generator=generator, device="cpu").to(u)
    return torch.cat([u, more.expand(len(u), -1, -1)], 1)


def _unit(factor: torch.Tensor) -> torch.Tensor:
    """The factor's vectors at length 1, however short they were; zeros stay."""
    return F.normalize(factor, dim=2, eps=torch.finfo(factor.dtype).tiny)


def _solved(unfolding: torch.Tensor, factors: Sequence[torch.Tensor], j: int) -> torch.Tensor:
    """The factor (B, r, m_j) of least error, the others given."""
    others = [factor for i, factor in enumerate(factors) if i != j]
    gram = math.prod(factor @ factor.transpose(1, 2) for factor in others)
    right = tensor_product(others) @ unfolding.transpose(1, 2)
    return torch.linalg.pinv(gram, hermitian=True) @ right
