"""A row times a matrix times a column, before growth and after: eq. 7's block matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ...exact.formulas.notation import symbols
from ..arrays.enumerating import LOPSIDED, outcomes
from .layouts import by_ceiling, repeated_along

_d, _n, _k, _σ, _τ = symbols("d n k sigma tau")


def number(x: torch.Tensor, w: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Σᵢⱼ xᵢ wᵢⱼ zⱼ for each replicate."""
    return torch.einsum("...i,...ij,...j->...", x, w, z)


def product_by_index(point: Mapping[Any, Any]) -> torch.Tensor:
    """Mean of the number times the grown one, over all outcomes of a lopsided law.

    The arrays are grown by the printed index ⌈i/k⌉; x and z are divided by √k and w by k.
    """
    sizes, k = (int(point[_d]), int(point[_n])), int(point[_k])
    (x, w, z), chances = outcomes(sizes[0], sizes, sizes[1], law=LOPSIDED)
    x, w, z = point[_σ] * x, point[_τ] * w, point[_σ] * z
    wide_x, wide_z = (by_ceiling(v, k) / k**0.5 for v in (x, z))
    wide = number(wide_x, by_ceiling(w, k, axes=2) / k, wide_z)
    return chances @ (wide * number(x, w, z))


def product_by_blocks(
    x: torch.Tensor, w: torch.Tensor, z: torch.Tensor, point: Mapping[Any, Any]
) -> torch.Tensor:
    """The same product, the blocks made by torch's Kronecker product with ones over k."""
    ones = torch.ones(round(point[_k]), round(point[_k])).to(w)
    blocks = torch.func.vmap(torch.kron, (0, None))(w, ones / point[_k])
    wide_x, wide_z = (repeated_along(v, point[_k]) / point[_k] ** 0.5 for v in (x, z))
    return number(wide_x, blocks, wide_z) * number(x, w, z)
