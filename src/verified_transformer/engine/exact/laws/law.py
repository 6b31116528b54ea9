"""What every law has: moments, cumulants, nodes and a sampler; and exact numbers for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import sympy as sp

from ..integrals.quadrature import double_exponential

if TYPE_CHECKING:
    import torch


Rule = tuple[list[float], list[float]]  # nodes, weights


class MissingMoment(ValueError):
    """A moment was needed that the law does not define."""


def exact(value: object, name: str, *, infinite: bool = False) -> sp.Expr:
    """Return a real number or expression in SymPy, every decimal as the rational it prints.

    Raises:
        TypeError: ``value`` is neither, or it is infinite and that was not asked for.
    """
    try:
        if isinstance(value, float) and math.isfinite(value):
            return sp.Rational(repr(float(value)))
        expression = sp.sympify(value, strict=True)
        decimals = {x: sp.Rational(str(x)) for x in expression.atoms(sp.Float)}
        expression = expression.xreplace(decimals)
    except (AttributeError, TypeError, ValueError):
        expression = None
    unbounded = infinite and expression in (sp.oo, -sp.oo)
    real = isinstance(expression, sp.Expr) and expression is not sp.nan
    if not unbounded and not (real and expression.is_real is not False):
        raise TypeError(f"{name}: got {value!r}; accepted: a real number or SymPy expression")
    return expression


def cumulant_from(raw: Callable[[int], sp.Expr], k: int) -> sp.Expr:
    """Return the k-th cumulant of a law from its raw moments, by the usual recursion."""
    found = [sp.Integer(0)]
    for n in range(1, k + 1):
        known = (math.comb(n - 1, j - 1) * found[j] * raw(n - j) for j in range(1, n) if found[j])
        found.append(sp.expand(raw(n) - sp.Add(*known)))
    return found[k]


class Law:
    """The law of one real random entry; the subclasses are its only instances."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # the subclasses are dataclasses
    opaque = False  # True where moments are too long to expand: the engine keeps them as symbols
    _unbounded: tuple[str, ...] = ()  # parameters that may be infinite

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            value = exact(given, field.name, infinite=field.name in self._unbounded)
            object.__setattr__(self, field.name, value)

    @property
    def name(self) -> str:
        """Deterministic text, such as ``Normal(0, sigma)``."""
        return f"{type(self).__name__}({', '.join(map(str, self._parameters()))})"

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols in the law's parameters."""
        found: set[sp.Symbol] = sp.Tuple(*self._parameters()).free_symbols
        return found

    def raw_moment(self, k: int) -> sp.Expr:
        """Return E[w**k].

        Raises:
            ValueError: k is not an integer >= 0.
            MissingMoment: the law does not define this moment.
        """
        if not isinstance(k, int) or k < 0:
            raise ValueError(f"k: got {k!r}; accepted: an integer >= 0")
        return self._raw(k) if k else sp.Integer(1)

    def cumulant(self, k: int) -> sp.Expr:
        """Return the k-th cumulant; from the raw moments unless a closed form is known.

        Raises:
            ValueError: k is not an integer >= 1.
            MissingMoment: the law does not define a moment on which it depends.
        """
        if not isinstance(k, int) or k < 1:
            raise ValueError(f"k: got {k!r}; accepted: an integer >= 1")
        return self._cumulant(k)

    def at(self, point: Mapping[sp.Symbol, object]) -> Law:
        """Return the law with the point's numbers put in for its symbols."""
        return type(self)(*(put(value, point) for value in self._parameters()))

    def nodes(self) -> Rule:
        """Return nodes and weights of a rule that gives means of powers to rounding.

        A discrete law returns its values and probabilities.

        Raises:
            ValueError: a parameter is not a number yet.
        """
        centre, scale, low, high, normal = self._standard()
        found, weights = _rule_between(low, high, normal=normal)
        return [centre + scale * x for x in found], weights

    def sample_(self, out: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Fill a tensor in place with iid draws, on its device.

        Args:
            out: float32 or float64 tensor of any shape and strides.
            generator: torch generator on the same device.

        Returns:
            ``out``.

        Raises:
            TypeError: ``out`` is something else.
            ValueError: a parameter is not a number yet, or rejection would hardly ever accept.
        """
        import torch

        if not isinstance(out, torch.Tensor) or out.dtype not in (torch.float32, torch.float64):
            given = getattr(out, "dtype", type(out).__name__)
            raise TypeError(f"out: got {given}; accepted: a float32 or float64 tensor")
        with torch.no_grad():
            self._fill(out, generator)
        return out

    def _raw(self, k: int) -> sp.Expr:
        raise NotImplementedError

    def _standard(self) -> tuple[float, float, float, float, bool]:
        """Centre and scale; the ends about them, in scales; whether it is normal, else uniform."""
        raise NotImplementedError

    def _cumulant(self, k: int) -> sp.Expr:
        return cumulant_from(self.raw_moment, k)

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        raise NotImplementedError

    def _parameters(self) -> list[sp.Expr]:
        return [getattr(self, field.name) for field in fields(self)]

    def _numbers(self) -> list[float]:
        return [as_float(value, self) for value in self._parameters()]


def put(value: sp.Expr, point: Mapping[sp.Symbol, object]) -> sp.Expr:
    return value.subs({s: exact(point[s], str(s)) for s in value.free_symbols if s in point})


def as_float(value: sp.Expr, law: Law) -> float:
    if value.free_symbols:
        names = ", ".join(sorted(map(str, value.free_symbols)))
        raise ValueError(f"{law.name}: {names} not a number yet; call .at(point) with its value")
    return float(value)


def require_positive(name: str, value: sp.Expr) -> None:
    if value.is_extended_positive is False:
        raise ValueError(f"{name}: got {value}; accepted: greater than 0")


@lru_cache(maxsize=256)
def _rule_between(low: float, high: float, *, normal: bool) -> Rule:
    """Quadrature of the standard normal law, or of the uniform one, given low <= x <= high."""
    mode = min(max(low, 0.0), high)
    reach = math.sqrt(mode**2 + 300)  # beyond it the density is below e⁻¹⁵⁰ of its maximum
    xs, weights = [], []
    for end in (max(low, -reach), min(high, reach)):
        half = (end - mode) / 2
        for place, weight in zip(*double_exponential(half_line=False), strict=True):
            xs.append(mode + half * place)  # from the mode outwards: what is symmetric stays so
            density = math.exp((mode**2 - xs[-1] ** 2) / 2) if normal else 1.0
            weights.append(abs(half) * weight * density)
    size = math.fsum(weights)
    return xs, [weight / size for weight in weights]
