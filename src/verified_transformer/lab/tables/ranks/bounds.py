"""How much of an iid table few terms can keep: the steps of the bound, and tables against it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp
import torch

from ....models.factorised.decompositions import rearranged, tensor_train
from .exact import normals
from .random_tables import first_share, kept_shares, predicted_shares, share_limits, worst_distance
from .trains import squared_train_error

Curves = Mapping[str, tuple[np.ndarray, np.ndarray]]

SHAPES = ((4, 4), (8, 8), (16, 16), (8, 32), (64, 64), (3, 3, 3), (4, 4, 4), (8, 8, 8), (4, 8, 16))
"""Of the tensors that `mean_shares_below` draws."""
_SIZES = {"low rank": (1024, 64), "Kronecker": (256, 256), "per token": (8, 8)}


def corners_hold(weight: Fraction) -> bool:
    """Whether 1 - x1 … xk is at most the weighted sum of the 1 - xj at all corners, k up to 7.

    Example:
        >>> corners_hold(Fraction(1)), corners_hold(Fraction(1, 2))
        (True, False)
    """
    return all(
        1 - math.prod(x) <= weight * sum(1 - xj for xj in x)
        for count in range(1, 8)
        for x in product((-1, 1), repeat=count)
    )


def mean_shares(sizes: Sequence[int], shift: float) -> float:
    """Return the mean share that one product keeps, of 20 normal tensors with this mean entry."""
    return first_share(normals(f"{tuple(sizes)}", 20, *sizes) + shift).mean().item()


def mean_shares_below(shift: float) -> bool:
    """Whether the mean shares of tensors with this mean entry are below the bound, at `SHAPES`."""
    for sizes in SHAPES:
        _, most, part = share_limits(sizes)
        if not mean_shares(sizes, shift) < most <= (len(sizes) + 1 / sum(sizes)) * part + 1e-12:
            return False
    return True


def kept_in_families(tables: torch.Tensor) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return, for each family, the share of the parameters and what each table keeps, by rank.

    Args:
        tables: (…, 1024, 64).

    Returns:
        By family: (ranks,) and (…, ranks).
    """
    squares = torch.linalg.svdvals(tables.unflatten(-1, (8, 8))).pow(2).sum(-2)
    kept = {
        "low rank": kept_shares(tables),
        "Kronecker": kept_shares(torch.stack([rearranged(W, (32, 32), (8, 8)) for W in tables])),
        "per token": (squares.cumsum(-1) / squares.sum(-1, keepdim=True)).numpy(),
    }
    return {
        name: (np.arange(1, min(N, M) + 1) * (N + M) / (N * M), kept[name])
        for name, (N, M) in _SIZES.items()
    }


def within_bound(families: Curves) -> bool:
    """Whether the mean kept share over the share of parameters is below the bound, at every rank.

    Args:
        families: of `kept_in_families`.
    """
    return all(
        bool((kept.mean(0) < (2 + 1 / sum(_SIZES[name])) * part).all())
        for name, (part, kept) in families.items()
    )


def kept_by_train(table: torch.Tensor, rank: int) -> tuple[float, float]:
    """Return the share of parameters and of the squared norm of a train of three cores.

    Args:
        table: (1024, 64), cut into 16, 8, 8 by 4, 4, 4.
        rank: of both bonds.
    """
    T = rearranged(table, (16, 8, 8), (4, 4, 4))
    cores = tensor_train(T, (rank, rank))
    part = sum(core.numel() for core in cores) / table.numel()
    return part, 1 - squared_train_error(T, cores) / T.pow(2).sum().item()


def kept_at(part: float, tallness: float) -> float:
    """Return the share of a large iid table that low rank keeps with a part of its parameters.

    Args:
        part: of the parameters.
        tallness: rows over columns, at least 1.

    Example:
        >>> round(kept_at(0.25, 1.0), 2)
        0.38
    """
    rank = part * tallness / (1 + tallness)
    return float(np.interp(rank, *predicted_shares(round(1000 * tallness), 1000)))


def as_predicted(spread: float) -> bool:
    """Whether square tables of normals and of signs keep what is predicted, within 1/d.

    Args:
        spread: how much of each column is added to its neighbour.
    """
    for size in (64, 128, 256):
        free = normals(f"square {size}", 4, size, size)
        for entries in (free, free.sign()):
            if not worst_distance(entries + spread * entries.roll(1, -1)) < 1:
                return False
    return True


def by_cosine(e: sp.Expr) -> sp.Expr:
    """Put x = 2 cos t into every integral.

    Raises:
        ValueError: a root is left.
    """
    t = sp.Symbol("t", real=True)

    def one(integral: sp.Integral) -> sp.Integral:
        (x, low, high) = integral.limits[0]
        new = integral.function.subs(sp.sqrt(4 - x**2), 2 * sp.sin(t))
        new = new.subs(x, 2 * sp.cos(t)) * 2 * sp.sin(t)
        if any(p.exp.is_Rational and not p.exp.is_Integer for p in new.atoms(sp.Pow)):
            raise ValueError(f"e: a root is left in {new}; accepted: roots of 4 - x**2")
        return sp.Integral(new, (t, sp.acos(high / 2), sp.acos(low / 2)))

    return e.replace(lambda part: isinstance(part, sp.Integral), one)
