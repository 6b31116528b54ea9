"""Route B: partition the factors of each tensor into blocks, and take cumulants.

A block of factors of one tensor is worth a cumulant and makes their indices equal, with no
restriction on the others; the deterministic matrices that are left contract to traces.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import sympy as sp

from .contractions import Contraction, components
from .patterns import Pattern, block_text, pattern
from .terms import Factor, Label, Term, Terms, moved, reduced


class Part(NamedTuple):
    """A factor of what a partition is worth.

    Attributes:
        kind: "cumulant" of a tensor's entry, "size" of an index that is left alone, or "sum" of a
            term of fixed matrices.
        subject: name of the tensor, text of the size, or the term.
        order: of the cumulant, else 0.
    """

    kind: str
    subject: str | Term
    order: int = 0


Product = tuple[Part, ...]  # sorted


def by_cumulants(
    powers: Mapping[int, Terms],
    cumulant: Callable[[str, int], sp.Expr],
    sizes: Mapping[str, sp.Expr],
) -> dict[int, list[Pattern]]:
    """Return the patterns of each power of the statistic by route B.

    Args:
        powers: the polynomials, by power.
        cumulant: cumulant of an entry, by tensor name and order.
        sizes: the sizes by their text.
    """
    patterns: dict[int, list[Pattern]] = defaultdict(list)
    known: dict[Term, Counter[Product]] = {}
    for power, terms in powers.items():
        for term, coefficient in terms.items():
            for parts, ways in sorted(blocks(term, cumulant, known).items()):
                orders = [(str(p.subject), p.order) for p in parts if p.kind == "cumulant"]
                traces = [Contraction(p.subject) for p in parts if isinstance(p.subject, Term)]
                counts = [sizes[str(p.subject)] for p in parts if p.kind == "size"]
                worth = [*(f"κ{k}[{name}]" for name, k in orders), *map(str, traces)]
                value = sp.Mul(coefficient, *(cumulant(*order) for order in orders), *traces)
                counts = [sp.Integer(ways), *counts]
                patterns[power].append(
                    pattern(block_text(orders), counts, worth, value, coefficient)
                )
    return patterns


def blocks(
    term: Term,
    cumulant: Callable[[str, int], sp.Expr],
    known: dict[Term, Counter[Product]],
) -> Counter[Product]:
    """Return how often each product arises; the first factor's block is chosen first.

    Args:
        term: the term to partition.
        cumulant: cumulant of an entry, by tensor name and order.
        known: results so far, which are used and added to.
    """
    if term in known:
        return known[term]
    labels, factors = term
    result = known[term] = Counter()
    first = next((f for f in factors if f.is_random), None)
    if first is None:
        result[tuple(Part("sum", part) for part in components(term))] = 1
        return result
    same = [f for f in factors if f[:2] == first[:2]]
    others = [f for f in factors if f[:2] != first[:2]]
    powers = [f.power - (f is first) for f in same]
    for order in range(1, sum(powers) + 2):
        if cumulant(first.name, order) == 0:
            continue
        for taken in _choices(powers, order - 1):
            block = [f for f, t in zip(same, taken, strict=True) if t or f is first]
            left_over = zip(same, powers, taken, strict=True)
            rest = [f._replace(power=p - t) for f, p, t in left_over if p > t]
            place = _equated(labels, block)
            child, left = reduced(labels, moved((*others, *rest), place))
            alone = {place[x] for f in block for x in f.where} - set(left)
            parts = [Part("size", labels[x].size) for x in alone if not labels[x].mark]
            parts.append(Part("cumulant", first.name, order))
            ways = math.prod(map(math.comb, powers, taken))
            for more, times in blocks(child, cumulant, known).items():
                result[tuple(sorted((*parts, *more)))] += ways * times
    return result


def _choices(powers: list[int], k: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to take k copies from factors with these powers."""
    if not powers:
        yield from [()] if k == 0 else []
        return
    for taken in range(min(powers[0], k) + 1):
        yield from ((taken, *rest) for rest in _choices(powers[1:], k - taken))


def _equated(labels: Sequence[Label], block: list[Factor]) -> list[int]:
    """Return for each label the one it becomes when the block's factors are the same entry."""
    place = list(range(len(labels)))
    for first, *others in zip(*(factor.where for factor in block), strict=True):
        for x in others:
            keep, drop = place[first], place[x]
            if labels[drop].mark:  # a fixed index stays
                keep, drop = drop, keep
            place = [keep if y == drop else y for y in place]
    return place
