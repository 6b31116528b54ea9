"""The mean or the variance of a polynomial: its derivation, its oracle, its changed definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import sympy as sp

from ..derivations import Step
from ..formulas.evaluation import Approximation, Point, equivalent
from ..laws import Law, MissingMoment, Normal, TruncatedNormal, Uniform, exact
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
from .polynomials import Index, Polynomial, Tensor, free_indices, summed

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
        >>> from verified_transformer import Index, Normal, Tensor, symbols, total, variance
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

    route = "pattern by pattern"

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

    def _in_full(self) -> sp.Expr:
        return self._moments.revealed(self._expanded)

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
            powers = (mean(numeric**k)._in_full() for k in range(1, order + 1))
            return [float(sp.N(power.subs(numbers), 30)) for power in powers]

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols of the statistic, the laws and the sizes."""
        return set(self._definition.symbols)

    # ---- what must break the derivation

    def definition_mutants(self) -> Iterator[tuple[str, Callable[[], sp.Expr]]]:
        """Yield changed definitions: a label, and a function that derives the changed value.

        A law, the independence of the tensors, an exponent, the indices and the sizes are changed,
        one at a time. A change that by the oracle too leaves the value as it is, is left out.
        """
        seen = {self.statistic}
        for label, statistic in changed_statistics(self._definition):
            if statistic not in seen:
                seen.add(statistic)
                changed = Expectation(statistic, self.estimator)
                if not self._is_indifferent_to(changed):
                    yield label, changed._in_full

    @cached_property
    def _somewhere(self) -> tuple[Point, Approximation] | None:
        """A point at which the oracle has a value, and that."""
        return oracle.point_and_value(self._definition, self.oracle)

    def _is_indifferent_to(self, changed: Expectation) -> bool:
        try:
            if not _equal(changed._expanded, self._expanded) or self._somewhere is None:
                return False
            point, first = self._somewhere
            second = changed.oracle(point)
        except ValueError:
            return False
        return abs(first.value - second.value) <= 100 * (first.error + second.error)


def _equal(first: sp.Expr, second: sp.Expr) -> bool:
    difference = sp.expand(first - second)
    if difference == 0 or difference.is_polynomial():
        return bool(difference == 0)
    if not equivalent(first, second):  # one point at which they differ decides, and is quick
        return False
    return bool(sp.simplify(difference) == 0)  # coefficients such as 1/(d - 1)


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


# ------------------------------------------------------------------ changed definitions
# One mistake planted in a statistic, a law, an index or a size.


_Change = tuple[str, sp.Expr]  # label, changed statistic


def changed_statistics(definition: Polynomial) -> Iterator[_Change]:
    """Yield every single change of a definition, some of which may leave its value as it is."""
    whole = definition.statistic
    yield from _tensor_changes(definition)
    for node in sp.preorder_traversal(whole):
        if isinstance(node, sp.Pow) and node.has(sp.Indexed):
            label = f"exponent {node.exp} -> {node.exp + 1} on {node.base}"
            yield label, whole.xreplace({node: node.base ** (node.exp + 1)})
        elif isinstance(node, sp.Sum):
            for label, changed in _index_changes(node):
                yield label, whole.xreplace({node: changed})
    for size in definition.sizes.values():
        larger = {i: Index(i.name, size + 1) for i in definition.indices if i.size == size}
        yield (
            f"size {size} -> {size + 1}",
            whole.xreplace(larger).replace(
                lambda node: isinstance(node, sp.Sum),
                lambda node: summed(node.function, node.variables),
            ),
        )


def _tensor_changes(definition: Polynomial) -> Iterator[_Change]:
    """_Change a tensor's entries, its law, or its independence of itself and others."""
    whole, tensors = definition.statistic, definition.draws.values()
    for t in tensors:
        own = [entry for entry in definition.entries if entry.base.label == t]
        yield f"{t} shifted by 1", whole.xreplace({entry: entry + 1 for entry in own})
        yield f"{t} doubled", whole.xreplace({entry: 2 * entry for entry in own})
        copy = Tensor(f"{t}'", t.law, *t.sizes)
        once = _first_replaced(whole, {entry: copy[entry.indices] for entry in own})
        yield f"{t} in one place replaced by an independent copy", once
        if law := _other_law(t.law):
            label = f"law of {t}: {type(t.law).__name__} -> {type(law).__name__}"
            yield label, whole.xreplace({t: Tensor(t.name, law, *t.sizes)})
    for s, t in combinations(tensors, 2):
        if s.sizes == t.sizes:
            yield f"{t} identified with {s}", whole.xreplace({t: s})


def _first_replaced(node: sp.Expr, new: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Replace the first occurrence of one of ``new``; in a power, one of its factors."""
    if node in new:
        return new[node]
    k = next(k for k, part in enumerate(node.args) if part.has(*new))
    changed = _first_replaced(node.args[k], new)
    if isinstance(node, sp.Pow):
        return changed * node.base ** (node.exp - 1)
    return node.func(*node.args[:k], changed, *node.args[k + 1 :])


def _index_changes(node: sp.Sum) -> Iterator[_Change]:
    """Merge two indices of a sum; let one of them run apart in one place."""
    body, indices = node.function, node.variables
    for i, j in combinations(indices, 2):
        if i.size == j.size:
            kept = [x for x in indices if x != j]
            yield f"{j} merged with {i}", summed(body.xreplace({j: i}), kept)
    for i in indices:
        new = Index(f"{i}'", i.size)
        entries = [entry for entry in body.atoms(sp.Indexed) if i in entry.indices]
        if not entries:
            continue  # it counts copies
        split = _first_replaced(body, {entry: entry.xreplace({i: new}) for entry in entries})
        if i in free_indices(split):
            yield f"{i} split in two", summed(split, [*indices, new])


def _other_law(law: Law) -> Law | None:
    """Return another law of the same mean and variance; a truncated one without truncation."""
    if isinstance(law, Normal):
        return Uniform.of_variance(law.sd**2, law.mean)
    if isinstance(law, TruncatedNormal):
        return Normal(law.mean, law.sd)
    try:
        return Normal(law.raw_moment(1), sp.sqrt(sp.factor(law.variance)))
    except (ValueError, TypeError):
        return None
