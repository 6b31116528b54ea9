"""First losses of whole tables, drawn entry by entry: the definition, for a figure's points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from .....seeds import generator
from ..tables.drawn_losses import mean_and_error


def losses_by_scale(
    n: int,
    d: int,
    scales: Sequence[float],
    draws: int = 8,
    tokens: int = 16,
    *,
    turned: Callable[[torch.Tensor], torch.Tensor] = lambda state: state,
) -> tuple[list[float], list[float]]:
    """Return the mean first loss of tied identity models at some scales, and its standard error.

    Args:
        n: number of tokens.
        d: length of an embedding.
        scales: standard deviations of an entry; all scale the same draws.
        draws: independent tables; one is a replicate.
        tokens: how many first tokens each table reads.
        turned: what is done to the states, (tokens, d), before they meet the table.

    Returns:
        Means and standard errors, one for each scale.

    Example:
        >>> means, errors = losses_by_scale(50, 8, [0.1, 1.0])
        >>> means[0] < means[1]
        True
    """
    found = torch.empty(draws, len(scales), dtype=torch.float64)
    for draw in range(draws):
        source = generator(f"whole table {n} {d} {draw}")
        table = torch.randn(n, d, generator=source, dtype=torch.float64)
        state = F.rms_norm(table[:tokens], (d,), eps=0.0)  # whatever the scale of the table is
        logits = turned(state) @ table.T
        others = (logits.sum(-1) - logits.diagonal()) / (n - 1)  # the label is another token
        for place, scale in enumerate(scales):
            found[draw, place] = ((scale * logits).logsumexp(-1) - scale * others).mean()
    both = [mean_and_error(column) for column in found.T]
    return [mean for mean, _ in both], [error for _, error in both]
