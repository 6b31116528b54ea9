"""Uniformly random orthogonal matrices, and what they make of normal vectors."""

from __future__ import annotations

import torch

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
