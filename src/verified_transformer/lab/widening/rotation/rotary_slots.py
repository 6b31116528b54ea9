"""Which slots of a grown rotary head can be used at all: the scores as sums over its slots.

At a distance n a slot of frequency w adds a cos(wn) + b sin(wn) to a score, with numbers a and b
that query and key decide. What the old head says must be said by such sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ....exact.formulas.evaluation import Approximation
from ....exact.formulas.notation import symbols
from .rotary import POSITIONS, llama_table, roformer_table, turned

_c, _d, _k, _r = symbols("c d k r")


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


def in_tables(size: int, base: float) -> torch.Tensor:
    """By how much each pair of a head turns from one place to the next, (size / 2,), float64.

    RoFormer's base is fixed at 10 000, so its table is read there; for any other base, Llama's.

    Args:
        size: of the head.
        base: of the frequencies.
    """
    if base == 10000:  # RoFormer: the angle at position 1
        sin, cos = roformer_table(size).create_weight()[1].double().chunk(2)
        return torch.atan2(sin, cos)
    found: torch.Tensor = llama_table(size, base).inv_freq.double()
    return found


def copy_speed(point: Mapping[Any, Any]) -> Approximation:
    """Frequency of copy number r over that of its pair, for k copies in a row, read off the tables.

    Args:
        point: head size d, factor of growth k, base c and number r of the copy, from 0.
    """
    size, count, base, copy = (int(point[s]) for s in (_d, _k, _c, _r))
    found = in_tables(count * size, base)[copy::count] / in_tables(size, base)
    return Approximation(found[0].item(), 1e-6 + (found - found[0]).abs().max().item())
