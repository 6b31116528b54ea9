"""A definition: the statistic, the arrays and sizes in it, and what a point must give."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import sympy as sp

from ..formulas.evaluation import Point
from ..laws import exact
from .written import (
    SYMMETRIC,
    Index,
    Matrix,
    Tensor,
    as_size,
    free_indices,
    refuse_unless_polynomial,
)

if TYPE_CHECKING:
    import numpy as np


class Definition:
    """A polynomial in entries, and what occurs in it.

    Args:
        statistic: the polynomial.

    Attributes:
        entries, indices, matrices: what occurs, in a fixed order.
        draws: the random tensors by name.
        sizes: the indices' sizes by their text.

    Raises:
        TypeError: the statistic is not an expression.
        ValueError: it is not a polynomial in entries; or two fixed (unsummed) indices have the same
            size, so that they might coincide; or two different things have one name.
    """

    def __init__(self, statistic: sp.Expr) -> None:
        self.statistic = exact(statistic, "statistic")
        refuse_unless_polynomial(self.statistic)
        self.entries = sorted(self.statistic.atoms(sp.Indexed), key=sp.default_sort_key)
        arrays = list(dict.fromkeys(entry.base.label for entry in self.entries))
        bound = {i for node in self.statistic.atoms(sp.Sum) for i in node.variables}
        used = {i for entry in self.entries for i in entry.indices}
        # a sum may run over copies: no entry has its index
        self.indices: list[Index] = sorted(used | bound, key=str)
        if not arrays:
            raise ValueError(f"statistic: got {self.statistic}; accepted: it must have entries")
        for i, j in combinations(sorted(free_indices(self.statistic), key=str), 2):
            if i.size == j.size:
                raise ValueError(
                    f"statistic: the fixed indices {i} and {j} of size {i.size} might coincide; "
                    "accepted: at most one per size, the others summed by total"
                )
        for named in (arrays, self.indices, {i.size for i in self.indices}):
            if len(set(map(str, named))) < len(named):
                raise ValueError(f"statistic: two different things share a name among {named}")
        self.draws: dict[str, Tensor] = {a.name: a for a in arrays if isinstance(a, Tensor)}
        self.matrices: list[Matrix] = [a for a in arrays if isinstance(a, Matrix)]
        self.sizes: dict[str, sp.Expr] = {str(i.size): i.size for i in self.indices}

    @cached_property
    def symbols(self) -> list[sp.Symbol]:
        """The symbols of the statistic, the laws and the sizes, by name."""
        laws = (tensor.law for tensor in self.draws.values())
        parts = (self.statistic, *laws, *self.sizes.values())
        found = set().union(*(part.free_symbols for part in parts))
        return sorted((s for s in found if type(s) is sp.Symbol), key=str)

    def at(
        self, point: Point
    ) -> tuple[dict[sp.Symbol, sp.Expr], dict[Index, int], dict[str, np.ndarray]]:
        """Return numbers of the symbols, sizes of the indices, matrices by name.

        Raises:
            ValueError: one of them is missing, or does not fit its declaration.
        """
        if missing := [str(s) for s in (*self.symbols, *self.matrices) if s not in point]:
            raise ValueError(f"point: got nothing for {', '.join(missing)}")
        numbers = {s: exact(point[s], str(s)) for s in self.symbols}
        sizes = {i: int(as_size(i.size.subs(numbers), f"point, {i.size}")) for i in self.indices}
        matrices = {m.name: self._array(m, point[m], numbers) for m in self.matrices}
        return numbers, sizes, matrices

    @staticmethod
    def _array(matrix: Matrix, given: object, numbers: Mapping[sp.Symbol, sp.Expr]) -> np.ndarray:
        import numpy as np

        array = np.asarray(given, dtype=float)
        shape = tuple(int(size.subs(numbers)) for size in matrix.sizes)
        if array.shape != shape:
            raise ValueError(f"point: got {matrix} of shape {array.shape}; accepted: {shape}")
        if matrix.role == SYMMETRIC and not np.array_equal(array, array.T):
            raise ValueError(f"point: got {matrix} not symmetric; accepted: as declared")
        return array
