"""Uniformly random orthogonal matrices, and what they make of normal vectors."""

from __future__ import annotations

import torch

from .....models.heads import channel_shuffle, half_swap
from .....seeds import generator


def orthogonal_factor(G: torch.Tensor) -> torch.Tensor:
    """Return the orthogonal factor of square matrices, with signs that make it unique.

    The factor of a matrix with iid normal entries is uniform among the orthogonal matrices
    (Haar's law; Mezzadri 2007).

    Args:
        G: (…, d, d).

    Returns:
        (…, d, d), float64; zero where a matrix is singular to nine digits.
    """
    q, r = torch.linalg.qr(G.double())
    diagonal = torch.diagonal(r, dim1=-2, dim2=-1)
    regular = diagonal.abs().amin(-1) > 1e-9
    return q * diagonal.sign().unsqueeze(-2) * regular[..., None, None]


def rotated(d: int, σ: float, draws: int = 100_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw normal vectors and what as many uniformly random orthogonal matrices make of them.

    Args:
        d: length of a vector.
        σ: standard deviation of an entry.
        draws: how many.

    Returns:
        The vectors and their images, both (draws, d), float64.
    """
    made = generator(f"rotations {d}")
    w = σ * torch.randn(draws, d, generator=made, dtype=torch.float64)
    P = orthogonal_factor(torch.randn(draws, d, d, generator=made, dtype=torch.float64))
    return w, torch.einsum("bi,bij->bj", w, P)


def image_product(w: torch.Tensor, G: torch.Tensor) -> torch.Tensor:
    """Return w P · w for the orthogonal factor P of G: w (…, d), G (…, d, d), result (…)."""
    w = w.double()
    return (torch.einsum("...i,...ij->...j", w, orthogonal_factor(G)) * w).sum(-1)


def before_the_head(d: int, groups: int = 12) -> dict[str, torch.Tensor]:
    """Return orthogonal matrices that may stand between a state and the table, by name.

    Args:
        d: length of a state; even, and a multiple of ``groups``.
        groups: of ShuffleNet's order.

    Returns:
        (d, d), float64, each; a state h meets the table as h P.

    Example:
        >>> {name: round(P.trace().item()) for name, P in before_the_head(12, 3).items()}["shuffle"]
        2
    """
    eye = torch.eye(d, dtype=torch.float64)
    signs = torch.ones(d, dtype=torch.float64)
    signs[: d // 2] = -1
    drawn = torch.randn(d, d, generator=generator(f"before the head {d}"), dtype=torch.float64)
    return {
        "identity": eye,
        "minus": -eye,
        "random": orthogonal_factor(drawn),
        "shift": eye.roll(1, 1),
        "shuffle": eye[:, channel_shuffle(d, groups)],
        "halves": eye[:, half_swap(d)],
        "rotate half": eye[:, half_swap(d)] * signs,
    }


def kinds_of_places(order: torch.Tensor) -> tuple[int, int]:
    """Return how many places a permutation keeps, and how many it exchanges in pairs.

    Args:
        order: a permutation of ``range(d)``.

    Example:
        >>> kinds_of_places(torch.tensor([0, 2, 1, 4, 5, 3]))
        (1, 2)
    """
    place = torch.arange(len(order))
    kept = int((order == place).sum())
    return kept, int((order[order] == place).sum()) - kept
