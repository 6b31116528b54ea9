"""First losses of tied models, drawn: by their law, by whole tables, and by clocks that ring.

Given its length, a token's own logit is that length times the root of d; the other logits are
independent normal numbers. So a vocabulary's first loss needs n numbers, not n times d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
import torch.nn.functional as F

from verifiedbook.seeds import generator, seed_of
from weightwise.first_loss import GaussianStart, first_loss, normalised

# ------------------------------------------------------------------------------ by their law


def own_logits(d: int, σ: float, draws: int | tuple[int, ...], name: str) -> torch.Tensor:
    r"""Draw a token's own logit: $\sqrt d\,\sigma$ times a chi variable with d degrees.

    Args:
        d: length of an embedding.
        σ: standard deviation of an entry.
        draws: how many, or the shape of the result.
        name: what the seed is derived from.
    """
    source = np.random.default_rng(seed_of(f"own {name}"))
    return math.sqrt(d) * σ * torch.from_numpy(source.chisquare(d, draws)).sqrt()


def other_logsumexp(n: int, spread: float, draws: int, name: str) -> torch.Tensor:
    """Draw the logsumexp of all other logits, one vocabulary at a time: (draws,).

    Args:
        n: number of tokens, one of which is the input.
        spread: standard deviation of a logit.
        draws: how many vocabularies.
        name: what the seed is derived from.
    """
    source = generator(f"drawn {name}")
    rows = (torch.randn(n - 1, generator=source).double() for _ in range(draws))
    return torch.stack([row.mul_(spread).logsumexp(0) for row in rows])


def mean_and_error(values: torch.Tensor) -> tuple[float, float]:
    """Return the mean of independent values and its standard error."""
    return values.mean().item(), values.std().item() / math.sqrt(len(values))


# ------------------------------------------- by whole tables: the definition, for a figure's points

Turn = Callable[[torch.Tensor], torch.Tensor]
Losses = tuple[list[float], list[float]]


def losses_by_turn(
    n: int, d: int, scales: Sequence[float], turns: Iterable[Turn], draws: int = 8, tokens: int = 16
) -> list[Losses]:
    """Return the first losses of tied models that turn their states, all on the same tables.

    Args:
        n: number of tokens.
        d: length of an embedding.
        scales: standard deviations of an entry; all scale the same draws.
        turns: each says what is done to the states, (tokens, d), before they meet the table.
        draws: independent tables; one is a replicate.
        tokens: how many first tokens each table reads.

    Returns:
        For each turn the means and standard errors, one for each scale.

    Raises:
        ValueError: a size below 1, or a single draw, which has no standard error.

    Example:
        >>> (kept, _), (turned, _) = losses_by_turn(
        ...     50, 8, [1.0], [lambda h: h, lambda h: h.roll(1, -1)]
        ... )
        >>> turned[0] < kept[0]
        True
    """
    for name, size, least in (("n", n, 2), ("d", d, 1), ("draws", draws, 2), ("tokens", tokens, 1)):
        if size < least:
            raise ValueError(f"{name}: got {size}; accepted: {least} or more")
    ways = list(turns)
    found = torch.empty(len(ways), draws, len(scales), dtype=torch.float64)
    table = torch.empty(n, d)
    for draw in range(draws):
        table.normal_(generator=generator(f"whole table {n} {d} {draw}"))
        state = F.rms_norm(table[:tokens], (d,), eps=0.0)  # whatever the scale of the table is
        for way, turned in enumerate(ways):
            logits = (turned(state) @ table.T).double()
            others = (logits.sum(-1) - logits.diagonal()) / (n - 1)  # the label is another token
            for place, scale in enumerate(scales):
                loss = (scale * logits).logsumexp(-1) - scale * others
                found[way, draw, place] = loss.mean()
    both = [[mean_and_error(column) for column in losses.T] for losses in found]
    return [([mean for mean, _ in way], [error for _, error in way]) for way in both]


# --------------------------------- Gaussian tables as they are drawn, without a formula of the loss
# `GaussianStart` serves as the list of sizes.


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


# ------------------------------------------------------------------------------ rings

EULER = 0.5772156649015329


def rings(u: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """Return when each clock rings.

    Args:
        u: uniform numbers between 0 and 1, (draws, n).
        logits: logarithms of the clocks' rates, (n,).
    """
    return -u.clamp(1e-30, 1 - 6e-8).log() * (-logits).exp()


def logsumexp_by_first_ring(u: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """Return numbers, one a draw, whose mean is the logsumexp of the logits.

    Args:
        u: uniform numbers between 0 and 1, (draws, n).
        logits: (n,).
    """
    return -rings(u, logits).amin(-1).log() - EULER
