"""One budget of bits, and what each way of compressing loses within it."""

from __future__ import annotations

import math

import sympy as sp
import torch

from .made import cut, relative_distance
from .storing import int8


def rounded(table: torch.Tensor, bits: int) -> torch.Tensor:
    """Round a table to 2**bits equally spaced numbers, at the best spacing of 40 tried.

    Args:
        table: any shape.
        bits: for each entry, 1 or more.

    Returns:
        The rounded table.
    """
    half, spread = 2 ** (bits - 1), table.std()
    tried = []
    for place in range(1, 41):
        step = spread * place * 8 / 40 / 2**bits
        levels = (table / step).floor().clamp(-half, half - 1)
        tried.append((levels + 0.5) * step)
    return min(tried, key=lambda t: relative_distance(table, t))


def rounding_loss(bits: int) -> float:
    """Return the least share of the squares lost by so many bits, normal numbers, equal steps.

    Args:
        bits: for each number, 1 or more.

    Returns:
        Mean squared error over the variance, at the best step (Max 1960).

    Example:
        >>> round(rounding_loss(1), 3), round(rounding_loss(8) * 10**5)
        (0.363, 9)
    """
    half = 2 ** (bits - 1)

    def density(x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def above(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    def lost(step: float) -> float:
        """E (x - y)^2 with y the middle of x's cell: 1 - 2 E xy + E y^2, both sides of zero."""
        total = 1.0
        for place in range(half):
            low, middle = place * step, (place + 0.5) * step
            high = (place + 1) * step if place < half - 1 else math.inf
            mass = above(low) - above(high)
            first = density(low) - density(high)
            total += 2 * (middle * middle * mass - 2 * middle * first)
        return total

    low, high = 0.001, 4.0
    for _ in range(80):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if lost(one) < lost(two) else (one, high)
    return lost(low)


def rounding_curve(bits: sp.Expr, most: int = 8) -> sp.Expr:
    """Return the share lost by rounding normal numbers to so many bits on average.

    Between two whole numbers some entries get one bit more than others: a line.

    Args:
        bits: a symbol, between 0 and ``most``.
        most: the largest whole number of bits.
    """
    at = [1.0, *(rounding_loss(b) for b in range(1, most + 1))]
    lines = [at[b] + (at[b + 1] - at[b]) * (bits - b) for b in range(most)]
    return sp.Max(*lines)


def in_a_budget(table: torch.Tensor, bits: int) -> dict[str, float]:
    """Return the share of the squares lost by each way, at so many bits for each entry.

    Args:
        table: (n, d).
        bits: 1 to 7; numbers that are kept are kept in a byte each, but for the first way.

    Returns:
        By name of the way: entries rounded; rows shared by neighbours; small entries left out,
        with a bit each for the places; two thin matrices.
    """
    n, d = table.shape
    share = 8 // bits
    means = table[: n - n % share].unflatten(0, (-1, share)).mean(1).repeat_interleave(share, 0)
    shared = torch.cat([means, table[n - n % share :]])
    least = table.abs().flatten().quantile(1 - (bits - 1) / 8)
    rank = bits * n * d // (8 * (n + d))
    found = {
        "rounded": rounded(table, bits),
        "rows shared": _through_a_byte(shared),
        "pruned": _through_a_byte(table * (table.abs() > least)) if bits > 1 else 0 * table,
        "thin": _thin(table, rank),
    }
    return {name: relative_distance(table, kept) ** 2 for name, kept in found.items()}


def _through_a_byte(table: torch.Tensor) -> torch.Tensor:
    whole, scale = int8(table)
    return whole.double() * scale


def _thin(table: torch.Tensor, rank: int) -> torch.Tensor:
    codes, basis = (w.detach() for w in cut(table, rank).parameters())
    return _through_a_byte(codes) @ _through_a_byte(basis)
