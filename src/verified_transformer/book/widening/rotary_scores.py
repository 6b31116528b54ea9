"""The score of rotary pairs, before and after a head grows: as polynomials and in torch.

A pair of a query has coordinates q and q', a pair of a key k and k'. At an angle t between their
positions the score is cos t (q k + q' k') + sin t (q k' - q' k).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
import torch

from ...engine.exact.formulas.notation import symbols
from ...engine.exact.moments import Index, Tensor
from ..arrays import relative_error
from .rotary import Place, angles, by_table, each_pair, scores, turned

LawOf = Callable[[sp.Expr], Any]  # the law of mean 0 with a variance
Statistic = Callable[..., torch.Tensor]
_a, _k, _n, _σ, _τ, _t, _z = symbols("a k n sigma tau t z")


def coordinates(law_of: LawOf, size: Any = 1) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """Random queries and keys, two coordinates each, of variances σ² and τ², at a pair p."""
    p = Index("p", size)
    query, key = (
        [Tensor(name + prime, law_of(scale**2), size)[p] for prime in ("", "'")]
        for name, scale in (("q", _σ), ("k", _τ))
    )
    return query, key


def score(x: list[sp.Expr], y: list[sp.Expr], cos: sp.Expr, sin: sp.Expr) -> sp.Expr:
    """The score of a pair."""
    return cos * (x[0] * y[0] + x[1] * y[1]) + sin * (x[0] * y[1] - x[1] * y[0])


def by_coordinates(law_of: LawOf) -> tuple[sp.Expr, sp.Expr]:
    """The old score at the angle t, and the grown one by eq. 2 for k = 2, in RoFormer.

    Each coordinate stands twice, over √2, and makes a pair with itself: (q, q) turns by t and
    (q', q') by z.
    """
    x, y = coordinates(law_of)
    grown = (score([x[j]] * 2, [y[j]] * 2, sp.cos(w), sp.sin(w)) / 2 for j, w in ((0, _t), (1, _z)))
    return score(x, y, sp.cos(_t), sp.sin(_t)), sp.expand(sum(grown))


def by_pairs(law_of: LawOf) -> sp.Expr:
    """The change of the score by eq. 15 for k = 2: half a copy turns by t and half by z."""
    cos, sin = ((f(_t) + f(_z)) / 2 - f(_t) for f in (sp.cos, sp.sin))
    x, y = coordinates(law_of)
    return score(x, y, cos, sin)


def turned_together(law_of: LawOf, numbers: Any) -> tuple[sp.Expr, sp.Expr]:
    """Old and grown score of n pairs whose k copies all turn by the angle of the pair.

    Args:
        law_of: of queries and keys.
        numbers: law of the numbers in the place of cosines and sines.
    """
    p = Index("p", _n)
    x, y = coordinates(law_of, _n)
    cos, sin = Tensor("C", numbers, _n)[p], Tensor("S", numbers, _n)[p]
    small_x, small_y = ([entry / sp.sqrt(_k) for entry in both] for both in (x, y))
    old, copy = score(x, y, cos, sin), score(small_x, small_y, cos, sin)
    return sp.Sum(old, (p, 1, _n)), _k * sp.Sum(copy, (p, 1, _n))


def change_statistic(place: Place) -> Statistic:
    """The squared change of a pair's score by RoFormer's rotation, with copies at t and z."""

    def statistic(point: Mapping[Any, Any], **both: torch.Tensor) -> torch.Tensor:
        q, key = (torch.cat([both[a], both[a + "'"]], -1).double() for a in "qk")
        angle = torch.tensor([[point[_t], point[_z]]], dtype=torch.float64)
        axis = place(1, 2, 2, "interleaved")
        wide_q, wide_key = (axis.write(v, -1) / 2**0.5 for v in (q, key))
        before = (turned("interleaved", q, key, angle[:, :1])[0] * key).sum(-1)
        after = (turned("interleaved", wide_q, wide_key, angle)[0] * wide_key).sum(-1)
        return (after - before) ** 2

    return statistic


def difference_statistic(
    point: Mapping[Any, Any], C: torch.Tensor, S: torch.Tensor, **both: torch.Tensor
) -> torch.Tensor:
    """Squared grown score less a times the old, of `turned_together`, by RoFormer's function."""
    q, key = (torch.stack([both[a], both[a + "'"]], -1).flatten(-2).double() for a in "qk")
    found = []
    for copies in (1, round(point[_k])):
        axis = each_pair(1, q.shape[-1], copies, "interleaved")
        left, right = (axis.write(v, -1) / copies**0.5 for v in (q, key))
        table = torch.cat([w.double().repeat_interleave(copies, -1) for w in (S, C)], -1)
        found.append((by_table(table, left, right)[0] * right).sum(-1))
    return (found[1] - point[_a] * found[0]) ** 2


def pair_change(layout: str, place: Place, angle: tuple[float, ...]) -> float:
    """Mean square of the change of the first pair's score for k = 2, entries of variance 1.

    Args:
        layout: of the head.
        place: how it grows.
        angle: of each pair of the grown head; the old head has every second one.
    """
    at = torch.tensor([angle], dtype=torch.float64)
    change = scores(layout, place, at) - scores(layout, None, at[:, ::2])
    half = change.shape[1] // 2
    return change[:, :: max(half, 1)][:, :2].square().sum().item()


def relative_change(layout: str, place: Place, distance: float) -> float:
    """Root mean square of a head's change of score at a distance, over that of the score: k = 2."""
    old = scores(layout, None, angles([distance], 64))
    return relative_error(scores(layout, place, angles([distance], 128)), old)
