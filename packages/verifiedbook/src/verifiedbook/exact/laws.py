"""Laws of one random entry: exact moments, nodes and a sampler for each.

Parameters are SymPy expressions or numbers. A decimal such as ``1.3`` is read as the rational
13/10 that it prints, so that everything computed from it stays exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import mpmath
import sympy as sp

from .integrals.quadrature import double_exponential

if TYPE_CHECKING:
    import torch

_LEAST_ACCEPTANCE = 1e-3
_LARGEST_BATCH = 1 << 22  # draws at a time, to replace rejected ones
_Rule = tuple[list[float], list[float]]  # nodes, weights


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

    @property
    def variance(self) -> sp.Expr:
        """E[w**2] - E[w]**2.

        Raises:
            MissingMoment: the law does not define one of the two.
        """
        return sp.expand(self.raw_moment(2) - self.raw_moment(1) ** 2)

    def at(self, point: Mapping[sp.Symbol, object]) -> Law:
        """Return the law with the point's numbers _put in for its symbols."""
        return type(self)(*(_put(value, point) for value in self._parameters()))

    def nodes(self) -> _Rule:
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

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        raise NotImplementedError

    def _parameters(self) -> list[sp.Expr]:
        return [getattr(self, field.name) for field in fields(self)]

    def _numbers(self) -> list[float]:
        return [_as_float(value, self) for value in self._parameters()]


def _put(value: sp.Expr, point: Mapping[sp.Symbol, object]) -> sp.Expr:
    return value.subs({s: exact(point[s], str(s)) for s in value.free_symbols if s in point})


def _as_float(value: sp.Expr, law: Law) -> float:
    if value.free_symbols:
        names = ", ".join(sorted(map(str, value.free_symbols)))
        raise ValueError(f"{law.name}: {names} not a number yet; call .at(point) with its value")
    return float(value)


def _require_positive(name: str, value: sp.Expr) -> None:
    if value.is_extended_positive is False:
        raise ValueError(f"{name}: got {value}; accepted: greater than 0")


@lru_cache(maxsize=256)
def _rule_between(low: float, high: float, *, normal: bool) -> _Rule:
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


@dataclass(frozen=True)
class Normal(Law):
    """Normal law with this mean and standard deviation."""

    mean: sp.Expr
    sd: sp.Expr

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive("sd", self.sd)

    def _raw(self, k: int) -> sp.Expr:
        pairs = ((j, math.comb(k, j) * sp.factorial2(j - 1)) for j in range(0, k + 1, 2))
        return sp.Add(*(count * self.mean ** (k - j) * self.sd**j for j, count in pairs))

    def _standard(self) -> tuple[float, float, float, float, bool]:
        mean, sd = self._numbers()
        return mean, sd, -math.inf, math.inf, True

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        mean, sd = self._numbers()
        out.normal_(mean, sd, generator=generator)


@dataclass(frozen=True)
class Uniform(Law):
    """Uniform law on the interval from low to high."""

    low: sp.Expr
    high: sp.Expr

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive("high - low", self.high - self.low)

    @classmethod
    def of_variance(cls, variance: object, mean: object = 0) -> Uniform:
        """Return the uniform law with this variance and mean."""
        half, centre = sp.sqrt(3 * exact(variance, "variance")), exact(mean, "mean")
        return cls(centre - half, centre + half)

    def _raw(self, k: int) -> sp.Expr:
        powers = (self.high**j * self.low ** (k - j) for j in range(k + 1))
        return sp.expand(sp.Add(*powers) / (k + 1))

    def _standard(self) -> tuple[float, float, float, float, bool]:
        low, high = self._numbers()
        return (low + high) / 2, (high - low) / 2, -1.0, 1.0, False

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        low, high = self._numbers()
        out.uniform_(low, high, generator=generator)


