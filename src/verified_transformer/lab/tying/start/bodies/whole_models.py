"""First losses of whole tables, drawn entry by entry: the definition, for a figure's points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
import torch.nn.functional as F

from .....seeds import generator
from ..tables.drawn_losses import mean_and_error

Turn = Callable[[torch.Tensor], torch.Tensor]
Found = tuple[list[float], list[float]]


def losses_by_scale(
    n: int, d: int, scales: Sequence[float], draws: int = 8, tokens: int = 16
) -> Found:
    """Return the mean first loss of tied identity models at some scales, and its standard error.

    Args:
        n: number of tokens.
        d: length of an embedding.
        scales: standard deviations of an entry; all scale the same draws.
        draws: independent tables; one is a replicate.
        tokens: how many first tokens each table reads.

    Returns:
        Means and standard errors, one for each scale.

    Raises:
        ValueError: a size below 1, or a single draw, which has no standard error.

    Example:
        >>> means, errors = losses_by_scale(50, 8, [0.1, 1.0])
        >>> means[0] < means[1]
        True
    """
    return losses_by_turn(n, d, scales, [lambda state: state], draws, tokens)[0]


def losses_by_turn(
    n: int,
    d: int,
    scales: Sequence[float],
    turns: Iterable[Turn],
    draws: int = 8,
    tokens: int = 16,
) -> list[Found]:
    """Return the first losses of tied models that turn their states, all on the same tables.

    Args:
        n, d, scales, draws, tokens: see `losses_by_scale`.
        turns: each says what is done to the states, (tokens, d), before they meet the table.

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
    for draw in range(draws):
        source = generator(f"whole table {n} {d} {draw}")
        table = torch.randn(n, d, generator=source, dtype=torch.float64)
        state = F.rms_norm(table[:tokens], (d,), eps=0.0)  # whatever the scale of the table is
        for way, turned in enumerate(ways):
            logits = turned(state) @ table.T
            others = (logits.sum(-1) - logits.diagonal()) / (n - 1)  # the label is another token
            for place, scale in enumerate(scales):
                loss = (scale * logits).logsumexp(-1) - scale * others
                found[way, draw, place] = loss.mean()
    both = [[mean_and_error(column) for column in losses.T] for losses in found]
    return [([mean for mean, _ in way], [error for _, error in way]) for way in both]
