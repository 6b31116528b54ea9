"""Polynomials in entries of iid tensors: how they are written, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import combinations
from typing import Any

import sympy as sp

from ..formulas.evaluation import Point
from ..laws import Law, exact


class _Named(sp.Symbol):  # type: ignore[misc]  # SymPy has no types
    """A symbol that equals another one only if all that was said of it is equal too."""

    def __new__(cls, name: str, identity: tuple[Any, ...], **attributes: object) -> _Named:
        symbol: _Named = sp.Symbol.__xnew__(cls, name, real=True)
        # the identity as text, so that SymPy can sort
        symbol.__dict__.update(attributes, _identity=sp.srepr(identity))
        return symbol

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self._identity)

    def _sympystr(self, printer: Any) -> Any:  # printers know another class named Tensor
        return printer._print_Symbol(self)

    _latex = _pretty = _sympystr


class Index(_Named):
    """A running index: its name and how many values it takes (a symbol or an integer)."""

    def __new__(cls, name: str, size: object) -> Index:
        size = _as_size(size, f"size of {name}")
        return super().__new__(cls, name, (size,), size=size)


class Tensor(_Named):
    """A random tensor, whose entries, at `Index` objects, are independent and follow one law.

    Args:
        name: of this tensor alone, within an expression.
        law: the law of an entry.
        sizes: one per axis, symbols or integers.
    """

    def __new__(cls, name: str, law: Law, *sizes: object) -> Tensor:
        if not isinstance(law, Law):
            raise TypeError(f"law: got {law!r}; accepted: a Law, such as Normal(0, sigma)")
        axes = tuple(_as_size(size, f"sizes of {name}") for size in sizes)
        identity = axes, law.name, *sorted(law.free_symbols, key=str)
        return super().__new__(cls, name, identity, law=law, sizes=axes)

    def __getitem__(self, indices: Index | tuple[Index, ...]) -> sp.Indexed:
        indices = indices if isinstance(indices, tuple) else (indices,)
        if not all(isinstance(i, Index) for i in indices):
            raise TypeError(f"indices of {self}: got {indices}; accepted: Index objects")
        if tuple(i.size for i in indices) != self.sizes:
            given = ", ".join(f"{i} of size {i.size}" for i in indices)
            raise ValueError(f"indices of {self}: got {given}; accepted: sizes {self.sizes}")
        return sp.Indexed(sp.IndexedBase(self), *indices)


def _as_size(value: object, name: str) -> sp.Expr:
    """Return a number of values of an index in SymPy; ``name`` is what a message calls it."""
    size = exact(value, name)
    if not size.is_integer or size.is_positive is False:
        raise ValueError(f"{name}: got {value}; accepted: a positive integer or integer symbol")
    return size


def total(body: sp.Expr, *indices: Index) -> sp.Expr:
    """Return the sum of ``body`` over the indices, which are bound by it.

    Args:
        body: an expression in entries, such as ``w[i] ** 2``.
        indices: the indices that run, each over its whole size.

    Raises:
        TypeError: an index is not an `Index`.
        ValueError: no index, an index twice, or one that does not occur in ``body``.
    """
    body = exact(body, "body")
    if not all(isinstance(i, Index) for i in indices):
        raise TypeError(f"indices: got {indices}; accepted: Index objects")
    if not indices or len(set(indices)) < len(indices) or not set(indices) <= free_indices(body):
        raise ValueError(f"indices: got {indices} for {body}; accepted: distinct indices in it")
    return summed(body, indices)


def summed(body: sp.Expr, indices: Iterable[Index]) -> sp.Expr:
    """Return the sum over the indices, unchecked."""
    return sp.Sum(body, *((i, 1, i.size) for i in indices))


def free_indices(node: sp.Expr) -> set[Index]:
    """Return the indices of an expression that no sum binds."""
    return {s for s in node.free_symbols if isinstance(s, Index)}


def refuse_unless_polynomial(node: sp.Expr) -> None:
    """Raise ValueError unless a node is built from entries by +, *, whole powers and total."""
    if isinstance(node, sp.Indexed) and isinstance(node.base.label, Tensor):
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
        refuse_unless_polynomial(part)


class Polynomial:
    """A polynomial in entries, refused where it is none or ambiguous, and what occurs in it.

    Attributes:
        entries, indices: what occurs, in a fixed order.
        draws: the tensors by name.
        sizes: the indices' sizes by their text.
    """

    def __init__(self, statistic: sp.Expr) -> None:
        self.statistic = exact(statistic, "statistic")
        refuse_unless_polynomial(self.statistic)
        self.entries = sorted(self.statistic.atoms(sp.Indexed), key=sp.default_sort_key)
        tensors = list(dict.fromkeys(entry.base.label for entry in self.entries))
        bound = {i for node in self.statistic.atoms(sp.Sum) for i in node.variables}
        used = {i for entry in self.entries for i in entry.indices}
        # a sum may run over copies: no entry has its index
        self.indices: list[Index] = sorted(used | bound, key=str)
        if not tensors:
            raise ValueError(f"statistic: got {self.statistic}; accepted: it must have entries")
        for i, j in combinations(sorted(free_indices(self.statistic), key=str), 2):
            if i.size == j.size:
                raise ValueError(
                    f"statistic: the fixed indices {i} and {j} of size {i.size} might coincide; "
                    "accepted: at most one per size, the others summed by total"
                )
        for named in (tensors, self.indices, {i.size for i in self.indices}):
            if len(set(map(str, named))) < len(named):
                raise ValueError(f"statistic: two different things share a name among {named}")
        self.draws: dict[str, Tensor] = {tensor.name: tensor for tensor in tensors}
        self.sizes: dict[str, sp.Expr] = {str(i.size): i.size for i in self.indices}

    @cached_property
    def symbols(self) -> list[sp.Symbol]:
        """The symbols of the statistic, the laws and the sizes, by name."""
        laws = (tensor.law for tensor in self.draws.values())
        parts = (self.statistic, *laws, *self.sizes.values())
        found = set().union(*(part.free_symbols for part in parts))
        return sorted((s for s in found if type(s) is sp.Symbol), key=str)

    def at(self, point: Point) -> tuple[dict[sp.Symbol, sp.Expr], dict[Index, int]]:
        """Return numbers of the symbols, and sizes of the indices.

        Raises:
            ValueError: one of them is missing, or does not fit its declaration.
        """
        if missing := [str(s) for s in self.symbols if s not in point]:
            raise ValueError(f"point: got nothing for {', '.join(missing)}")
        numbers = {s: exact(point[s], str(s)) for s in self.symbols}
        sizes = {i: int(_as_size(i.size.subs(numbers), f"point, {i.size}")) for i in self.indices}
        return numbers, sizes
