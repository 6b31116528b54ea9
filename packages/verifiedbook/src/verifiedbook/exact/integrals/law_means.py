"""Means of functions of one random entry, set up as derivations that can also be measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import sympy as sp

from ..derivations import Derivation
from ..formulas.evaluation import Point, number
from ..laws import Law, Normal, TruncatedNormal, Uniform

if TYPE_CHECKING:
    import numpy as np

Piece = tuple[sp.Expr, sp.Expr, sp.Expr]


class Draw(NamedTuple):
    """A random input of a statistic: the law of its iid entries and its sizes."""

    law: Law
    sizes: tuple[sp.Expr, ...]


def density(law: Law, variable: sp.Symbol) -> sp.Expr:
    """Return a law's density inside its support, with its normaliser left as an integral.

    Args:
        law: `Normal`, `TruncatedNormal` or `Uniform`.
        variable: the real symbol to write it in.

    Returns:
        The density as a SymPy expression.

    Raises:
        TypeError: the law has no density here.
    """
    if isinstance(law, Uniform):
        return 1 / (law.high - law.low)
    if isinstance(law, TruncatedNormal):
        weight = sp.exp(-((variable - law.mean) ** 2) / (2 * law.sd**2))
        return weight / sp.Integral(weight, (variable, law.low, law.high))
    if isinstance(law, Normal):
        return sp.exp(-((variable - law.mean) ** 2) / (2 * law.sd**2)) / (
            sp.sqrt(2 * sp.pi) * law.sd
        )
    raise TypeError(f"law: got {law}; accepted: Normal, TruncatedNormal, Uniform")


def support(law: Law) -> tuple[sp.Expr, sp.Expr]:
    """Return the ends of a law's support."""
    if isinstance(law, Uniform | TruncatedNormal):
        return law.low, law.high
    return -sp.oo, sp.oo


class LawMean(Derivation):
    r"""The mean of a piecewise function of one random entry, $\mathbb{E}\,g(z)$ for $z\sim$ law.

    Args:
        quantity: one line of text naming it.
        variable: the real symbol ``z`` in which ``pieces`` are written.
        law: the law of the entry.
        pieces: triples (function, low, high) that cover the support, or a single expression.

    It is a `Derivation` whose definition is a sum of unevaluated integrals, and it carries what a
    calibrated measurement needs.
    """

    estimator = "mean"

    def __init__(
        self, quantity: str, variable: sp.Symbol, law: Law, pieces: Sequence[Piece] | sp.Expr
    ) -> None:
        if isinstance(pieces, sp.Expr):
            pieces = [(pieces, *support(law))]
        self.variable, self.law, self.pieces = variable, law, tuple(pieces)
        cases = [(g, variable < high) for g, _, high in self.pieces[:-1]]
        self.statistic = sp.Piecewise(*cases, (self.pieces[-1][0], True))
        super().__init__(quantity, self._integral(1))

    def _integral(self, power: int) -> sp.Expr:
        p = density(self.law, self.variable)
        p_free = p.replace(lambda e: isinstance(e, sp.Integral), lambda e: sp.Integer(1))
        normaliser = sp.simplify(p_free / p) if p.has(sp.Integral) else sp.Integer(1)
        terms = [
            sp.Integral(sp.sympify(g) ** power * p_free, (self.variable, low, high))
            for g, low, high in self.pieces
        ]
        return sp.Add(*terms) / normaliser

    @property
    def draws(self) -> Mapping[str, Draw]:
        """Random inputs of the statistic, by name."""
        return {self.variable.name: Draw(self.law, ())}

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Raw moments of ``g(z)`` from the first to ``order``, by quadrature."""
        found = (number(self._integral(power), point, 17) for power in range(1, order + 1))
        moments = [float(moment) for moment in found if moment is not None]
        if len(moments) < order:
            raise ValueError(f"point: {self.quantity} has a moment without a finite value there")
        return moments

    def evaluate(self, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
        """Evaluate ``g`` literally on an array of values of ``z``."""
        import numpy as np

        z = np.asarray(arrays[self.variable.name], dtype=float)
        result = np.full(z.shape, np.nan)
        for g, low, high in self.pieces:
            ends = [float(sp.sympify(end).subs(dict(point))) for end in (low, high)]
            inside = (z >= ends[0]) & (z <= ends[1]) & np.isnan(result)
            erf = {"erf": np.vectorize(math.erf, otypes=[float])}
            formula = sp.sympify(g).subs(dict(point))
            function = sp.lambdify(self.variable, formula, [erf, "numpy"])
            result[inside] = np.broadcast_to(function(z[inside]), z[inside].shape)
        return result
