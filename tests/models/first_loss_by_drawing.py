"""The first loss of Gaussian tables as it is drawn: a table, a state, a norm, a streamed loss."""

from __future__ import annotations

import math

import torch

from verified_transformer.models.first_loss import GaussianStart, first_loss, normalised
from verified_transformer.seeds import generator


def drawn_losses(start: GaussianStart, name: str, count: int) -> torch.Tensor:
    """The loss of one token, its label averaged out, of count independent tables."""
    drawn = generator(name)
    return torch.stack([_one(start, drawn) for _ in range(count)])


def _one(start: GaussianStart, drawn: torch.Generator) -> torch.Tensor:
    kind = {"dtype": torch.float64, "generator": drawn}
    table = start.σ * torch.randn(start.n, start.d, **kind)
    noise = torch.randn(start.d, **kind)
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


def z_of_mean(losses: torch.Tensor, mean: float) -> float:
    """How many standard errors the mean of some draws lies from a value."""
    return float((losses.mean() - mean) / losses.std() * math.sqrt(len(losses)))


def z_of_variance(losses: torch.Tensor, mean: float, variance: float) -> float:
    """The same of their variance about a known mean."""
    return z_of_mean((losses - mean).square(), variance)
