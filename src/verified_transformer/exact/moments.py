"""Exact moments of polynomials in iid entries with symbolic sizes, by two independent routes.

Route A sums over the ways in which summed indices coincide: k different values of an index of size
d stand for d(d-1)…(d-k+1) terms, each a product of raw moments. Route B sums over partitions of the
factors: a block of factors of one tensor is worth a cumulant and makes their indices equal, with no
restriction on the others; the deterministic matrices that are left contract to traces.

Both start from the multiplied-out polynomial and share no rule about expectations. Where a
deterministic matrix occurs, only route B applies; the second witness is then the oracle, at two
points with random matrices. The oracle evaluates the definition as written, before anything is
multiplied out, on a tensor grid of Gauss nodes; it shares nothing with either route.

A polynomial is a SymPy expression in entries ``w[i]`` and sums ``total(..., i)``.
"""

from __future__ import annotations

import math
import random
import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import combinations, groupby, islice, product

import numpy as np
import sympy as sp

from .derivations import Step
from .evaluation import Approximation, Point, equivalent
from .laws import Law, MissingMoment, Normal, TruncatedNormal, Uniform, cumulant_from, exact

_LARGEST_GRID, _CHEAP_GRID, _CHUNK = 2_000_000, 200_000, 1 << 16  # nodes
_ROUNDING = 2e-14  # relative, per degree of the polynomial and doubling of the grid
_TRIES = 40  # random points looked at to find two at which the laws exist and the grid is small
_LONGEST_TO_FACTOR = 40  # terms
_RANDOM, _FIXED, _SYMMETRIC = range(3)  # roles of arrays


class RoutesDisagree(ArithmeticError):
    """Two routes found different values: the engine has a fault."""


class _GridTooLarge(ValueError):
    pass


# ---------------------------------------------------------------------------- what is written down


class _Named(sp.Symbol):
    """A symbol that equals another one only if all that was said of it is equal too."""

    def __new__(cls, name: str, identity: tuple, **attributes: object) -> _Named:
        symbol = sp.Symbol.__xnew__(cls, name, real=True)
        vars(symbol).update(
            attributes, _identity=sp.srepr(identity)
        )  # text, so that SymPy can sort
        return symbol

    def _hashable_content(self) -> tuple:
        return (*super()._hashable_content(), self._identity)

    def _sympystr(self, printer: object) -> str:  # printers know another class named Tensor
        return printer._print_Symbol(self)

    _latex = _pretty = _sympystr


class Index(_Named):
    """A running index: its name and how many values it takes (a symbol or an integer)."""

    def __new__(cls, name: str, size: object) -> Index:
        size = _size(size, f"size of {name}")
        return super().__new__(cls, name, (size,), size=size)


class _Array(_Named):
    def __new__(cls, name: str, sizes: tuple, identity: tuple, **attributes: object) -> _Array:
        sizes = tuple(_size(size, f"sizes of {name}") for size in sizes)
        return super().__new__(cls, name, (sizes, *identity), sizes=sizes, **attributes)

    def __getitem__(self, indices: Index | tuple[Index, ...]) -> sp.Indexed:
        indices = indices if isinstance(indices, tuple) else (indices,)
        if not all(isinstance(i, Index) for i in indices):
            raise TypeError(f"indices of {self}: got {indices}; accepted: Index objects")
        if tuple(i.size for i in indices) != self.sizes:
            given = ", ".join(f"{i} of size {i.size}" for i in indices)
            raise ValueError(f"indices of {self}: got {given}; accepted: sizes {self.sizes}")
        return sp.Indexed(sp.IndexedBase(self), *indices)


class Tensor(_Array):
    """A random tensor, whose entries are independent and follow one law.

    Args:
        name: of this tensor alone, within an expression.
        law: the law of an entry.
        sizes: one per axis, symbols or integers.
    """

    def __new__(cls, name: str, law: Law, *sizes: object) -> Tensor:
        if not isinstance(law, Law):
            raise TypeError(f"law: got {law!r}; accepted: a Law, such as Normal(0, sigma)")
        identity = law.name, *sorted(law.free_symbols, key=str)
        return super().__new__(cls, name, sizes, identity, law=law, role=_RANDOM)


class Matrix(_Array):
    """A deterministic matrix or vector; its value in a point is an array: ``{d: 3, S: array}``.

    Args:
        name: of this matrix alone, within an expression.
        sizes: one per axis, symbols or integers.
        symmetric: whether it equals its transpose.
    """

    def __new__(cls, name: str, *sizes: object, symmetric: bool = False) -> Matrix:
        if symmetric and (len(sizes) != 2 or sizes[0] != sizes[1]):
            raise ValueError(f"symmetric: got sizes {sizes}; accepted: two equal sizes")
        role = _SYMMETRIC if symmetric else _FIXED
        return super().__new__(cls, name, sizes, (role,), role=role)


def _size(value: object, name: str) -> sp.Expr:
    size = exact(value, name)
    if not size.is_integer or size.is_positive is False:
        raise ValueError(f"{name}: got {value}; accepted: a positive integer or integer symbol")
    return size


def total(body: sp.Expr, *indices: Index) -> sp.Expr:
    """Return the sum of ``body`` over the indices, which are bound by it.

    Raises:
        TypeError: an index is not an `Index`.
        ValueError: no index, an index twice, or one that does not occur in ``body``.
    """
    body = exact(body, "body")
    if not all(isinstance(i, Index) for i in indices):
        raise TypeError(f"indices: got {indices}; accepted: Index objects")
    if not indices or len(set(indices)) < len(indices) or not set(indices) <= _free(body):
        raise ValueError(f"indices: got {indices} for {body}; accepted: distinct indices in it")
    return _summed(body, indices)


