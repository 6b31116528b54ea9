"""A polynomial multiplied out: coefficients of terms, equal terms collected."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import product
from typing import Any, NamedTuple

import sympy as sp

from .polynomials import Index

APART = "*"  # the mark of a summed label that differs from all other marked ones of its size


class Label(NamedTuple):
    """What a place of a factor runs over.

    The mark "" is summed; `APART` is summed, but apart from all other marked labels of its size;
    "=i" is the fixed index i.
    """

    size: str
    mark: str


class TermFactor(NamedTuple):
    """A power of an entry: the tensor's name, the label of each axis, the exponent."""

    name: str
    where: tuple[int, ...]
    power: int


class Term(NamedTuple):
    """A product of factors, whose axes point by number to labels."""

    labels: tuple[Label, ...]
    factors: tuple[TermFactor, ...]


Terms = Mapping[Term, sp.Expr]  # a polynomial: the coefficient of each term
Moment = Callable[[str, int], sp.Expr]  # of an entry, by tensor name and order
_ONE = Term((), ())


def _ranks(keys: Iterable[Any]) -> list[int]:
    keys = list(keys)
    place = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [place[key] for key in keys]


@lru_cache(maxsize=1 << 16)
def _canonical(term: Term) -> tuple[Term, tuple[int, ...]]:
    """Renumber the labels, so that terms equal but for the numbers become the same.

    Colour refinement with individualisation: a term is never confused with a different one; that
    all equal ones are found is not needed. Returns the term and the new number of each label.
    """
    labels, factors = term
    rank = _ranks(labels)
    while True:
        classes = -1
        while classes < max(rank, default=-1):
            classes = max(rank)
            seen: list[list[tuple[Any, ...]]] = [[] for _ in labels]
            for name, where, power in factors:
                around = [rank[x] for x in where]
                for axis, x in enumerate(where):
                    seen[x].append((name, power, axis, *around))
            rank = _ranks((r, tuple(sorted(s))) for r, s in zip(rank, seen, strict=True))
        tied = [r for r, times in Counter(rank).items() if times > 1]
        if not tied:
            break
        chosen = rank.index(min(tied))
        rank = _ranks((r, x != chosen) for x, r in enumerate(rank))
    ordered = tuple(label for _, label in sorted(zip(rank, labels, strict=True)))
    return Term(ordered, relabelled(factors, rank)), tuple(rank)


def relabelled(
    factors: Iterable[TermFactor], place: Sequence[int] | Mapping[int, int]
) -> tuple[TermFactor, ...]:
    """Replace each label x by place[x] and collect equal factors."""
    powers: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for name, where, power in factors:
        powers[name, tuple(place[x] for x in where)] += power
    return tuple(TermFactor(*key, power) for key, power in sorted(powers.items()))


def reduced(labels: Sequence[Label], factors: Iterable[TermFactor]) -> tuple[Term, dict[int, int]]:
    """The canonical term without unused labels, and the new number of each label that is left."""
    kept = sorted({x for factor in factors for x in factor.where})
    number = {x: new for new, x in enumerate(kept)}
    term = Term(tuple(labels[x] for x in kept), relabelled(factors, number))
    canonical, rank = _canonical(term)
    return canonical, {x: rank[new] for x, new in number.items()}


def expanded(node: sp.Expr) -> dict[Term, sp.Expr]:
    """Multiply out into coefficients of terms."""
    if isinstance(node, sp.Indexed):
        own = list(dict.fromkeys(node.indices))
        factor = TermFactor(node.base.label.name, tuple(map(own.index, node.indices)), 1)
        return {reduced([_fixed_label(i) for i in own], [factor])[0]: sp.Integer(1)}
    if not node.has(sp.Indexed):
        return {_ONE: node}
    if isinstance(node, sp.Add):
        return _collected(item for part in node.args for item in expanded(part).items())
    if isinstance(node, sp.Mul):
        return reduce(multiplied, map(expanded, node.args))
    if isinstance(node, sp.Pow):
        return reduce(multiplied, [expanded(node.base)] * int(node.exp))
    bound = {_fixed_label(i): i.size for i in node.variables}
    terms = []
    for (labels, factors), coefficient in expanded(node.function).items():
        absent = [size for label, size in bound.items() if label not in labels]
        opened = [Label(label.size, "") if label in bound else label for label in labels]
        terms.append((reduced(opened, factors)[0], coefficient * sp.Mul(*absent)))
    return _collected(terms)


def _fixed_label(index: Index) -> Label:
    return Label(str(index.size), f"={index.name}")


def _collected(terms: Iterable[tuple[Term, sp.Expr]]) -> dict[Term, sp.Expr]:
    sums: dict[Term, list[sp.Expr]] = defaultdict(list)
    for term, coefficient in terms:
        sums[term].append(coefficient)
    return {term: c for term, parts in sums.items() if (c := sp.Add(*parts)) != 0}


def multiplied(first: Terms, second: Terms) -> dict[Term, sp.Expr]:
    """Multiply two polynomials out."""
    terms = []
    for ((labels, factors), a), ((others, more), b) in product(first.items(), second.items()):
        joined, place = list(labels), []
        for label in others:  # both sides share a fixed index, but no summed one
            shared = label.mark and label in labels
            place.append(labels.index(label) if shared else len(joined))
            joined += [] if shared else [label]
        terms.append((reduced(joined, (*factors, *relabelled(more, place)))[0], a * b))
    return _collected(terms)


def moment_text(name: str, k: int) -> str:
    """Return the name of a raw moment, such as ``E[w^4]``."""
    return f"E[{power_text(name, k)}]"


def power_text(base: str, k: int) -> str:
    return f"{base}^{k}" if k > 1 else base
