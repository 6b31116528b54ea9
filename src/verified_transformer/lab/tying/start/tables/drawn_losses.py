"""First losses of identity models drawn by their law: fast where a table would be large.

Given its length, a token's own logit is that length times the root of d; the other logits are
independent normal numbers. So a vocabulary's first loss needs n numbers, not n times d.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import torch

from .....seeds import generator, seed_of


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


def drawn_loss(n: int, d: int, σ: float, draws: int, name: str = "") -> tuple[float, float]:
    """Return the mean first loss over drawn vocabularies, and its standard error.

    Args:
        n: number of tokens.
        d: length of an embedding.
        σ: standard deviation of an entry.
        draws: how many vocabularies.
        name: what the seed is derived from, beside the sizes.
    """
    name = f"{name} {n} {d} {σ:.6f}"
    rest = other_logsumexp(n, math.sqrt(d) * σ, draws, name)
    return mean_and_error(torch.logaddexp(own_logits(d, σ, draws, name), rest))


def mean_and_error(values: torch.Tensor) -> tuple[float, float]:
    """Return the mean of independent values and its standard error."""
    return values.mean().item(), values.std().item() / math.sqrt(len(values))


@cache
def _unit_logits(n: int) -> torch.Tensor:
    return torch.randn(6, n - 1, generator=generator(f"map {n}"), dtype=torch.float64)


@cache
def _map_logsumexp(n: int, spread: float) -> torch.Tensor:
    return (_unit_logits(n) * spread).logsumexp(1)


def losses_for_a_map(n: int, d: int, σ: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return 4000 own logits and their first losses in each of six vocabularies.

    The vocabularies' unit logits are the same at every scale, so that a map is smooth.

    Args:
        n: number of tokens.
        d: length of an embedding.
        σ: standard deviation of an entry.

    Returns:
        Own logits, (4000, 1), and losses, (4000, 6).
    """
    spread = round(math.sqrt(d) * σ, 9)
    own = own_logits(d, σ, (4000, 1), f"map {n} {spread}")
    return own, torch.logaddexp(own, _map_logsumexp(n, spread))


def wide_limit(n: int, scale: float) -> float:
    r"""Return the mean first loss for $d\to\infty$ at fixed $d\sigma$, of a few tokens.

    At six widths the mean is taken by quadrature over the own length and the other logits;
    Richardson's extrapolation does the rest.

    Args:
        n: number of tokens, at most 5.
        scale: d σ.

    Raises:
        ValueError: too many tokens for a grid.
    """
    if not 2 <= n <= 5:
        raise ValueError(f"n: got {n}; accepted: 2 to 5")
    values = [_mean_loss_on_a_grid(n, 256 * 2**j, scale) for j in range(6)]
    for order in range(1, 6):  # each round removes one power of 1/d
        values = [(2**order * q - p) / (2**order - 1) for p, q in pairwise(values)]
    return values[0]


def _mean_loss_on_a_grid(n: int, d: int, scale: float) -> float:
    spread = scale / math.sqrt(d)
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    weights = weights / weights.sum()
    rest, mass = np.zeros(1), np.ones(1)
    for _ in range(n - 1):
        rest = np.add.outer(rest, np.exp(spread * nodes)).ravel()
        mass = np.multiply.outer(mass, weights).ravel()
    length = math.sqrt(d) + np.linspace(-9, 9, 181)
    density = np.exp((d - 1) * np.log(length / math.sqrt(d)) - (length**2 - d) / 2)
    losses = np.log(np.exp(spread * length)[:, None] + rest)
    return float(density / density.sum() @ losses @ mass)