def _summed(body: sp.Expr, indices: Iterable[Index]) -> sp.Expr:
    return sp.Sum(body, *((i, 1, i.size) for i in indices))


def mean(statistic: sp.Expr) -> Expectation:
    """Return the expectation of a polynomial; it is computed when its value is asked for."""
    return Expectation(statistic, "mean")


def variance(statistic: sp.Expr) -> Expectation:
    """Return the variance of a polynomial; it is computed when its value is asked for."""
    return Expectation(statistic, "variance")


def _free(node: sp.Expr) -> set[Index]:
    return {s for s in node.free_symbols if isinstance(s, Index)}


def _refuse_unless_polynomial(node: sp.Expr) -> None:
    """Raise ValueError unless a node is built from entries by +, *, whole powers and total."""
    if isinstance(node, sp.Indexed) and isinstance(node.base.label, _Array):
        return
    if not node.has(sp.Indexed):
        if strangers := [s for s in node.free_symbols if isinstance(s, _Named)]:
            raise ValueError(f"statistic: {strangers[0]} stands in {node} outside of an entry")
        return
    whole = isinstance(node, sp.Pow) and node.exp.is_Integer and node.exp > 0
    summed = isinstance(node, sp.Sum) and all(x == (x[0], 1, x[0].size) for x in node.limits)
    if not (whole or summed or isinstance(node, sp.Add | sp.Mul)):
        raise ValueError(
            f"statistic: {node} is not a polynomial in entries; accepted: sums, products and "
            "powers with exponents 1, 2, ..., and total"
        )
    for part in node.args[:1] if whole or summed else node.args:
        _refuse_unless_polynomial(part)


def _degree(node: sp.Expr, array: _Array) -> int:
    if isinstance(node, sp.Indexed):
        return int(node.base.label == array)
    below = [_degree(part, array) for part in node.args] or [0]
    if isinstance(node, sp.Pow) and below[0]:
        return below[0] * int(node.exp)
    return sum(below) if isinstance(node, sp.Mul) else max(below)


def _literal(node: sp.Expr, sizes: Mapping[Index, int]) -> Callable[[Mapping, Mapping], np.ndarray]:
    """Return the function of (arrays by name, values of indices) that a numeric statistic is.

    Sums are loops over their indices; a fixed index takes its first value.
    """
    if isinstance(node, sp.Indexed):
        name, indices = node.base.label.name, node.indices
        return lambda arrays, at: arrays[name][(..., *(at.get(i, 0) for i in indices))]
    if not node.has(sp.Indexed):
        value = float(node)
        return lambda arrays, at: value
    if isinstance(node, sp.Sum):
        body, indices = _literal(node.function, sizes), node.variables
        runs = [*product(*(range(sizes[i]) for i in indices))]
        places = [dict(zip(indices, run, strict=True)) for run in runs]
        return lambda arrays, at: sum(body(arrays, {**at, **place}) for place in places)
    if isinstance(node, sp.Pow):
        base, power = _literal(node.base, sizes), int(node.exp)
        return lambda arrays, at: base(arrays, at) ** power
    parts = [_literal(part, sizes) for part in node.args]
    if isinstance(node, sp.Add):
        return lambda arrays, at: sum(part(arrays, at) for part in parts)
    return lambda arrays, at: math.prod(part(arrays, at) for part in parts)


# -------------------------------------------------------------------- multiplying out into terms
# A term is (labels, factors). A label is (size, mark): mark "" is summed; "*" is summed, but apart
# from all other marked labels of its size; "=i" is the fixed index i. A factor is
# (role, name, label of each axis, power).

Label = tuple[str, str]
Factor = tuple[int, str, tuple[int, ...], int]
Term = tuple[tuple[Label, ...], tuple[Factor, ...]]
_ONE: Term = ((), ())


def _ranks(keys: Iterable) -> list[int]:
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
            seen: list[list] = [[] for _ in labels]
            for role, name, where, power in factors:
                around = [rank[x] for x in where]
                if role == _SYMMETRIC:
                    around.sort()
                for axis, x in enumerate(where):
                    seen[x].append((name, power, axis * (role != _SYMMETRIC), *around))
            rank = _ranks((r, tuple(sorted(s))) for r, s in zip(rank, seen, strict=True))
        tied = [r for r, times in Counter(rank).items() if times > 1]
        if not tied:
            break
        chosen = rank.index(min(tied))
        rank = _ranks((r, x != chosen) for x, r in enumerate(rank))
    ordered = tuple(label for _, label in sorted(zip(rank, labels, strict=True)))
    return (ordered, _moved(factors, rank)), tuple(rank)


def _moved(factors: Iterable[Factor], place: Sequence[int]) -> tuple[Factor, ...]:
    """Replace each label x by place[x] and collect equal factors."""
    powers: Counter = Counter()
    for role, name, where, power in factors:
        new = [place[x] for x in where]
        powers[role, name, tuple(sorted(new) if role == _SYMMETRIC else new)] += power
    return tuple((*key, power) for key, power in sorted(powers.items()))


