"""First losses of tables that are not the plain case: other entries, labels, a bias of the head."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from .....models.first_loss import first_loss, normalised
from .....seeds import generator

KEPT = 0.8796256610342398  # of a normal law's deviation, where it is truncated at two of them
Entries = Callable[[tuple[int, int], torch.Generator], torch.Tensor]


def normal(shape: tuple[int, int], source: torch.Generator) -> torch.Tensor:
    """Draw standard normal entries."""
    return torch.randn(shape, generator=source, dtype=torch.float64)


def uniform(shape: tuple[int, int], source: torch.Generator) -> torch.Tensor:
    """Draw uniform entries of mean 0 and variance 1."""
    return math.sqrt(3) * (2 * torch.rand(shape, generator=source, dtype=torch.float64) - 1)


def truncated(
    shape: tuple[int, int], source: torch.Generator, sd: float = 1 / KEPT
) -> torch.Tensor:
    """Draw entries of a normal law that is truncated at two of its deviations, of variance 1."""
    table = torch.empty(shape, dtype=torch.float64)
    return torch.nn.init.trunc_normal_(table, 0, sd, -2 * sd, 2 * sd, generator=source)


def first_losses_of(
    name: str,
    *,
    tables: int = 60,
    tokens: int = 300,
    width: int = 16,
    spread: float = 1.0,
    bias: float = 0.0,
    labels: torch.Tensor | None = None,
    entries: Entries = normal,
    tied: bool = False,
) -> torch.Tensor:
    """Return the mean first loss of eight tokens in each of independent tables: (tables,).

    Args:
        name: what the seed is derived from.
        tables, tokens, width: how many tables, and their sizes.
        spread: standard deviation of a logit without a bias.
        bias: standard deviation of the head's bias.
        labels: their law; uniform by default.
        entries: draws entries of mean 0 and variance 1.
        tied: whether the state is the token's own row, and the label another token.

    Example:
        >>> first_losses_of("flat", tables=2, spread=1e-9).round(decimals=3).tolist()  # log 300
        [5.704, 5.704]
    """
    source, found = generator(name), []
    own = torch.arange(8) if tied else None
    for _ in range(tables):
        table = spread / math.sqrt(width) * entries((tokens, width), source)
        state = normalised(table[:8] if tied else normal((8, width), source))
        extra = bias * normal((1, tokens), source)[0]
        found.append(first_loss(state, table, bias=extra, label_law=labels, own=own).loss.mean())
    return torch.stack(found)
