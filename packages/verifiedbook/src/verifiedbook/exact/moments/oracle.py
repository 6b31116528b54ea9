"""The oracle: a definition as written, at a point where sizes and symbols have numbers.

Its sums are gone through place by place, so that it becomes a polynomial in the single entries,
which SymPy's polynomial ring multiplies out; each of its terms is a product of means of powers of
entries, by the nodes of their laws. Nothing is shared with the derivation.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.polys.rings import ring

from ..formulas.evaluation import Approximation, Point
from ..laws import Law
from .polynomials import Index, Polynomial

if TYPE_CHECKING:
    import numpy as np

_MOST, _FEW = 200_000, 20_000  # terms that a polynomial may have when it is multiplied out
_ROUNDING = 1e-14  # relative, per factor of a term

_Arrays = Mapping[str, Any]  # numbers by name and place


class TooManyTerms(ValueError):
    """The polynomial has more terms than allowed."""


def value_at(definition: Polynomial, estimator: str, point: Point) -> Approximation:
    """Evaluate the mean or the variance of a definition at a point, with a bound for rounding."""
    if estimator == "mean":
        return _mean(*_multiplied_out(definition, point, 1))
    polynomial, laws = _multiplied_out(definition, point, 2)
    return _mean((polynomial - _rational(_mean(polynomial, laws).value)) ** 2, laws)


def raw_moments(definition: Polynomial, point: Point, order: int) -> list[float]:
    """Return the means of the powers of a definition's statistic, from the first to ``order``.

    Raises:
        TooManyTerms: the engine is quicker.
    """
    polynomial, laws = _multiplied_out(definition, point, order, _FEW)
    return [_mean(polynomial**k, laws).value for k in range(1, order + 1)]


def evaluate(definition: Polynomial, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
    """Evaluate a statistic as defined, by literal summation: one number per replicate."""
    numbers, sizes = definition.at(point)
    for name, tensor in definition.draws.items():
        if name not in arrays:
            raise ValueError(f"arrays: got none for {name}; accepted: one for every random tensor")
        shape = tuple(int(size.subs(numbers)) for size in tensor.sizes)
        if arrays[name].shape[1:] != shape:
            raise ValueError(
                f"arrays: got {name} of shape {arrays[name].shape}; accepted: (n, *{shape})"
            )
    found: np.ndarray = _literal(definition.statistic.xreplace(numbers), sizes, float)(arrays, {})
    return found


def _multiplied_out(
    definition: Polynomial, point: Point, power: int, most: int = _MOST
) -> tuple[Any, Sequence[Law]]:
    """The statistic as a polynomial in the entries that are used, and the law of each of these.

    A fixed index is 0 there.

    Raises:
        TooManyTerms: it, or this power of it, has more terms than allowed.
    """
    numbers, sizes = definition.at(point)
    statistic = definition.statistic.xreplace(numbers)
    bound = {i for node in definition.statistic.atoms(sp.Sum) for i in node.variables}
    laws: dict[tuple[str, tuple[int, ...]], Law] = {}
    for entry in definition.entries:
        tensor, own = entry.base.label, list(dict.fromkeys(entry.indices))
        for run in product(*(range(sizes[i] if i in bound else 1) for i in own)):
            place = tuple(run[own.index(i)] for i in entry.indices)
            laws[tensor.name, place] = tensor.law.at(point)
    if (terms := _most_terms(statistic**power, sizes, len(laws))[0]) > most:
        raise TooManyTerms(f"point: there may be {terms} terms; accepted: at most {most}")
    made, *entries = ring([f"x{n}" for n in range(len(laws))], sp.QQ)
    arrays: dict[str, dict[Any, Any]] = defaultdict(dict)
    for (name, at), entry in zip(laws, entries, strict=True):
        arrays[name][..., *at] = entry
    return made(_literal(statistic, sizes, _rational)(arrays, {})), [*laws.values()]


def _mean(polynomial: Any, laws: Sequence[Law]) -> Approximation:
    """The mean of a polynomial in independent entries."""

    @cache  # the entries of a tensor have one law
    def of_power(law: Law, k: int) -> tuple[float, float]:
        nodes, shares = law.nodes()
        return (
            math.fsum(p * x**k for x, p in zip(nodes, shares, strict=True)),
            math.fsum(p * abs(x) ** k for x, p in zip(nodes, shares, strict=True)),
        )

    powers = [
        {k: of_power(law, k) for k in {degrees[place] for degrees in polynomial}}
        for place, law in enumerate(laws)
    ]
    values, errors = [], []
    for degrees, coefficient in polynomial.items():
        means = [by_power[k] for by_power, k in zip(powers, degrees, strict=True) if k]
        values.append(float(coefficient) * math.prod(mean for mean, _ in means))
        size = abs(float(coefficient)) * math.prod(size for _, size in means)
        errors.append(_ROUNDING * (1 + len(means)) * size)
    return Approximation(math.fsum(values), math.fsum(errors))


def _most_terms(node: sp.Expr, sizes: Mapping[Index, int], entries: int) -> tuple[int, int]:
    """How many terms a statistic has at most when it is multiplied out, and its degree."""
    if not node.has(sp.Indexed) or isinstance(node, sp.Indexed):
        return 1, int(isinstance(node, sp.Indexed))
    parts = node.args[: 1 if isinstance(node, sp.Sum | sp.Pow) else None]
    terms, degrees = zip(*(_most_terms(part, sizes, entries) for part in parts), strict=True)
    degree = sum(degrees) if isinstance(node, sp.Mul) else max(degrees)
    most = math.prod(terms) if isinstance(node, sp.Mul) else sum(terms)
    if isinstance(node, sp.Sum):
        most *= math.prod(sizes[i] for i in node.variables)
    if isinstance(node, sp.Pow):
        most, degree = math.comb(most + int(node.exp) - 1, int(node.exp)), degree * int(node.exp)
    return min(most, math.comb(entries + degree, degree)), degree


def _rational(number: Any) -> Any:
    """A number of the polynomial ring: itself, or where it is irrational its decimals."""
    exact = sp.sympify(number)
    return sp.QQ.from_sympy(exact if exact.is_Rational else sp.Rational(float(exact)))


def _literal(
    node: sp.Expr, sizes: Mapping[Index, int], number: Callable[[sp.Expr], Any]
) -> Callable[[_Arrays, Mapping[Index, int]], Any]:
    """Return the function of (arrays by name, values of indices) that a numeric statistic is.

    Sums are loops over their indices; a fixed index takes its first value.
    """
    if isinstance(node, sp.Indexed):
        name, indices = node.base.label.name, node.indices
        return lambda arrays, at: arrays[name][(..., *(at.get(i, 0) for i in indices))]
    if not node.has(sp.Indexed):
        value = number(node)
        return lambda arrays, at: value
    if isinstance(node, sp.Sum):
        body, indices = _literal(node.function, sizes, number), node.variables
        runs = [*product(*(range(sizes[i]) for i in indices))]
        places = [dict(zip(indices, run, strict=True)) for run in runs]
        return lambda arrays, at: sum(body(arrays, {**at, **place}) for place in places)
    if isinstance(node, sp.Pow):
        base, power = _literal(node.base, sizes, number), int(node.exp)
        return lambda arrays, at: base(arrays, at) ** power
    parts = [_literal(part, sizes, number) for part in node.args]
    if isinstance(node, sp.Add):
        return lambda arrays, at: sum(part(arrays, at) for part in parts)
    return lambda arrays, at: math.prod(part(arrays, at) for part in parts)