def _reduced(labels: Sequence[Label], factors: Iterable[Factor]) -> tuple[Term, dict[int, int]]:
    """The canonical term without unused labels, and the new number of each label that is left."""
    kept = sorted({x for factor in factors for x in factor[2]})
    number = {x: new for new, x in enumerate(kept)}
    term = tuple(labels[x] for x in kept), _moved(factors, number)
    canonical, rank = _canonical(term)
    return canonical, {x: rank[new] for x, new in number.items()}


def _expanded(node: sp.Expr) -> dict[Term, sp.Expr]:
    """Multiply out into coefficients of terms."""
    if isinstance(node, sp.Indexed):
        array, own = node.base.label, list(dict.fromkeys(node.indices))
        factor = array.role, array.name, tuple(map(own.index, node.indices)), 1
        return {_reduced([_label(i) for i in own], [factor])[0]: sp.Integer(1)}
    if not node.has(sp.Indexed):
        return {_ONE: node}
    if isinstance(node, sp.Add):
        return _collected(item for part in node.args for item in _expanded(part).items())
    if isinstance(node, sp.Mul):
        return reduce(_multiplied, map(_expanded, node.args))
    if isinstance(node, sp.Pow):
        return reduce(_multiplied, [_expanded(node.base)] * int(node.exp))
    bound = {_label(i): i.size for i in node.variables}
    terms = []
    for (labels, factors), coefficient in _expanded(node.function).items():
        absent = [size for label, size in bound.items() if label not in labels]
        opened = [(label[0], "") if label in bound else label for label in labels]
        terms.append((_reduced(opened, factors)[0], coefficient * sp.Mul(*absent)))
    return _collected(terms)


def _label(index: Index) -> Label:
    return str(index.size), f"={index.name}"


def _collected(terms: Iterable[tuple[Term, sp.Expr]]) -> dict[Term, sp.Expr]:
    sums: dict[Term, list[sp.Expr]] = defaultdict(list)
    for term, coefficient in terms:
        sums[term].append(coefficient)
    return {term: c for term, parts in sums.items() if (c := sp.Add(*parts)) != 0}


def _multiplied(first: Mapping[Term, sp.Expr], second: Mapping[Term, sp.Expr]) -> dict:
    terms = []
    for ((labels, factors), a), ((others, more), b) in product(first.items(), second.items()):
        joined, place = list(labels), []
        for label in others:  # both sides share a fixed index, but no summed one
            shared = label[1] and label in labels
            place.append(labels.index(label) if shared else len(joined))
            joined += [] if shared else [label]
        terms.append((_reduced(joined, (*factors, *_moved(more, place)))[0], a * b))
    return _collected(terms)


# --------------------------------------------------------------------------------- the two routes


@dataclass(frozen=True)
class Pattern:
    """One line of a derivation: ``count`` terms, each worth ``value``."""

    text: str
    count: sp.Expr
    value: sp.Expr


class _Moments:
    """Moments of entries by tensor name; unknown and long ones stand as symbols until the end."""

    def __init__(self, laws: Mapping[str, Law]) -> None:
        self._laws = laws
        self._hidden: dict[sp.Symbol, sp.Expr | MissingMoment] = {}
        self.raw, self.cumulant = lru_cache(None)(self._raw), lru_cache(None)(self._cumulant)

    def _raw(self, name: str, k: int) -> sp.Expr:
        try:
            moment = self._laws[name].raw_moment(k)
            if moment.is_Rational or not self._laws[name].opaque:
                return moment
        except MissingMoment as missing:
            moment = missing
        symbol = sp.Symbol(f"E[{_power(name, k)}]", real=True)
        self._hidden[symbol] = moment
        return symbol

    def _cumulant(self, name: str, k: int) -> sp.Expr:
        try:
            if not self._laws[name].opaque:
                return self._laws[name].cumulant(k)
        except MissingMoment:
            pass
        return cumulant_from(lambda order: self.raw(name, order) if order else sp.Integer(1), k)

    def revealed(self, value: sp.Expr) -> sp.Expr:
        """Put the moments back; raise MissingMoment if an unknown one is left."""
        left = {s: moment for s, moment in self._hidden.items() if s in value.free_symbols}
        for moment in left.values():
            if isinstance(moment, MissingMoment):
                raise moment
        return value.xreplace(left)


def _coincidences(term: Term, raw: Callable[[str, int], sp.Expr]) -> list[tuple]:
    """Route A: let the summed labels coincide in every way, one label after another.

    Returns for each pattern that is not worth 0 its labels and factors, the number of ways to get
    it, and in the first of these ways the labels of the term that each of its labels stands for.
    """
    states = {term: (1, [(x,) for x in range(len(term[0]))])}
    for _ in range(sum(mark == "" for _, mark in term[0])):
        found: dict[Term, tuple[int, list]] = {}
        for (labels, factors), (ways, groups) in states.items():
            x = next(x for x, (_, mark) in enumerate(labels) if not mark)
            size = labels[x][0]
            apart = [*labels[:x], (size, "*"), *labels[x + 1 :]]
            for y in [y for y, label in enumerate(apart) if label[1] and label[0] == size]:
                place = [y if z == x else z for z in range(len(labels))]
                new, number = _reduced(apart, _moved(factors, place))
                joined: list = [()] * len(number)
                for z, group in enumerate(groups):
                    joined[number[place[z]]] += group
                before, first = found.get(new, (0, joined))
                if not _is_zero(new, raw):
                    found[new] = before + ways, min(first, joined, key=_largest_first)
        states = found
    patterns = [(*state, *rest) for state, rest in states.items()]
    return sorted(patterns, key=lambda p: (len(p[0]), _largest_first(p[3])))


