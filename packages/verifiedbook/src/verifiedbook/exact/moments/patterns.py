"""A polynomial multiplied out into terms, and the patterns of indices that make its mean.

A term is a product of entries; equal ones are collected. Its summed indices coincide in every way:
k different values of an index of size d stand for d(d-1)…(d-k+1) terms, each a product of raw
moments of entries.
"""

from __future__ import annotations

import math
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        while classes < max(rank, default=-1) < len(rank) - 1:
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
        powers[name, tuple([place[x] for x in where])] += power
    return tuple([TermFactor(*key, power) for key, power in sorted(powers.items())])


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


_Group = tuple[int, ...]


@dataclass(frozen=True)
class Pattern:
    """One line of a derivation, ``text``: ``count`` terms, each worth ``value``."""

    text: str
    count: sp.Expr
    value: sp.Expr


class _Coincidence(NamedTuple):
    """One way in which the indices of a term coincide."""

    labels: tuple[Label, ...]  # of the term that is left: they all differ
    factors: tuple[TermFactor, ...]
    ways: int  # in how many ways it arises
    groups: list[_Group]  # in the first of them, the original labels that each label stands for


class Naming:
    """Letters for labels, and the number of values of each size."""

    def __init__(self, indices: Sequence[Index], taken: Collection[str]) -> None:
        self.indices = indices
        self.taken = {str(x) for i in indices for x in (i, i.size)} | set(taken)
        self.sizes: dict[str, sp.Expr] = {str(i.size): i.size for i in indices}

    def names(self, term: Term) -> list[str]:
        """Name a term's labels by the definition's indices, then by the letters that follow."""
        taken = set(self.taken)
        own = {s: [i.name for i in self.indices if str(i.size) == s] for s in self.sizes}
        free = {s: [x for x in own[s] if Label(s, f"={x}") not in term.labels] for s in own}
        names: list[str] = []
        for size, mark in term.labels:
            letters = string.ascii_lowercase.partition(own[size][0][0])
            spare = (c for c in letters[2] + letters[0] if c not in taken)
            fresh = free[size].pop(0) if free[size] and not mark else next(spare, f"i{len(names)}")
            names.append(mark[1:] or fresh)
            taken.add(names[-1])
        return names


def by_partitions(terms: Terms, raw: Moment, naming: Naming) -> list[Pattern]:
    """Return the patterns of a polynomial, whose mean is their sum."""
    patterns = []
    for term, coefficient in terms.items():
        names = naming.names(term)
        for found in _coincidences(term, raw):
            worth = [moment_text(f.name, f.power) for f in found.factors]
            value = sp.Mul(coefficient, *(raw(f.name, f.power) for f in found.factors))
            counts = [sp.Integer(found.ways), *falling(found.labels, naming.sizes)]
            where = _text(names, term, found)
            patterns.append(_pattern(where, counts, worth, value, coefficient))
    return patterns


def _coincidences(term: Term, raw: Moment) -> list[_Coincidence]:
    """Let the summed labels coincide in every way, one label after another.

    Ways that are worth 0 are left out.
    """
    states: dict[Term, tuple[int, list[_Group]]] = {term: (1, [(x,) for x in range(len(term[0]))])}
    for _ in range(sum(mark == "" for _, mark in term.labels)):
        found: dict[Term, tuple[int, list[_Group]]] = {}
        for (labels, factors), (ways, groups) in states.items():
            x = next(x for x, (_, mark) in enumerate(labels) if not mark)
            size = labels[x].size
            apart = [*labels[:x], Label(size, APART), *labels[x + 1 :]]
            for y in [y for y, label in enumerate(apart) if label.mark and label.size == size]:
                place = [y if z == x else z for z in range(len(labels))]
                merged = Term(tuple(apart), relabelled(factors, place))
                if _is_zero(merged, raw):
                    continue
                new, number = reduced(*merged)
                joined: list[_Group] = [()] * len(number)
                for z, group in enumerate(groups):
                    joined[number[place[z]]] += group
                before, first = found.get(new, (0, joined))
                found[new] = before + ways, min(first, joined, key=_largest_first)
        states = found
    patterns = [_Coincidence(*state, *rest) for state, rest in states.items()]
    return sorted(patterns, key=lambda p: (len(p.labels), _largest_first(p.groups)))


def falling(labels: Sequence[Label], sizes: Mapping[str, sp.Expr]) -> Iterator[sp.Expr]:
    """Yield d, d - 1, … for as many labels of each size d as must differ."""
    for text, size in sizes.items():
        marks = [label.mark for label in labels if label.size == text]
        yield from (size - k for k in range(sum(m != APART for m in marks), len(marks)))


def _largest_first(groups: Iterable[_Group]) -> list[tuple[int, list[int]]]:
    return sorted((-len(group), sorted(group)) for group in groups)


def _is_zero(term: Term, raw: Moment) -> bool:
    """Tell whether an entry has moment 0, and no label that is still summed can change that."""
    labels, factors = term
    moving = [f for f in factors if any(not labels[x].mark for x in f.where)]
    for factor in factors:
        if factor not in moving and raw(factor.name, factor.power) == 0:
            near = (
                zip(factor.where, f.where, strict=True) for f in moving if f.name == factor.name
            )
            if not any(all(x == y or not labels[y].mark for x, y in pairs) for pairs in near):
                return True
    return False


def _text(names: Sequence[str], term: Term, found: _Coincidence) -> str:
    clauses = []
    for size in dict.fromkeys(label.size for label in term.labels):
        pairs = zip(found.groups, found.labels, strict=True)
        here = [group for group, label in pairs if label.size == size]
        blocks = [" = ".join(names[x] for x in block) for _, block in _largest_first(here)]
        if len(blocks) > 2:
            clauses.append(", ".join(blocks) + " all different")
        else:
            clauses.append("any " * (len(here) == len(here[0]) == 1) + " != ".join(blocks))
    return "; ".join(clauses) or "constant"


def _pattern(
    where: str,
    counts: Sequence[sp.Expr],
    names: Sequence[str],
    value: sp.Expr,
    coefficient: sp.Expr,
) -> Pattern:
    """Return a pattern with its text: which terms, factors of their number, names of moments."""
    number = math.prod(int(c) for c in counts if c.is_Integer)
    repeated = Counter(c for c in counts if not c.is_Integer)
    symbols = (power_text(f"({c})" if c.is_Add else str(c), k) for c, k in repeated.items())
    symbolic = " ".join(symbols).replace(" (", "(")
    count = f"{number} {symbolic}".strip() if number != 1 or not symbolic else symbolic
    factor = f"({coefficient})" if coefficient.is_Add else str(coefficient)
    factors = [factor] * (coefficient != 1) + [power_text(x, k) for x, k in Counter(names).items()]
    text = f"{where}: {count} term{'s' * (count != '1')} of {' '.join(factors) or '1'}"
    return Pattern(text, sp.Mul(*counts), value)
