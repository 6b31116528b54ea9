"""Which slots of a grown rotary head can be used at all: the scores as sums over its slots.

At a distance n a slot of frequency w adds a cos(wn) + b sin(wn) to a score, with numbers a and b
that query and key decide. What the old head says must be said by such sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .rotary import POSITIONS, turned


def slot_matrix(frequencies: torch.Tensor, distances: Sequence[int] = POSITIONS) -> torch.Tensor:
    """What each slot can add at each distance, by RoFormer's own rotation.

    Args:
        frequencies: of the slots, float64.
        distances: of query and key.

    Returns:
        (distances, 2 slots): columns cos(wn) and sin(wn) of each slot.
    """
    size = 2 * len(frequencies)
    angle = torch.tensor(list(distances), dtype=torch.float64)[:, None] * frequencies
    unit = torch.eye(size, dtype=torch.float64)[::2, None].expand(-1, len(distances), -1)
    found = turned("interleaved", unit, unit, angle)[0]  # (slots, distances, size)
    return torch.cat([found[j, :, 2 * j : 2 * j + 2] for j in range(len(frequencies))], -1)


def frequencies(size: int, base: float = 1e4) -> torch.Tensor:
    """RoPE's frequencies for a head of ``size`` coordinates."""
    return base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)


def contributions(slots: torch.Tensor, old: torch.Tensor, amounts: torch.Tensor) -> torch.Tensor:
    """What each slot has to add so that the scores are those of an old head.

    Args:
        slots: frequencies of the grown head.
        old: frequencies of the old head.
        amounts: (2 pairs,) the numbers a and b of each old pair.

    Returns:
        (slots, 2), the numbers a and b of each slot.

    Raises:
        ValueError: more than one way, since two slots turn alike.
    """
    matrix = slot_matrix(slots)
    if int(torch.linalg.matrix_rank(matrix, rtol=1e-10)) < matrix.shape[1]:
        raise ValueError("slots: two of them turn alike; accepted: different frequencies")
    wanted = slot_matrix(old) @ amounts
    return torch.linalg.lstsq(matrix, wanted[:, None]).solution[:, 0].unflatten(0, (-1, 2))