def _largest_first(groups: Iterable[tuple[int, ...]]) -> list[tuple[int, list[int]]]:
    return sorted((-len(group), sorted(group)) for group in groups)


def _is_zero(term: Term, raw: Callable[[str, int], sp.Expr]) -> bool:
    """Tell whether an entry has moment 0, and no label that is still summed can change that."""
    labels, factors = term
    moving = [f for f in factors if any(not labels[x][1] for x in f[2])]
    for factor in factors:
        if factor not in moving and raw(factor[1], factor[3]) == 0:
            near = (zip(factor[2], f[2], strict=True) for f in moving if f[1] == factor[1])
            if not any(all(x == y or not labels[y][1] for x, y in pairs) for pairs in near):
                return True
    return False


def _blocks(term: Term, cumulant: Callable[[str, int], sp.Expr], known: dict) -> Counter:
    """Route B: partition the factors of each tensor into blocks, the first factor's block first.

    Returns how often each product arises. A product is a sorted tuple of ("cumulant", tensor,
    order), ("size", size) for an index that is left alone, ("sum", term of fixed matrices).
    """
    if term in known:
        return known[term]
    labels, factors = term
    result = known[term] = Counter()
    first = next((f for f in factors if f[0] == _RANDOM), None)
    if first is None:
        result[tuple(("sum", part) for part in _components(term))] = 1
        return result
    same = [f for f in factors if f[:2] == first[:2]]
    others = [f for f in factors if f[:2] != first[:2]]
    powers = [f[3] - (f is first) for f in same]
    for order in range(1, sum(powers) + 2):
        if cumulant(first[1], order) == 0:
            continue
        for taken in _choices(powers, order - 1):
            block = [f for f, t in zip(same, taken, strict=True) if t or f is first]
            rest = [(*f[:3], p - t) for f, p, t in zip(same, powers, taken, strict=True) if p > t]
            place = _equated(labels, block)
            child, left = _reduced(labels, _moved((*others, *rest), place))
            alone = {place[x] for f in block for x in f[2]} - set(left)
            parts = [("size", labels[x][0]) for x in alone if not labels[x][1]]
            parts.append(("cumulant", first[1], order))
            ways = math.prod(map(math.comb, powers, taken))
            for more, times in _blocks(child, cumulant, known).items():
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
    for first, *others in zip(*(where for _, _, where, _ in block), strict=True):
        for x in others:
            keep, drop = place[first], place[x]
            if labels[drop][1]:  # a fixed index stays
                keep, drop = drop, keep
            place = [keep if y == drop else y for y in place]
    return place


def _components(term: Term) -> list[Term]:
    """Split a term of fixed matrices into parts that share no summed index."""
    labels, factors = term
    parts: list[tuple[set[int], list[Factor]]] = []
    for factor in factors:
        summed, group = {x for x in factor[2] if not labels[x][1]}, [factor]
        for part in [part for part in parts if part[0] & summed]:
            parts.remove(part)
            summed, group = summed | part[0], group + part[1]
        parts.append((summed, group))
    return sorted(_reduced(labels, group)[0] for _, group in parts)


class Contraction(sp.Symbol):
    """A real number made of deterministic matrices: ``tr(S**2)`` or ``(sum_a S_aa**2)``."""

    def __new__(cls, term: Term) -> Contraction:
        symbol = super().__new__(cls, _trace(term) or _entry_sum(term), real=True)
        symbol.term = term
        return symbol

    def _latex(self, printer: object) -> str:
        text = re.sub(r"_(\w+)", r"_{\1}", self.name.replace(".T", r"^{\top}"))
        text = re.sub(r"\*\*(\d+)", r"^{\1}", text).replace("*", " ").replace("sum", r"\sum")
        return text.replace("tr(", r"\operatorname{tr}(")

    def number(self, arrays: Mapping[str, np.ndarray]) -> float:
        """Evaluate for numeric matrices by name; a fixed index takes its first value."""
        labels, factors = self.term
        operands: list = []
        for _, name, where, power in factors:
            fixed = tuple(0 if labels[x][1] else slice(None) for x in where)
            operands += [arrays[name][fixed], [x for x in where if not labels[x][1]]] * power
        return float(np.einsum(*operands, []))


def _trace(term: Term) -> str | None:
    """Return ``tr(...)`` if the factors are matrices that multiply in a circle, else None."""
    labels, factors = term
    copies = [factor[:3] for factor in factors for _ in range(factor[3])]
    ends = [(c, axis, x) for c, copy in enumerate(copies) for axis, x in enumerate(copy[2])]
    meeting = [[end for end in ends if end[2] == x] for x in range(len(labels))]
    if any(len(copy[2]) != 2 for copy in copies) or any(len(ends) != 2 for ends in meeting):
        return None
    if any(mark for _, mark in labels):
        return None
    word, copy, axis = [], 0, 0
    while len(word) < len(copies):  # enter a copy at one axis, leave it at the other
        role, name, where = copies[copy]
        word.append((name, axis == 1 and role != _SYMMETRIC, role))
        leaving = (copy, 1 - axis, where[1 - axis])
        ((copy, axis, _),) = [end for end in meeting[leaving[2]] if end != leaving]
    back = [(name, not turned and role != _SYMMETRIC, role) for name, turned, role in word[::-1]]
    best = min(w[k:] + w[:k] for w in (word, back) for k in range(len(word)))
    runs = [(name + ".T" * turned, len([*run])) for (name, turned, _), run in groupby(best)]
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


