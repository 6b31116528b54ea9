"""A softmax as a race: clocks with exponential waiting times, of which the first one rings.

A clock with rate $e^{l}$ rings first with the probability that a softmax gives the logit $l$, and
minus the log of the first ring has the mean $\\log\\sum e^{l}+\\gamma$ (Gumbel).
"""

from __future__ import annotations

import torch

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
