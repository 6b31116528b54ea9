"""The mean or the variance of a polynomial: its derivation and its oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from ..derivations import Step
from ..formulas.evaluation import Approximation, Point
from ..laws import Law, MissingMoment, exact
from . import oracle
from .patterns import (
    Naming,
    Pattern,
    Terms,
    by_partitions,
    expanded,
    moment_text,
    multiplied,
)
from .polynomials import Polynomial, Tensor

if TYPE_CHECKING:
    import numpy as np

_LONGEST_TO_FACTOR = 40  # terms
_ESTIMATORS = {"mean": "E", "variance": "Var"}


def mean(statistic: sp.Expr) -> Expectation:
    """Return the expectation of a polynomial; it is computed when its value is asked for.

    Args:
        statistic: a polynomial in entries, such as ``total(w[i] ** 2, i)``.
    """
    return Expectation(statistic, "mean")


def variance(statistic: sp.Expr) -> Expectation:
    """Return the variance of a polynomial; it is computed when its value is asked for.

    Args:
        statistic: a polynomial in entries, such as ``total(w[i] ** 2, i)``.

    Example:
        >>> from verifiedbook import Index, Normal, Tensor, symbols, total, variance
        >>> d, σ = symbols("d sigma")
        >>> i = Index("i", d)
        >>> w = Tensor("w", Normal(0, σ), d)
        >>> squared_norm = variance(total(w[i] ** 2, i))
        >>> squared_norm.value
        2*d*sigma**4
        >>> for pattern in squared_norm.patterns:
        ...     print(pattern.text)
        i = j: d terms of E[w^4]
        i != j: d(d - 1) terms of E[w^2]^2
    """
    return Expectation(statistic, "variance")


class Expectation:
    """The mean or the variance of a polynomial, with its derivation and its oracle.

    Args:
        statistic: the polynomial.
        estimator: "mean" or "variance".

    Attributes:
        draws: the random tensors by name.
        quantity: the definition in one line of text.
        route: what vouches for the value, in words.

    Raises:
        TypeError: the statistic is not an expression.
        ValueError: the estimator is another one; the statistic is not a polynomial in entries; two
            fixed (unsummed) indices have the same size, so that they might coincide; or two
            different things have one name.
    """

    route, way = "pattern by pattern", "case by case"

    def __init__(self, statistic: sp.Expr, estimator: str) -> None:
        if estimator not in _ESTIMATORS:
            raise ValueError(f"estimator: got {estimator!r}; accepted: {', '.join(_ESTIMATORS)}")
        self._definition = Polynomial(statistic)
        self.statistic, self.estimator = self._definition.statistic, estimator
        self.draws = self._definition.draws
        self._moments = _EntryMoments({name: tensor.law for name, tensor in self.draws.items()})
        self.quantity = f"{_ESTIMATORS[estimator]}({self.statistic})"

    # ---- the derivation

    @cached_property
    def value(self) -> sp.Expr:
        """The result, factored where that makes it shorter.

        Raises:
            MissingMoment: the result depends on a moment that a law does not give.
        """
        return self._moments.revealed(_neat(self._expanded))

    @property
    def patterns(self) -> list[Pattern]:
        """The cases of the mean, or of the mean square for a variance: what to show a reader."""
        shown = self._by_partitions[1 if self.estimator == "mean" else 2]
        return [replace(p, value=self._moments.revealed(p.value)) for p in shown]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The derivation: definition, patterns, their sum, and for a variance the squared mean."""
        x, expectation = self.statistic, sp.Function("E")
        patterns = [Step(p.text, p.count * p.value) for p in self.patterns]
        if self.estimator == "mean":
            return Step("definition", expectation(x)), *patterns, Step("sum", self.value)
        first, second = (
            self._moments.revealed(_neat(_sum_of(self._by_partitions[k]))) for k in (1, 2)
        )
        return (
            Step("definition", expectation(x**2) - expectation(x) ** 2),
            *patterns,
            Step("sum: the mean square", second),
            Step("the mean, in the same way", first),
            Step("mean square minus squared mean", self.value),
        )

    @cached_property
    def _expanded(self) -> sp.Expr:
        means = {k: _sum_of(found) for k, found in self._by_partitions.items()}
        return means[1] if self.estimator == "mean" else sp.expand(means[2] - means[1] ** 2)

    @cached_property
    def _powers(self) -> dict[int, Terms]:
        """The statistic, and for a variance its square, multiplied out."""
        powers: dict[int, Terms] = {1: expanded(self.statistic)}
        if self.estimator == "variance":
            powers[2] = multiplied(powers[1], powers[1])
        return powers

    @cached_property
    def _by_partitions(self) -> dict[int, list[Pattern]]:
        naming, raw = Naming(self._definition.indices, self.draws), self._moments.raw
        return {k: by_partitions(terms, raw, naming) for k, terms in self._powers.items()}

    # ---- the oracle, and the definition in numbers

    def oracle(self, point: Point) -> Approximation:
        """Evaluate the definition at a point, multiplied out in its single entries.

        Args:
            point: a number for every symbol.

        Returns:
            The value, exact but for rounding, and a bound for that.

        Raises:
            ValueError: a number is missing, or the polynomial has more terms than allowed.
        """
        return oracle.value_at(self._definition, self.estimator, point)

    def evaluate(self, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
        """Evaluate the statistic as defined, by literal summation.

        Args:
            arrays: for every random tensor by name, an array of shape (replicates, *sizes).
            point: a number for every symbol.

        Returns:
            One number per replicate.

        Raises:
            ValueError: an array is missing or has another shape.
        """
        return oracle.evaluate(self._definition, arrays, point)

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Return the statistic's raw moments from the first to ``order`` at a point.

        They come from the oracle where there are few terms, else from the engine.
        """
        try:
            return oracle.raw_moments(self._definition, point, order)
        except oracle.TooManyTerms:
            numbers = {s: exact(v, str(s)) for s, v in point.items()}
            numeric = self.statistic.xreplace(
                {t: Tensor(t.name, t.law.at(point), *t.sizes) for t in self.draws.values()}
            )
            powers = (mean(numeric**k).value for k in range(1, order + 1))
            return [float(sp.N(power.subs(numbers), 30)) for power in powers]

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols of the statistic, the laws and the sizes."""
        return set(self._definition.symbols)


class _EntryMoments:
    """Moments of entries by tensor name; unknown and long ones stand as symbols until the end."""

    def __init__(self, laws: Mapping[str, Law]) -> None:
        self._laws = laws
        self._hidden: dict[sp.Symbol, sp.Expr | MissingMoment] = {}
        self.raw = lru_cache(None)(self._raw)

    def _raw(self, name: str, k: int) -> sp.Expr:
        moment: sp.Expr | MissingMoment
        try:
            moment = self._laws[name].raw_moment(k)
            if moment.is_Rational or not self._laws[name].opaque:
                return moment
        except MissingMoment as missing:
            moment = missing
        symbol = sp.Symbol(moment_text(name, k), real=True)
        self._hidden[symbol] = moment
        return symbol

    def revealed(self, value: sp.Expr) -> sp.Expr:
        """Put the moments back; raise MissingMoment if an unknown one is left."""
        left = {s: moment for s, moment in self._hidden.items() if s in value.free_symbols}
        for moment in left.values():
            if isinstance(moment, MissingMoment):
                raise moment
        return value.xreplace(left)


def _sum_of(patterns: Iterable[Pattern]) -> sp.Expr:
    """Return the expanded sum of count times value."""
    return sp.expand(sp.Add(*(p.count * p.value for p in patterns)))


def _neat(value: sp.Expr) -> sp.Expr:
    """Return the shortest of the expanded form and two factored ones."""
    if not isinstance(value, sp.Add) or len(value.args) > _LONGEST_TO_FACTOR:
        return value
    return min(sp.factor(value), sp.factor_terms(value), value, key=sp.count_ops)