# ------------------------------------------------------------------------------------ the quantity


class Expectation:
    """The mean or the variance of a polynomial, with its derivation and its brute-force value.

    Args:
        statistic: the polynomial.
        estimator: "mean" or "variance".

    Attributes:
        draws: the random tensors by name.
        quantity: the definition in one line of text.
        route: what vouches for the value, in words.

    Raises:
        TypeError: the statistic is not an expression.
        ValueError: it is not a polynomial in entries; or two fixed (unsummed) indices have the same
            size, so that they might coincide; or two different things have one name.
    """

    def __init__(self, statistic: sp.Expr, estimator: str) -> None:
        self.statistic, self.estimator = exact(statistic, "statistic"), estimator
        _refuse_unless_polynomial(self.statistic)
        self._entries = sorted(self.statistic.atoms(sp.Indexed), key=sp.default_sort_key)
        arrays = list(dict.fromkeys(entry.base.label for entry in self._entries))
        bound = {i for node in self.statistic.atoms(sp.Sum) for i in node.variables}
        used = {i for entry in self._entries for i in entry.indices}
        self._indices = sorted(used | bound, key=str)  # a sum may run over copies: no entry has it
        if not arrays:
            raise ValueError(f"statistic: got {self.statistic}; accepted: it must have entries")
        for i, j in combinations(sorted(_free(self.statistic), key=str), 2):
            if i.size == j.size:
                raise ValueError(
                    f"statistic: the fixed indices {i} and {j} of size {i.size} might coincide; "
                    "accepted: at most one per size, the others summed by total"
                )
        for named in (arrays, self._indices, {i.size for i in self._indices}):
            if len(set(map(str, named))) < len(named):
                raise ValueError(f"statistic: two different things share a name among {named}")
        self.draws = {a.name: a for a in arrays if isinstance(a, Tensor)}
        self._matrices = [a for a in arrays if isinstance(a, Matrix)]
        self._sizes = {str(i.size): i.size for i in self._indices}
        self._moments = _Moments({name: tensor.law for name, tensor in self.draws.items()})
        self.quantity = f"{'E' if estimator == 'mean' else 'Var'}({self.statistic})"
        self.route = "cumulants; brute force at 2 points" if self._matrices else "two routes"

    # ---- the derivation

    @cached_property
    def value(self) -> sp.Expr:
        """The result, factored where that makes it shorter.

        Raises:
            RoutesDisagree: the two routes, or route B and brute force, find different values.
            MissingMoment: the result depends on a moment that a law does not give.
            ValueError: there is a matrix, but no point at which brute force is possible.
        """
        value = self._unchecked
        if self._matrices:
            self._check_against_oracle()
        elif not _equal(value, other := self._combined(self._by_cumulants)):
            raise RoutesDisagree(f"{self.quantity}: {value} by partitions, {other} by cumulants")
        return self._moments.revealed(_neat(value))

    @property
    def patterns(self) -> list[Pattern]:
        """The cases of the mean, or of the mean square for a variance: what to show a reader."""
        shown = self._shown[1 if self.estimator == "mean" else 2]
        return [Pattern(p.text, p.count, self._moments.revealed(p.value)) for p in shown]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The derivation: definition, patterns, their sum, and for a variance the squared mean."""
        x, expectation = self.statistic, sp.Function("E")
        patterns = [Step(p.text, p.count * p.value) for p in self.patterns]
        if self.estimator == "mean":
            return Step("definition", expectation(x)), *patterns, Step("sum", self.value)
        first, second = (self._moments.revealed(_neat(_sum(self._shown[k]))) for k in (1, 2))
        return (
            Step("definition", expectation(x**2) - expectation(x) ** 2),
            *patterns,
            Step("sum: the mean square", second),
            Step("the mean, in the same way", first),
            Step("mean square minus squared mean", self.value),
        )

    @cached_property
    def _unchecked(self) -> sp.Expr:
        return self._combined(self._shown)

    @property
    def _shown(self) -> dict[int, list[Pattern]]:
        return self._by_cumulants if self._matrices else self._by_partitions

    def _combined(self, patterns: Mapping[int, list[Pattern]]) -> sp.Expr:
        if self.estimator == "mean":
            return _sum(patterns[1])
        return sp.expand(_sum(patterns[2]) - _sum(patterns[1]) ** 2)

    @cached_property
    def _terms(self) -> list[tuple[int, Term, sp.Expr]]:
        """Power of the statistic, term, coefficient."""
        powers = {1: _expanded(self.statistic)}
        if self.estimator == "variance":
            powers[2] = _multiplied(powers[1], powers[1])
        return [(k, *item) for k, terms in powers.items() for item in terms.items()]

    # ---- the two routes: patterns for each power of the statistic

    @cached_property
    def _by_partitions(self) -> dict[int, list[Pattern]]:
        patterns, raw = defaultdict(list), self._moments.raw
        for power, term, coefficient in self._terms:
            for labels, factors, ways, groups in _coincidences(term, raw):
                where = self._coincidence_text(term, labels, groups)
                worth = [f"E[{_power(name, k)}]" for _, name, _, k in factors]
                value = sp.Mul(coefficient, *(raw(name, k) for _, name, _, k in factors))
                counts = [sp.Integer(ways), *self._falling(labels)]
                patterns[power].append(_pattern(where, counts, worth, value, coefficient))
        return patterns

    def _falling(self, labels: Sequence[Label]) -> Iterator[sp.Expr]:
        """Yield d, d - 1, … for as many labels of each size d as must differ."""
        for text, size in self._sizes.items():
            marks = [mark for s, mark in labels if s == text]
            yield from (size - k for k in range(sum(m != "*" for m in marks), len(marks)))

    @cached_property
    def _by_cumulants(self) -> dict[int, list[Pattern]]:
        patterns, cumulant, known = defaultdict(list), self._moments.cumulant, {}
        for power, term, coefficient in self._terms:
            for parts, ways in sorted(_blocks(term, cumulant, known).items()):
                orders = [part[1:] for part in parts if part[0] == "cumulant"]
                traces = [Contraction(part[1]) for part in parts if part[0] == "sum"]
                sizes = [self._sizes[part[1]] for part in parts if part[0] == "size"]
                worth = [*(f"κ{k}[{name}]" for name, k in orders), *map(str, traces)]
                value = sp.Mul(coefficient, *(cumulant(*order) for order in orders), *traces)
                where, counts = _block_text(orders), [sp.Integer(ways), *sizes]
                patterns[power].append(_pattern(where, counts, worth, value, coefficient))
        return patterns

    def _coincidence_text(self, term: Term, labels: Sequence[Label], groups: list) -> str:
        names, clauses = self._names(term), []
        for size in dict.fromkeys(size for size, _ in labels):
            here = [group for group, label in zip(groups, labels, strict=True) if label[0] == size]
            blocks = [" = ".join(names[x] for x in block) for _, block in _largest_first(here)]
            if len(blocks) > 2:
                clauses.append(", ".join(blocks) + " all different")
            else:
                clauses.append("any " * (len(here) == len(here[0]) == 1) + " != ".join(blocks))
        return "; ".join(clauses) or "constant"

    def _names(self, term: Term) -> list[str]:
        """Name a term's labels by the definition's indices, then by the letters that follow."""
        taken = {str(x) for i in self._indices for x in (i, i.size)} | set(self.draws)
        own = {s: [i.name for i in self._indices if str(i.size) == s] for s in self._sizes}
        free = {s: [name for name in own[s] if (s, f"={name}") not in term[0]] for s in own}
        names: list[str] = []
        for size, mark in term[0]:
            letters = string.ascii_lowercase.partition(own[size][0][0])
            spare = (c for c in letters[2] + letters[0] if c not in taken)
            fresh = free[size].pop(0) if free[size] and not mark else next(spare, f"i{len(names)}")
            names.append(mark[1:] or fresh)
            taken.add(names[-1])
        return names

    # ---- brute force

    def oracle(self, point: Point) -> Approximation:
        """Evaluate the definition at a point, on a tensor grid of Gauss nodes over all entries.

        Args:
            point: a number for every symbol; an array for every `Matrix`, under the object itself.

        Returns:
            The value, exact but for rounding, and a bound for that.

        Raises:
            ValueError: a number or a matrix is missing, or the grid has more than 2e6 nodes.
        """
        if self.estimator == "mean":
            weights, values, errors = self._grid(point, 1)
            return Approximation(float(weights @ values), float(weights @ errors))
        weights, values, errors = self._grid(point, 2)
        values = values - weights @ values
        error = weights @ (2 * np.abs(values) * errors + errors**2)
        return Approximation(float(weights @ values**2), float(error))

    def evaluate(self, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
        """Evaluate the statistic as defined, by literal summation.

        Args:
            arrays: for every random tensor by name, an array of shape (replicates, *sizes).
            point: a number for every symbol, an array for every `Matrix`.

        Returns:
            One number per replicate.
        """
        numbers, sizes, matrices = self._at(point)
        for name, tensor in self.draws.items():
            shape = tuple(int(size.subs(numbers)) for size in tensor.sizes)
            if arrays[name].shape[1:] != shape:
                raise ValueError(
                    f"arrays: got {name} of shape {arrays[name].shape}; accepted: (n, *{shape})"
                )
        return _literal(self.statistic.xreplace(numbers), sizes)({**matrices, **arrays}, {})

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Return the statistic's raw moments from the first to ``order`` at a point.

        They come from the grid where that is small, else from one route of the engine.
        """
        try:
            weights, values, _ = self._grid(point, order, _CHEAP_GRID)
            return [float(weights @ values**k) for k in range(1, order + 1)]
        except _GridTooLarge:
            numeric = self.statistic.xreplace(
                {t: Tensor(t.name, t.law.at(point), *t.sizes) for t in self.draws.values()}
            )
            return [mean(numeric**k)._number(point) for k in range(1, order + 1)]

    def scalars(self, point: Point) -> dict[sp.Symbol, object]:
        """Return the point with numbers for the value's traces in place of the matrices."""
        matrices = self._at(point)[2]
        traces = {s for s in self._unchecked.free_symbols if isinstance(s, Contraction)}
        numbers = {s: v for s, v in point.items() if not isinstance(s, Matrix)}
        return numbers | {s: s.number(matrices) for s in traces}

    def _number(self, point: Point) -> float:
        numbers = {s: exact(v, str(s)) for s, v in self.scalars(point).items()}
        return float(sp.N(self._moments.revealed(self._unchecked).subs(numbers), 30))

    @cached_property
    def _symbols(self) -> list[sp.Symbol]:
        laws = (tensor.law for tensor in self.draws.values())
        parts = (self.statistic, *laws, *self._sizes.values())
        found = set().union(*(part.free_symbols for part in parts))
        return sorted((s for s in found if type(s) is sp.Symbol), key=str)

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols of the statistic, the laws and the sizes."""
        return set(self._symbols)

    def _at(self, point: Point) -> tuple[dict, dict[Index, int], dict[str, np.ndarray]]:
        """Numbers of the symbols, sizes of the indices, matrices by name."""
        if missing := [str(s) for s in (*self._symbols, *self._matrices) if s not in point]:
            raise ValueError(f"point: got nothing for {', '.join(missing)}")
        numbers = {s: exact(point[s], str(s)) for s in self._symbols}
        sizes = {i: int(_size(i.size.subs(numbers), f"point, {i.size}")) for i in self._indices}
        matrices = {}
        for matrix in self._matrices:
            array = np.asarray(point[matrix], dtype=float)
            shape = tuple(int(size.subs(numbers)) for size in matrix.sizes)
            if array.shape != shape:
                raise ValueError(f"point: got {matrix} of shape {array.shape}; accepted: {shape}")
            if matrix.role == _SYMMETRIC and not np.array_equal(array, array.T):
                raise ValueError(f"point: got {matrix} not symmetric; accepted: as declared")
            matrices[matrix.name] = array
        return numbers, sizes, matrices

    def _grid(self, point: Point, power: int, largest: int = _LARGEST_GRID) -> tuple:
        """Weights, values and rounding errors on a grid exact to a power of the statistic."""
        numbers, sizes, matrices = self._at(point)
        statistic, degree, cells = self.statistic.xreplace(numbers), 0, {}
        for tensor in self.draws.values():
            degree += power * _degree(statistic, tensor)
            rule = tensor.law.at(point).nodes(power * _degree(statistic, tensor))
            cells |= dict.fromkeys(self._cells(tensor, sizes), rule)
        lengths = [len(nodes) for nodes, _ in cells.values()]
        size = math.prod(lengths)
        if size > largest:
            raise _GridTooLarge(f"point: the grid has {size} nodes; accepted: at most {largest}")
        positive = statistic.xreplace({x: abs(x) for x in statistic.atoms(sp.Number)})
        literal, magnitude = _literal(statistic, sizes), _literal(positive, sizes)
        weights, values, errors = np.ones(size), np.empty(size), np.empty(size)
        rounding = _ROUNDING * (size.bit_length() + degree)
        for start in range(0, size, _CHUNK):
            block = np.arange(start, min(start + _CHUNK, size))
            arrays: dict = defaultdict(dict)
            places = np.unravel_index(block, lengths) if lengths else ()
            for ((name, at), (nodes, shares)), place in zip(cells.items(), places, strict=True):
                arrays[name][..., *at] = nodes[place]
                weights[block] *= shares[place]
            values[block] = literal({**matrices, **arrays}, {})
            for entries in arrays.values():
                entries.update((at, abs(x)) for at, x in entries.items())
            absolute = {name: abs(array) for name, array in matrices.items()}
            errors[block] = rounding * magnitude({**absolute, **arrays}, {})
        return weights, values, errors

    def _cells(self, tensor: Tensor, sizes: Mapping[Index, int]) -> Iterator[tuple]:
        """Yield name and place of the entries that are used; a fixed index is 0 there."""
        summed = {i for node in self.statistic.atoms(sp.Sum) for i in node.variables}
        for entry in self._entries:
            if entry.base.label == tensor:
                own = list(dict.fromkeys(entry.indices))
                for run in product(*(range(sizes[i] if i in summed else 1) for i in own)):
                    yield tensor.name, tuple(run[own.index(i)] for i in entry.indices)

    def _brute_forced(self) -> Iterator[tuple[dict, Approximation]]:
        """Yield points, the same in every run, at which brute force is possible, and its values."""
        integers = [s for s in self._symbols if s.is_integer]
        for seed in range(_TRIES):
            source, noise = random.Random(seed), np.random.default_rng(seed)
            point: dict = {s: sp.Rational(source.randint(60, 240), 100) for s in self._symbols}
            sizes = source.sample(range(2, 3 + len(integers)), len(integers))
            point |= zip(integers, sizes, strict=True)
            for matrix in self._matrices:
                array = noise.normal(size=[int(size.xreplace(point)) for size in matrix.sizes])
                point[matrix] = array + array.T if matrix.role == _SYMMETRIC else array
            try:
                yield point, self.oracle(point)
            except ValueError:  # there is no such law, or the grid is too large
                continue

    def _check_against_oracle(self) -> None:
        checks = list(islice(self._brute_forced(), 2))
        if len(checks) < 2:
            raise ValueError(f"{self.quantity}: found no two points at which brute force can check")
        for point, expected in checks:
            found = self._number(point)
            if abs(found - expected.value) > 100 * expected.error:
                raise RoutesDisagree(f"{self.quantity}: {found} by cumulants, {expected} by force")

    # ---- what must break the derivation

    def definition_mutants(self) -> Iterator[tuple[str, Callable[[], sp.Expr]]]:
        """Yield changed definitions: a label, and a function that derives the changed value.

        A law, the independence of the tensors, an exponent, the indices and the sizes are changed,
        one at a time. A change that by brute force too leaves the value as it is, is left out.
        """
        seen = {self.statistic}
        for label, statistic in self._changes():
            if statistic not in seen:
                seen.add(statistic)
                changed = Expectation(statistic, self.estimator)
                if not self._is_indifferent_to(changed):
                    yield label, lambda c=changed: c._moments.revealed(c._unchecked)

    def _is_indifferent_to(self, changed: Expectation) -> bool:
        try:
            if not _equal(changed._unchecked, self._unchecked):
                return False
            point, first = next(self._brute_forced())
            second = changed.oracle(point)
        except (ValueError, StopIteration):
            return False
        return abs(first.value - second.value) <= 100 * (first.error + second.error)

    def _changes(self) -> Iterator[tuple[str, sp.Expr]]:
        whole, tensors = self.statistic, self.draws.values()
        for t in tensors:
            own = [entry for entry in self._entries if entry.base.label == t]
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
        for node in sp.preorder_traversal(whole):
            if isinstance(node, sp.Pow) and node.has(sp.Indexed):
                label = f"exponent {node.exp} -> {node.exp + 1} on {node.base}"
                yield label, whole.xreplace({node: node.base ** (node.exp + 1)})
            elif isinstance(node, sp.Sum):
                for label, changed in _index_changes(node):
                    yield label, whole.xreplace({node: changed})
        carried = {size for matrix in self._matrices for size in matrix.sizes}
        for size in [size for size in self._sizes.values() if size not in carried]:
            larger = {i: Index(i.name, size + 1) for i in self._indices if i.size == size}
            yield (
                f"size {size} -> {size + 1}",
                whole.xreplace(larger).replace(
                    lambda node: isinstance(node, sp.Sum),
                    lambda node: _summed(node.function, node.variables),
                ),
            )


def _first_replaced(node: sp.Expr, new: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Replace the first occurrence of one of ``new``; in a power, one of its factors."""
    if node in new:
        return new[node]
    k = next(k for k, part in enumerate(node.args) if part.has(*new))
    changed = _first_replaced(node.args[k], new)
    if isinstance(node, sp.Pow):
        return changed * node.base ** (node.exp - 1)
    return node.func(*node.args[:k], changed, *node.args[k + 1 :])


