"""A row times a matrix times a column, before growth and after: eq. 7's block matrix."""

from __future__ import annotations

import torch

from ...exact.formulas.notation import symbols

_d, _n, _k, _σ, _τ = symbols("d n k sigma tau")


def number(x: torch.Tensor, w: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Σᵢⱼ xᵢ wᵢⱼ zⱼ for each replicate."""
    return torch.einsum("...i,...ij,...j->...", x, w, z)
