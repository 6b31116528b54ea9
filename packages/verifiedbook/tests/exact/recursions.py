"""Recursions over layers, with which two tests prove."""

from __future__ import annotations

from typing import Any

import sympy as sp

from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.induction import Induction
from verifiedbook.exact.laws import General
from verifiedbook.exact.moments import Index, Tensor, mean, total

d, k, l, σ, τ, α = symbols("d k l sigma tau alpha")  # noqa: E741
x, F = sp.symbols("x F", real=True)
SUBLAYER = (x + F) / sp.sqrt(2)


def passed(c: Any, t: Any) -> Any:
    return c * sp.diff(SUBLAYER, x)


front = Induction("coefficient of x_0 in x_l", l, base=(0, 1), step=passed)
branch = Induction(
    "coefficient of F_k in x_l", l, base=(k + 1, sp.diff(SUBLAYER, F)), step=passed
)  # fmt: skip


def returned(v: Any, t: Any) -> Any:
    i, j = Index("i", d), Index("j", d)
    g = Tensor("g", General({1: 0, 2: v}), d)
    W = Tensor("W", General({1: 0, 2: τ**2 / d}), d, d)
    return mean((g[j] + total(W[i, j] * g[i], i)) ** 2 / (1 + τ**2))


gradient = Induction("E g**2 at a layer", l, base=(0, σ**2), step=returned)