def _index_changes(node: sp.Sum) -> Iterator[tuple[str, sp.Expr]]:
    """Merge two indices of a sum; let one of them run apart in one place."""
    body, indices = node.function, node.variables
    for i, j in combinations(indices, 2):
        if i.size == j.size:
            kept = [x for x in indices if x != j]
            yield f"{j} merged with {i}", _summed(body.xreplace({j: i}), kept)
    for i in indices:
        new = Index(f"{i}'", i.size)
        entries = [entry for entry in body.atoms(sp.Indexed) if i in entry.indices]
        if not entries:
            continue  # it counts copies
        split = _first_replaced(body, {entry: entry.xreplace({i: new}) for entry in entries})
        if i in _free(split):
            yield f"{i} split in two", _summed(split, [*indices, new])


def _other_law(law: Law) -> Law | None:
    """Return another law of the same mean and variance; a truncated one without truncation."""
    if isinstance(law, Normal):
        return Uniform.of_variance(law.sd**2, law.mean)
    if isinstance(law, TruncatedNormal):
        return Normal(law.mean, law.sd)
    try:
        return Normal(law.raw_moment(1), sp.sqrt(sp.factor(law.cumulant(2))))
    except (ValueError, TypeError):
        return None


def _equal(first: sp.Expr, second: sp.Expr) -> bool:
    difference = sp.expand(first - second)
    if difference == 0 or difference.is_polynomial():
        return difference == 0
    if not equivalent(first, second):  # one point at which they differ decides, and is quick
        return False
    return sp.simplify(difference) == 0  # coefficients such as 1/(d - 1)