@dataclass(frozen=True)
class TruncatedNormal(Law):
    """The normal law of this mean and sd (before truncation), given that low <= w <= high.

    The bounds are absolute, not in standard deviations, and may be ``-oo`` or ``oo``.
    """

    mean: sp.Expr
    sd: sp.Expr
    low: sp.Expr
    high: sp.Expr
    opaque = True
    _unbounded = ("low", "high")

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive("sd", self.sd)
        _require_positive("high - low", self.high - self.low)

    def _raw(self, k: int) -> sp.Expr:
        a, b = (self.low - self.mean) / self.sd, (self.high - self.mean) / self.sd
        mass = (sp.erf(b / sp.sqrt(2)) - sp.erf(a / sp.sqrt(2))) / 2

        def edge(x: sp.Expr, power: int) -> sp.Expr:
            density = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
            return sp.Integer(0) if x.is_infinite else x**power * density

        standard = [sp.Integer(1)]
        for j in range(1, k + 1):  # integration by parts
            inner = (j - 1) * standard[j - 2] if j > 1 else 0
            standard.append(inner + (edge(a, j - 1) - edge(b, j - 1)) / mass)
        terms = (math.comb(k, j) * self.mean ** (k - j) * self.sd**j * m
                 for j, m in enumerate(standard))  # fmt: skip
        return sp.Add(*terms)

    @property
    def _acceptance(self) -> float:
        """Probability that a draw before truncation lies between the bounds."""
        a, b = (bound / math.sqrt(2) for bound in self._standard()[2:4])
        if a > 0:  # erfc keeps its digits in the lower tail of -x only
            a, b = -b, -a
        return (math.erfc(-b) - math.erfc(-a)) / 2

    def _standard(self) -> tuple[float, float, float, float, bool]:
        mean, sd, low, high = self._numbers()
        return mean, sd, (low - mean) / sd, (high - mean) / sd, True

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        mean, sd, low, high = self._numbers()
        if self._acceptance < _LEAST_ACCEPTANCE:
            raise ValueError(
                f"{self.name}: rejection would accept only {self._acceptance:.1e} of the draws; "
                f"accepted: at least {_LEAST_ACCEPTANCE}"
            )
        flat = out.view(-1) if out.is_contiguous() else out.new_empty(out.numel())
        flat.normal_(mean, sd, generator=generator)
        rejected = ((flat < low) | (flat > high)).nonzero().view(-1)
        while rejected.numel():  # the next accepted draws take the rejected ones' places
            size = min(_LARGEST_BATCH, int(rejected.numel() / self._acceptance) + 16)
            fresh = flat.new_empty(size).normal_(mean, sd, generator=generator)
            accepted = fresh[(fresh >= low) & (fresh <= high)][: rejected.numel()]
            flat[rejected[: accepted.numel()]] = accepted
            rejected = rejected[accepted.numel() :]
        if not out.is_contiguous():
            out.copy_(flat.view(out.shape))


@dataclass(frozen=True)
class Discrete(Law):
    """The law with these values and probabilities."""

    values: tuple[sp.Expr, ...]
    probabilities: tuple[sp.Expr, ...]

    def __init__(self, values: Sequence[object], probabilities: Sequence[object]) -> None:
        values = tuple(exact(v, "values") for v in values)
        weights = tuple(exact(p, "probabilities") for p in probabilities)
        if len(values) != len(weights):
            raise ValueError(
                f"probabilities: got {len(weights)} for {len(values)} values; accepted: one each"
            )
        if any(p.is_negative for p in weights) or sp.simplify(sp.Add(*weights) - 1) != 0:
            raise ValueError(f"probabilities: got {weights}; accepted: >= 0 with sum 1")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "probabilities", weights)

    def at(self, point: Mapping[sp.Symbol, object]) -> Law:
        return Discrete(*([_put(x, point) for x in xs] for xs in (self.values, self.probabilities)))

    def _raw(self, k: int) -> sp.Expr:
        pairs = zip(self.values, self.probabilities, strict=True)
        return sp.expand(sp.Add(*(p * v**k for v, p in pairs)))

    def nodes(self) -> _Rule:
        values = [_as_float(v, self) for v in self.values]
        return values, [_as_float(p, self) for p in self.probabilities]

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        import torch

        values, weights = torch.tensor(self.nodes(), dtype=torch.float64, device=out.device)
        draws = torch.rand(out.shape, dtype=weights.dtype, device=out.device, generator=generator)
        out.copy_(values[torch.bucketize(draws, weights.cumsum(0)[:-1], right=True)])


