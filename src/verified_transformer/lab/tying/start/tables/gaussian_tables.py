"""The first loss of Gaussian tables as it is drawn: a table, a state, a norm, a streamed loss.

It knows no formula of the loss; `models.first_loss.GaussianStart` serves as the list of sizes.
"""

from __future__ import annotations

import math

import torch

from .....models.first_loss import GaussianStart, first_loss, normalised
from .....seeds import generator


def first_losses_of_tables(start: GaussianStart, name: str, count: int) -> torch.Tensor:
    """Return the loss of one token, its label averaged out, of independent tables: (count,).

    Args:
        start: sizes, scales, cosine and labels.
        name: what the seed is derived from.
        count: how many tables.

    Example:
        >>> drawn = first_losses_of_tables(GaussianStart(50, 4, 1e-6), "flat", 3)
        >>> drawn.round(decimals=3).tolist()  # log 50
        [3.912, 3.912, 3.912]
    """
    drawn = generator(name)
    return torch.stack([_one(start, drawn) for _ in range(count)])


def z_of_mean(values: torch.Tensor, mean: float) -> float:
    """Return how many standard errors the mean of some independent values lies from a number."""
    return float((values.mean() - mean) / values.std() * math.sqrt(len(values)))


def z_of_variance(values: torch.Tensor, mean: float, variance: float) -> float:
    """Return the same of their variance about a known mean."""
    return z_of_mean((values - mean).square(), variance)


def _one(start: GaussianStart, drawn: torch.Generator) -> torch.Tensor:
    kind = {"dtype": torch.float64, "generator": drawn}
    table = start.σ * torch.randn(start.n, start.d, **kind)  # type: ignore[call-overload]
    noise = torch.randn(start.d, **kind)  # type: ignore[call-overload]
    row, τ = table[0] / start.σ, math.sqrt(1 - start.ρ**2)
    if start.cosine == "fixed" and τ:
        if start.norm == "layer":
            row, noise = row - row.mean(), noise - noise.mean()
        noise = noise - row * (noise @ row) / (row @ row)
        noise = noise * row.norm() / noise.norm()
    size = start.σ if start.state is None else start.state
    state = size * (start.ρ * row + τ * noise)
    hidden = start.scale * normalised(state, start.norm, ε=start.ε)
    law = torch.full((start.n,), (1 - start.repeats) / (start.n - 1), dtype=torch.float64)
    law[0] = start.repeats
    return first_loss(hidden, table, label_law=law).loss
