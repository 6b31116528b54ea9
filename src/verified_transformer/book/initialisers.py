"""Are the entries that an initialiser draws like independent normal ones?"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..engine.exact.derivations import Oracle
from ..seeds import seed_of

Initialise = Callable[[torch.Tensor], torch.Tensor]


def initialised(initialise: Initialise, size: int = 16, name: str = "initialisers") -> torch.Tensor:
    """Return square matrices drawn by an initialiser of `torch.nn.init`: (2000, size, size).

    Args:
        initialise: fills a matrix in place and returns it.
        size: rows and columns.
        name: what the seed is derived from.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        return torch.stack([initialise(torch.empty(size, size)) for _ in range(2000)])


def like_independent(initialise: Initialise, name: str = "initialisers") -> bool:
    """Whether mean, variance, all covariances and a row's length are those of N(0, 1/16).

    Each must be within a fifth of what independent normal entries have, the mean within a
    hundredth of their standard deviation.

    Args:
        initialise: see `initialised`.
        name: what the seed is derived from.
    """
    W, size = initialised(initialise, name=name), 16
    flat = W.flatten(1)
    pairs = (flat.T @ flat / len(flat) - torch.eye(flat.shape[1]) / size) * size  # covariances
    lengths = W[:, 0].pow(2).sum(-1).var() * size / 2
    off = (W.mean() * size**0.5 * 20, W.var() * size - 1, lengths - 1, pairs.abs().max())
    return all(bool(abs(value) < 0.2) for value in off)


def variance_of_lengths(initialise: Initialise) -> Oracle:
    """Return the variance of a row's squared length in drawn matrices, to two digits, as an oracle.

    Args:
        initialise: see `initialised`; its name names the oracle.
    """
    variance = initialised(initialise).pow(2).sum(-1).var().item()
    name = f"variance of a row's squared length, {initialise.__name__}"  # type: ignore[attr-defined]
    return Oracle(name, lambda _: round(variance, 2))


def normal_rows(W: torch.Tensor) -> torch.Tensor:
    """Fill a matrix with normal entries of variance 1 over its number of columns."""
    return torch.nn.init.normal_(W, std=W.shape[1] ** -0.5)
