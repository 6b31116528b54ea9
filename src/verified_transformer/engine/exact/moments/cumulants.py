"""Route B: partition the factors of each tensor into blocks, and take cumulants.

A block of factors of one tensor is worth a cumulant and makes their indices equal, with no
restriction on the others; an index that is left alone is worth its size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import sympy as sp

from .terms import Label, Moment, Term, TermFactor, Terms, reduced, relabelled


def by_cumulants(terms: Terms, cumulant: Moment, sizes: Mapping[str, sp.Expr]) -> sp.Expr:
    """Return the mean of a polynomial by route B."""
    known: dict[Term, sp.Expr] = {}
    return sp.expand(sp.Add(*(c * _mean(t, cumulant, sizes, known) for t, c in terms.items())))


def _mean(
    term: Term, cumulant: Moment, sizes: Mapping[str, sp.Expr], known: dict[Term, sp.Expr]
) -> sp.Expr:
    """The mean of a term: the first factor's block is chosen first, then those of the others."""
    labels, factors = term
    if not factors:
        return sp.Integer(1)
    if term in known:
        return known[term]
    first = factors[0]
    same = [f for f in factors if f.name == first.name]
    others = [f for f in factors if f.name != first.name]
    powers = [f.power - (f is first) for f in same]
    found = []
    for taken in product(*(range(power + 1) for power in powers)):
        worth = cumulant(first.name, sum(taken) + 1)
        if worth == 0:
            continue
        block = [f for f, t in zip(same, taken, strict=True) if t or f is first]
        left_over = zip(same, powers, taken, strict=True)
        rest = [f._replace(power=p - t) for f, p, t in left_over if p > t]
        place = _equated(labels, block)
        child, left = reduced(labels, relabelled((*others, *rest), place))
        alone = {place[x] for f in block for x in f.where} - set(left)
        counts = [sizes[labels[x].size] for x in alone if not labels[x].mark]
        ways = math.prod(map(math.comb, powers, taken))
        found.append(sp.Mul(ways, worth, *counts, _mean(child, cumulant, sizes, known)))
    known[term] = sp.expand(sp.Add(*found))
    return known[term]


def _equated(labels: Sequence[Label], block: list[TermFactor]) -> list[int]:
    """Return for each label the one it becomes when the block's factors are the same entry."""
    place = list(range(len(labels)))
    for first, *others in zip(*(factor.where for factor in block), strict=True):
        for x in others:
            keep, drop = place[first], place[x]
            if labels[drop].mark:  # a fixed index stays
                keep, drop = drop, keep
            place = [keep if y == drop else y for y in place]
    return place
