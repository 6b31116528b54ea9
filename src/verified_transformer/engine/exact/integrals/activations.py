r"""Gaussian moments of activation functions: what a layer passes on of a normal pre-activation.

For $x\sim\mathcal N(0,\sigma^2)$ and an activation $f$ this module gives $\mathbb{E}f(x)^k$ and
$\mathbb{E}f'(x)^k$: in closed form where one is known, else by quadrature with an error bound; and
the slope of the second-moment map $q\mapsto\mathbb{E}f(\sqrt q\,z)^2$, which says whether a stack
of such layers pulls a wrong scale back (slope below 1 at its fixed point) or drives it away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from ..formulas.evaluation import Approximation, integrate_numerically
from ..formulas.notation import symbols
from ..laws import Normal
from .closed_forms import integrate_by_parts
from .law_means import LawMean, Piece

_z, _σ = symbols("z sigma")
_Φ = (1 + sp.erf(_z / sp.sqrt(2))) / 2
_OF = ("value", "slope")


def _selu_constants() -> tuple[sp.Expr, sp.Expr]:
    """λ and α of SELU, from E f = 0 and E f² = 1 (Klambauer et al. 2017, eq. 14)."""
    tail = sp.exp(sp.Rational(1, 2)) * sp.erfc(1 / sp.sqrt(2))
    α = sp.sqrt(2 / sp.pi) / (1 - tail)
    square = (1 + α**2 * (sp.exp(2) * sp.erfc(sp.sqrt(2)) - 2 * tail + 1)) / 2
    return 1 / sp.sqrt(square), α


@dataclass(frozen=True)
class Activation:
    """An activation function, smooth on each of its pieces.

    Args:
        name: as PyTorch calls it.
        pieces: triples (expression in the book's ``z``, low, high) that cover the real line.
    """

    name: str
    pieces: tuple[Piece, ...]

    def _powers(self, power: int, of: str) -> list[Piece]:
        if not isinstance(power, int) or power < 1:
            raise ValueError(f"power: got {power!r}; accepted: a positive integer")
        if of not in _OF:
            raise ValueError(f"of: got {of!r}; accepted: {', '.join(_OF)}")
        pieces = self.pieces
        if of == "slope":
            pieces = tuple((sp.diff(g, _z), low, high) for g, low, high in pieces)
        return [(g**power, low, high) for g, low, high in pieces]

    def moment(self, power: int) -> LawMean:
        """Return a moment as a definition: unevaluated integrals, ready for a derivation.

        Args:
            power: which raw moment, for a normal input with the book's σ.
        """
        name = f"E {self.name}(z)" + (f"**{power}" if power > 1 else "")
        return LawMean(name, _z, Normal(0, _σ), self._powers(power, "value"))

    def closed_form(self, power: int) -> sp.Expr:
        """Return the moment in closed form, as an expression in the book's σ.

        Args:
            power: which raw moment.

        Raises:
            ValueError: no closed form is known (tanh and sigmoid, for example).
        """
        return _closed_form(self, power)

    def quadrature(self, power: int, sd: float = 1.0, *, of: str = "value") -> Approximation:
        """Integrate the moment numerically.

        Args:
            power: which raw moment.
            sd: standard deviation of the normal input, positive.
            of: "value" for the activation, "slope" for its derivative.

        Returns:
            The moment with a bound for its error.
        """
        return self._expect(self._powers(power, of), sd)

    def second_moment_slope(self, sd: float = 1.0) -> Approximation:
        r"""Return the slope of $q\mapsto\mathbb{E}f(\sqrt q\,z)^2$ at $q=$ sd².

        It is $\mathbb{E}[x f(x) f'(x)]/q$, so kinks do no harm. At a fixed point a slope below 1
        pulls a small error of the scale back, layer by layer; 1 keeps it.

        Args:
            sd: standard deviation of the normal input, positive.
        """
        products = [(_z * g * sp.diff(g, _z), low, high) for g, low, high in self.pieces]
        found = self._expect(products, sd)
        return Approximation(found.value / sd**2, found.error / sd**2)

    @staticmethod
    def _expect(pieces: list[Piece], sd: float) -> Approximation:
        if not sd > 0:
            raise ValueError(f"sd: got {sd}; accepted: a positive number")
        weight = sp.exp(-(_z**2) / 2) / sp.sqrt(2 * sp.pi)
        # the variable is standardised, so that the rule's nodes fit whatever the scale is
        parts = [
            integrate_numerically(
                sp.Integral(g.subs(_z, sp.Float(sd, 17) * _z) * weight, (_z, *ends))
            )
            for g, *ends in pieces
        ]
        value = math.fsum(part.value for part in parts)
        return Approximation(value, math.fsum(part.error for part in parts))


@cache
def activation(name: str) -> Activation:
    """Return an activation function by PyTorch's name for it.

    Args:
        name: "identity", "relu", "elu" (α = 1), "selu", "gelu" (with erf), "silu", "tanh" or
            "sigmoid".

    Raises:
        ValueError: another name; nothing is guessed.

    Example:
        >>> activation("relu").closed_form(2)
        sigma**2/2
        >>> activation("tanh").quadrature(2, sd=1.5).error < 1e-14
        True
    """
    if name not in _PIECES:
        raise ValueError(f"name: got {name!r}; accepted: {', '.join(_PIECES)}")
    negative, positive = map(sp.sympify, _PIECES[name])
    # cut at 0: half lines are where the quadrature rule is exact to rounding
    return Activation(name, ((negative, -sp.oo, sp.S.Zero), (positive, sp.S.Zero, sp.oo)))


_λ, _α = _selu_constants()
_PIECES: dict[str, tuple[Any, ...]] = {  # below zero and above
    "identity": (_z, _z),
    "relu": (0, _z),
    "elu": (sp.exp(_z) - 1, _z),
    "selu": (_λ * _α * (sp.exp(_z) - 1), _λ * _z),
    "gelu": (_z * _Φ,) * 2,
    "silu": (_z / (1 + sp.exp(-_z)),) * 2,
    "tanh": (sp.tanh(_z),) * 2,
    "sigmoid": (1 / (1 + sp.exp(-_z)),) * 2,
}


@cache
def _closed_form(of: Activation, power: int) -> sp.Expr:
    r"""A moment without integrals.

    That of GELU follows by Stein's identity $\mathbb{E}[x\,g(x)]=\sigma^2\,\mathbb{E}g'(x)$: with
    $s=\sigma^2$, $\mathbb{E}\varphi^2=1/(2\pi\sqrt{1+2s})$,
    $(1+s)\,\mathbb{E}[x\Phi\varphi]=s\,\mathbb{E}\varphi^2$, and the orthant probability
    $\mathbb{E}\Phi^2=1/4+\arcsin(s/(1+s))/(2\pi)$.
    """
    defined = of.moment(power)  # refuses what is none
    if of.name in ("identity", "relu", "elu", "selu"):
        return sp.expand(integrate_by_parts(defined.start))
    if (of.name, power) != ("gelu", 2):
        raise ValueError(
            f"power: no closed form of E {of.name}**{power} is known; "
            "accepted: use quadrature(power, sd)"
        )
    s = _σ**2
    Φ2 = sp.Rational(1, 4) + sp.asin(s / (1 + s)) / (2 * sp.pi)
    xΦφ = s / (1 + s) / (2 * sp.pi * sp.sqrt(1 + 2 * s))
    return s * (Φ2 + 2 * xΦφ)
