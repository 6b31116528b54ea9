"""Route B: partition the factors of each tensor into blocks, and take cumulants.

A block of factors of one tensor is worth a cumulant and makes their indices equal, with no
restriction on the others; the deterministic matrices that are left contract to traces.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp

from .patterns import Moment, Pattern, block_text, pattern
from .terms import Factor, Label, Term, Terms, moved, reduced

if TYPE_CHECKING:
    import numpy as np


class Contraction(sp.Symbol):  # type: ignore[misc]  # SymPy has no types
    """A real number made of deterministic matrices: ``tr(S**2)`` or ``(sum_a S_aa**2)``."""

    term: Term

    def __new__(cls, term: Term) -> Contraction:
        symbol: Contraction = super().__new__(cls, _trace(term) or _entry_sum(term), real=True)
        symbol.term = term
        return symbol

    def _latex(self, printer: object) -> str:
        text = re.sub(r"_(\w+)", r"_{\1}", self.name.replace(".T", r"^{\top}"))
        text = re.sub(r"\*\*(\d+)", r"^{\1}", text).replace("*", " ").replace("sum", r"\sum")
        return text.replace("tr(", r"\operatorname{tr}(")

    def number(self, arrays: Mapping[str, np.ndarray]) -> float:
        """Evaluate for numeric matrices by name; a fixed index takes its first value."""
        import numpy as np

        labels, factors = self.term
        operands: list[Any] = []
        for _, name, where, power in factors:
            fixed = tuple(0 if labels[x].mark else slice(None) for x in where)
            operands += [arrays[name][fixed], [x for x in where if not labels[x].mark]] * power
        return float(np.einsum(*operands, []))


def components(term: Term) -> list[Term]:
    """Split a term of fixed matrices into parts that share no summed index."""
    labels, factors = term
    parts: list[tuple[set[int], list[Factor]]] = []
    for factor in factors:
        summed, group = {x for x in factor.where if not labels[x].mark}, [factor]
        for part in [part for part in parts if part[0] & summed]:
            parts.remove(part)
            summed, group = summed | part[0], group + part[1]
        parts.append((summed, group))
    return sorted(reduced(labels, group)[0] for _, group in parts)


def _trace(term: Term) -> str | None:
    """Return ``tr(...)`` if the factors are matrices that multiply in a circle, else None."""
    labels, factors = term
    copies = [factor for factor in factors for _ in range(factor.power)]
    ends = [(c, axis, x) for c, copy in enumerate(copies) for axis, x in enumerate(copy.where)]
    meeting = [[end for end in ends if end[2] == x] for x in range(len(labels))]
    if any(len(copy.where) != 2 for copy in copies) or any(len(ends) != 2 for ends in meeting):
        return None
    if any(label.mark for label in labels):
        return None
    word: list[tuple[str, bool]] = []
    copy, axis = 0, 0
    while len(word) < len(copies):  # enter a copy at one axis, leave it at the other
        _, name, where, _ = copies[copy]
        word.append((name, axis == 1))
        leaving = (copy, 1 - axis, where[1 - axis])
        ((copy, axis, _),) = [end for end in meeting[leaving[2]] if end != leaving]
    back = [(name, not turned) for name, turned in word[::-1]]
    best = min(w[k:] + w[:k] for w in (word, back) for k in range(len(word)))
    runs = [(name + ".T" * turned, len([*run])) for (name, turned), run in groupby(best)]
    return "tr(" + "*".join(name + f"**{n}" * (n > 1) for name, n in runs) + ")"


def _entry_sum(term: Term) -> str:
    labels, factors = term
    fixed = {mark[1:] for _, mark in labels}
    spare = (c for c in string.ascii_lowercase if c not in fixed)
    letters = [mark[1:] or next(spare) for _, mark in labels]
    summed = "".join(c for c, (_, mark) in zip(letters, labels, strict=True) if not mark)
    entries = "*".join(
        f"{name}_{''.join(letters[x] for x in where)}" + f"**{power}" * (power > 1)
        for _, name, where, power in factors
    )
    return f"(sum_{summed} {entries})" if summed else entries


class Part(NamedTuple):
    """A factor of what a partition is worth: "cumulant" of a tensor's entry, by name and order,
    "size" of an index that is left alone, or "sum" of a term of fixed matrices.
    """

    kind: str
    subject: str | Term
    order: int = 0


Product = tuple[Part, ...]  # sorted


def by_cumulants(
    powers: Mapping[int, Terms], cumulant: Moment, sizes: Mapping[str, sp.Expr]
) -> dict[int, list[Pattern]]:
    """Return the patterns of each power of the statistic by route B."""
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


def blocks(term: Term, cumulant: Moment, known: dict[Term, Counter[Product]]) -> Counter[Product]:
    """Return how often each product arises; the first factor's block is chosen first.

    Results so far are in ``known``, and are added to it.
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