class Rademacher(Discrete):
    """Plus or minus ``scale``, with probability 1/2 each."""

    def __init__(self, scale: object = 1) -> None:
        size = exact(scale, "scale")
        _require_positive("scale", size)
        super().__init__((-size, size), (sp.Rational(1, 2), sp.Rational(1, 2)))

    @property
    def name(self) -> str:
        return f"Rademacher({self.values[1]})"


SKEWED = Discrete((-1, 1, 3), (sp.Rational(5, 8), sp.Rational(1, 4), sp.Rational(1, 8)))
"""Mean 0, E w² = 2, E w³ = 3, E w⁴ = 11: finds samplers that ignore their input."""


@dataclass(frozen=True)
class General(Law):
    """Any law with these raw moments, such as ``General({1: 0, 2: σ**2, 4: κ*σ**4})``.

    A moment that is not given is unknown: it is refused where a result depends on it.
    """

    moments: tuple[tuple[int, sp.Expr], ...]

    def __init__(self, moments: Mapping[int, object]) -> None:
        if not moments or not all(isinstance(k, int) and k > 0 for k in moments):
            raise ValueError(f"moments: got orders {list(moments)}; accepted: integers >= 1")
        given = tuple((k, exact(moments[k], f"moments[{k}]")) for k in sorted(moments))
        object.__setattr__(self, "moments", given)

    @property
    def name(self) -> str:
        return "General({" + ", ".join(f"{k}: {m}" for k, m in self.moments) + "})"

    def _raw(self, k: int) -> sp.Expr:
        for order, moment in self.moments:
            if order == k:
                return moment
        raise MissingMoment(f"{self.name} does not give E[w**{k}], which is needed")

    def at(self, point: Mapping[sp.Symbol, object]) -> Law:
        """Return the Gauss law: the discrete law on fewest points that has these moments.

        Where every given odd moment is 0, the missing odd moments count as 0; with orders up to 4
        these are three symmetric points.

        Raises:
            ValueError: a symbol has no number, or no law has these moments.
            MissingMoment: a moment between the given ones is missing.
        """
        given = {k: _as_float(_put(m, point), self) for k, m in self.moments}
        symmetric = not any(m for k, m in given.items() if k % 2)
        if symmetric:
            given = {k: 0.0 for k in range(1, max(given), 2)} | given
        return _gauss_law([1.0] + [given[k] if k in given else float(self._raw(k))
                                   for k in range(1, max(given) + 1)], self.name)  # fmt: skip

    def nodes(self) -> _Rule:
        return self.at({}).nodes()

    def _fill(self, out: torch.Tensor, generator: torch.Generator) -> None:
        self.at({}).sample_(out, generator)


def _gauss_law(raw: Sequence[float], name: str) -> Discrete:
    """The discrete law on fewest points with the raw moments 1, m₁, …, of which all are matched."""
    scale = math.sqrt(abs(raw[2])) if len(raw) > 2 and raw[2] else 1.0
    scaled = [m / scale**k for k, m in enumerate(raw)]
    padded = [*scaled, 0.0]
    for n in range(len(raw) // 2 + len(raw) % 2, 0, -1):
        rows, shifted = (
            mpmath.matrix([padded[i + by : i + by + n] for i in range(n)]) for by in (0, 1)
        )
        try:
            root = mpmath.cholesky(rows)
        except ValueError:
            continue
        if min(root[i, i] for i in range(n)) < 1e-6:
            continue  # fewer points carry these moments
        inverse = root**-1
        jacobi = inverse * shifted * inverse.T
        if 2 * n - 1 == len(raw):  # the last odd moment is free
            jacobi[n - 1, n - 1] = jacobi[0, 0]
        with mpmath.workdps(25):  # Golub and Welsch (1969)
            roots, vectors = mpmath.eigsy(jacobi)
        nodes, weights = [float(x) for x in roots], [float(v) ** 2 for v in vectors[0, :]]
        if all(_is_close(sum(w * x**k for x, w in zip(nodes, weights, strict=True)), m)
               for k, m in enumerate(scaled)):  # fmt: skip
            shares = [exact(w, "weight") for w in weights]
            return Discrete([scale * x for x in nodes], [w / sum(shares) for w in shares])
    raise ValueError(f"{name}: no law has the moments {list(raw[1:])}")


def _is_close(found: float, given: float) -> bool:
    return math.isclose(found, given, rel_tol=1e-9, abs_tol=1e-9)
