r"""Gaussian moments of activation functions: what a layer passes on of a normal pre-activation.

For $x\sim\mathcal N(0,\sigma^2)$ and an activation $f$ this module gives $\mathbb{E}f(x)^k$ and
$\mathbb{E}f'(x)^k$: in closed form where one is known, else by quadrature with an error bound; and
the slope of the second-moment map $q\mapsto\mathbb{E}f(\sqrt q\,z)^2$, which says whether a stack
of such layers pulls a wrong scale back (slope below 1 at its fixed point) or drives it away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
_OF: dict[str, Callable[[sp.Expr], sp.Expr]] = {
    "value": lambda g: g, "slope": lambda g: sp.diff(g, _z),
}  # fmt: skip


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

    @cache  # noqa: B019  # there are eight of them
    def closed_form(self, power: int) -> sp.Expr:
        r"""Return a raw moment, for a normal input of the book's σ, in closed form.

        That of GELU follows by Stein's identity $\mathbb{E}[x\,g(x)]=\sigma^2\,\mathbb{E}g'(x)$:
        with $s=\sigma^2$, $\mathbb{E}\varphi^2=1/(2\pi\sqrt{1+2s})$,
        $(1+s)\,\mathbb{E}[x\Phi\varphi]=s\,\mathbb{E}\varphi^2$, and the orthant probability
        $\mathbb{E}\Phi^2=1/4+\arcsin(s/(1+s))/(2\pi)$.

        Args:
            power: which raw moment.

        Raises:
            ValueError: no closed form is known (tanh and sigmoid, for example).
        """
        _require_power(power)
        if self.name in ("identity", "relu", "elu", "selu"):
            pieces = [(g**power, low, high) for g, low, high in self.pieces]
            mean = LawMean(f"E {self.name}(z)**{power}", _z, Normal(0, _σ), pieces)
            return sp.expand(integrate_by_parts(mean.start))
        if (self.name, power) != ("gelu", 2):
            raise ValueError(
                f"power: no closed form of E {self.name}**{power} is known; "
                "accepted: use quadrature(power, sd)"
            )
        s = _σ**2
        Φ2 = sp.Rational(1, 4) + sp.asin(s / (1 + s)) / (2 * sp.pi)
        xΦφ = s / (1 + s) / (2 * sp.pi * sp.sqrt(1 + 2 * s))
        return s * (Φ2 + 2 * xΦφ)

    def quadrature(self, power: int, sd: float = 1.0, *, of: str = "value") -> Approximation:
        """Integrate a raw moment numerically.

        Args:
            power: which raw moment.
            sd: standard deviation of the normal input, positive.
            of: "value" for the activation, "slope" for its derivative.

        Returns:
            The moment with a bound for its error.
        """
        _require_power(power)
        if of not in _OF:
            raise ValueError(f"of: got {of!r}; accepted: {', '.join(_OF)}")
        return self._mean(lambda g: _OF[of](g) ** power, sd)

    def second_moment_slope(self, sd: float = 1.0) -> Approximation:
        r"""Return the slope of $q\mapsto\mathbb{E}f(\sqrt q\,z)^2$ at $q=$ sd².

        It is $\mathbb{E}[x f(x) f'(x)]/q$, so kinks do no harm. At a fixed point a slope below 1
        pulls a small error of the scale back, layer by layer; 1 keeps it.

        Args:
            sd: standard deviation of the normal input, positive.
        """
        found = self._mean(lambda g: _z * g * sp.diff(g, _z), sd)
        return Approximation(found.value / sd**2, found.error / sd**2)

    def _mean(self, of: Callable[[sp.Expr], sp.Expr], sd: float) -> Approximation:
        """The mean of what is made of each piece."""
        if not sd > 0:
            raise ValueError(f"sd: got {sd}; accepted: a positive number")
        weight = sp.exp(-(_z**2) / 2) / sp.sqrt(2 * sp.pi)
        # the variable is standardised, so that the rule's nodes fit whatever the scale is
        parts = [
            integrate_numerically(
                sp.Integral(of(g).subs(_z, sp.Float(sd, 17) * _z) * weight, (_z, *ends))
            )
            for g, *ends in self.pieces
        ]
        value = math.fsum(part.value for part in parts)
        return Approximation(value, math.fsum(part.error for part in parts))


def _require_power(power: object) -> None:
    if not isinstance(power, int) or power < 1:
        raise ValueError(f"power: got {power!r}; accepted: a positive integer")


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
