"""Patterns: the lines of a derivation, and the moments of entries that they are worth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from ..laws import Law, MissingMoment, cumulant_from

Moment = Callable[[str, int], sp.Expr]  # of an entry, by tensor name and order
_LONGEST_TO_FACTOR = 40  # terms


@dataclass(frozen=True)
class Pattern:
    """One line of a derivation, ``text``: ``count`` terms, each worth ``value``."""

    text: str
    count: sp.Expr
    value: sp.Expr


class EntryMoments:
    """Moments of entries by tensor name; unknown and long ones stand as symbols until the end."""

    def __init__(self, laws: Mapping[str, Law]) -> None:
        self._laws = laws
        self._hidden: dict[sp.Symbol, sp.Expr | MissingMoment] = {}
        self.raw, self.cumulant = lru_cache(None)(self._raw), lru_cache(None)(self._cumulant)

    def _raw(self, name: str, k: int) -> sp.Expr:
        moment: sp.Expr | MissingMoment
        try:
            moment = self._laws[name].raw_moment(k)
            if moment.is_Rational or not self._laws[name].opaque:
                return moment
        except MissingMoment as missing:
            moment = missing
        symbol = sp.Symbol(moment_text(name, k), real=True)
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


def pattern(
    where: str,
    counts: Sequence[sp.Expr],
    names: Sequence[str],
    value: sp.Expr,
    coefficient: sp.Expr,
) -> Pattern:
    """Return a pattern with its text: which terms, factors of their number, names of moments."""
    number = math.prod(int(c) for c in counts if c.is_Integer)
    repeated = Counter(c for c in counts if not c.is_Integer)
    symbols = (_power(f"({c})" if c.is_Add else str(c), k) for c, k in repeated.items())
    symbolic = " ".join(symbols).replace(" (", "(")
    count = f"{number} {symbolic}".strip() if number != 1 or not symbolic else symbolic
    factor = f"({coefficient})" if coefficient.is_Add else str(coefficient)
    factors = [factor] * (coefficient != 1) + [_power(x, k) for x, k in Counter(names).items()]
    text = f"{where}: {count} term{'s' * (count != '1')} of {' '.join(factors) or '1'}"
    return Pattern(text, sp.Mul(*counts), value)


def moment_text(name: str, k: int) -> str:
    """Return the name of a raw moment, such as ``E[w^4]``."""
    return f"E[{_power(name, k)}]"


def sum_of(patterns: Iterable[Pattern]) -> sp.Expr:
    """Return the expanded sum of count times value."""
    return sp.expand(sp.Add(*(p.count * p.value for p in patterns)))


def neat(value: sp.Expr) -> sp.Expr:
    """Return the shortest of the expanded form and two factored ones."""
    if not isinstance(value, sp.Add) or len(value.args) > _LONGEST_TO_FACTOR:
        return value
    return min(sp.factor(value), sp.factor_terms(value), value, key=sp.count_ops)


def _power(base: str, k: int) -> str:
    return f"{base}^{k}" if k > 1 else base
