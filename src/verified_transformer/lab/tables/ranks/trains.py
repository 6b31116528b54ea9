"""Tensor trains: contraction, bounds of the error, and fits to compare with TT-SVD."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

Cores = Sequence[torch.Tensor]


def contracted(cores: Cores) -> torch.Tensor:
    """Return the tensor of a train's cores, (1, m1, r1), …, (r, mk, 1)."""
    whole = cores[0]
    for core in cores[1:]:
        whole = torch.tensordot(whole, core, dims=1)
    return whole[0, ..., 0]


def squared_train_error(tensor: torch.Tensor, cores: Cores) -> float:
    """Return the squared distance of a tensor from a train."""
    return (tensor - contracted(cores)).pow(2).sum().item()


def tails(tensor: torch.Tensor, ranks: Sequence[int]) -> list[float]:
    """Return, cut by cut, the squared singular values that an unfolding has beyond its rank."""
    sizes = [math.prod(tensor.shape[: j + 1]) for j in range(tensor.ndim - 1)]
    values = [torch.linalg.svdvals(tensor.reshape(size, -1)).pow(2) for size in sizes]
    return [v[rank:].sum().item() for v, rank in zip(values, ranks, strict=True)]


def refitted_error(tensor: torch.Tensor, cores: Cores, sweeps: int = 50) -> float:
    """Return the squared error after alternating least squares over three cores.

    Args:
        tensor: (m1, m2, m3).
        cores: the start.
        sweeps: how often each core is solved for.

    Raises:
        ValueError: another number of cores.
    """
    if len(cores) != 3:
        raise ValueError(f"cores: got {len(cores)}; accepted: three")
    first, middle, last = cores[0][0], cores[1], cores[2][..., 0]
    for _ in range(sweeps):
        right = torch.einsum("aqb,bs->aqs", middle, last).flatten(1)
        first = tensor.flatten(1) @ torch.linalg.pinv(right)
        left = torch.einsum("pa,aqb->pqb", first, middle).flatten(0, 1)
        last = torch.linalg.pinv(left) @ tensor.flatten(0, 1)
        inverses = torch.linalg.pinv(first), torch.linalg.pinv(last)
        middle = torch.einsum("ap,pqs,sb->aqb", inverses[0], tensor, inverses[1])
    return (tensor - torch.einsum("pa,aqb,bs->pqs", first, middle, last)).pow(2).sum().item()


def by_columns(tensor: torch.Tensor, ranks: Sequence[int]) -> list[torch.Tensor]:
    """Fit a train with columns of the unfoldings in the place of their singular vectors.

    Args:
        tensor: (m1, …, mk).
        ranks: k - 1 of them.
    """
    cores, rest, before = [], tensor, 1
    for size, rank in zip(tensor.shape, ranks, strict=False):
        unfolding = rest.reshape(before * size, -1)
        left = torch.linalg.qr(unfolding[:, :rank]).Q
        cores.append(left.reshape(before, size, rank))
        rest, before = left.mT @ unfolding, rank
    return [*cores, rest.reshape(before, tensor.shape[-1], 1)]