def _neat(value: sp.Expr) -> sp.Expr:
    """Return the shortest of the expanded form and two factored ones."""
    if not isinstance(value, sp.Add) or len(value.args) > _LONGEST_TO_FACTOR:
        return value
    return min(sp.factor(value), sp.factor_terms(value), value, key=sp.count_ops)


def _sum(patterns: Iterable[Pattern]) -> sp.Expr:
    return sp.expand(sp.Add(*(p.count * p.value for p in patterns)))


def _pattern(
    where: str,
    counts: Sequence[sp.Expr],
    worth: Iterable[str],
    value: sp.Expr,
    coefficient: sp.Expr,
) -> Pattern:
    number = math.prod(int(c) for c in counts if c.is_Integer)
    repeated = Counter(c for c in counts if not c.is_Integer)
    symbols = (_power(f"({c})" if c.is_Add else str(c), k) for c, k in repeated.items())
    symbolic = " ".join(symbols).replace(" (", "(")
    count = f"{number} {symbolic}".strip() if number != 1 or not symbolic else symbolic
    factor = f"({coefficient})" if coefficient.is_Add else str(coefficient)
    factors = [factor] * (coefficient != 1) + [_power(x, k) for x, k in Counter(worth).items()]
    text = f"{where}: {count} term{'s' * (count != '1')} of {' '.join(factors) or '1'}"
    return Pattern(text, sp.Mul(*counts), value)


def _power(base: str, k: int) -> str:
    return f"{base}^{k}" if k > 1 else base


def _block_text(orders: Iterable[tuple[str, int]]) -> str:
    sizes: dict[str, list[str]] = defaultdict(list)
    for name, k in orders:
        sizes[name].append(str(k))
    return (
        ", ".join(f"{name} in blocks of {'+'.join(s)}" for name, s in sizes.items()) or "constant"
    )
