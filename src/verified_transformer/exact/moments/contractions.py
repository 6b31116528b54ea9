"""What is left of a term of deterministic matrices: traces and sums of entries."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import sympy as sp

from .terms import Factor, Term, reduced
from .written import SYMMETRIC

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
    word: list[tuple[str, bool, int]] = []
    copy, axis = 0, 0
    while len(word) < len(copies):  # enter a copy at one axis, leave it at the other
        role, name, where, _ = copies[copy]
        word.append((name, axis == 1 and role != SYMMETRIC, role))
        leaving = (copy, 1 - axis, where[1 - axis])
        ((copy, axis, _),) = [end for end in meeting[leaving[2]] if end != leaving]
    back = [(name, not turned and role != SYMMETRIC, role) for name, turned, role in word[::-1]]
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
