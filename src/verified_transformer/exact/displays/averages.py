"""Means and variances in a text's formulas: by the moment engine, or as integrals."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..integrals.law_means import density, support
from ..laws import Discrete, Law, Rademacher
from ..moments import mean
from .names import Drawn, Names


def average(kind: str, given: Sequence[sp.Expr], names: Names) -> sp.Expr:
    """Return a mean, variance or covariance as an expression.

    Args:
        kind: "mean", "variance" or "covariance".
        given: of what; two things for a covariance.
        names: what the names stand for, the random ones among them.

    Returns:
        By the moment engine where entries of tensors occur, an integral over the laws where random
        numbers do, and a symbol of its own where nothing random is known.

    Raises:
        ValueError: entries and random numbers are mixed, or the engine cannot say.
    """
    first, second = given[0], given[-1]
    if kind == "mean":
        return _mean(first, names)
    if kind == "variance" and not _random(first, names):
        return sp.Symbol(f"Var[{first}]", positive=True)
    return _mean(first * second, names) - _mean(first, names) * _mean(second, names)


def _mean(of: sp.Expr, names: Names) -> sp.Expr:
    if of.has(sp.Indexed):
        return mean(of).value
    drawn = _random(of, names)
    if not drawn:
        return sp.Symbol(f"E[{of}]", real=True) if of.free_symbols else of
    for one in drawn:
        of = _over(of, one.symbol, one.law)
    return of


def _random(of: sp.Expr, names: Names) -> list[Drawn]:
    if of.has(sp.Indexed):
        return [Drawn(sp.S.Zero, next(iter(())))] if False else [*_found(of, names), _ENTRY]
    return _found(of, names)


def _found(of: sp.Expr, names: Names) -> list[Drawn]:
    known = [thing for thing in names.known.values() if isinstance(thing, Drawn)]
    return [thing for thing in known if thing.symbol in of.free_symbols]


_ENTRY = Drawn(sp.Symbol("entry"), Rademacher(1))


def _over(of: sp.Expr, symbol: sp.Symbol, law: Law) -> sp.Expr:
    if isinstance(law, Discrete | Rademacher):
        law_ = law if isinstance(law, Discrete) else Discrete((-law.scale, law.scale), ("1/2", "1/2"))
        return sp.Add(
            *(p * of.subs(symbol, v) for v, p in zip(law_.values, law_.probabilities, strict=True))
        )
    low, high = support(law)
    return sp.Integral(of * density(law, symbol), (symbol, low, high))
