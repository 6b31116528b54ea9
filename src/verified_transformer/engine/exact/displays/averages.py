"""Means and variances in a text's formulas: by the moment engine, or as integrals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp

from ..integrals.closed_forms import integrate_by_parts
from ..integrals.law_means import density, support
from ..laws import Discrete, Law, Normal
from ..moments import Index, mean, total
from ..moments.polynomials import refuse_unless_polynomial
from .names import Drawn, Names


class Waiting(sp.Function):  # type: ignore[misc]  # SymPy has no types
    """The mean of a polynomial in entries, until the sums around it are read."""

    nargs = 1
    is_commutative = True


def evaluated(value: sp.Expr) -> sp.Expr:
    """Return an expression with its means computed by the moment engine."""
    return value.replace(Waiting, lambda of: mean(of).value)


def summed(body: sp.Expr, index: Index) -> sp.Expr:
    """Return a sum over an index, taken into the means on which it acts.

    Args:
        body: entries, or means of entries.
        index: runs over its whole size.

    Raises:
        ValueError: a mean depends on an index that runs outside of it and cannot be taken in.
    """
    if not body.has(Waiting):
        return total(body, index) if body.has(index) else body * index.size
    parts = []
    for term in sp.Add.make_args(sp.expand(body)):
        means = [f for f in sp.Mul.make_args(term) if isinstance(f, Waiting) and f.has(index)]
        others = sp.Mul(*(f for f in sp.Mul.make_args(term) if f not in means))
        if means and not others.has(index) and _independent(means):
            inside = sp.Mul(*(of.args[0] for of in means))
            parts.append(others * Waiting(total(inside, index)))
        else:
            parts.append(evaluated(term) * index.size)
    return sp.Add(*parts)


def _independent(means: Sequence[sp.Expr]) -> bool:
    """Whether no two means share an array: then their product is the mean of the product."""
    arrays = [{entry.base.label for entry in of.atoms(sp.Indexed)} for of in means]
    return sum(map(len, arrays)) == len(set().union(*arrays))


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
    if not any(of.has(sp.Indexed) or _drawn(of, names) for of in given):
        sign = "Var" if kind == "variance" else "Cov"
        return sp.Symbol(f"{sign}{list(given)}", real=True)
    return _mean(first * second, names) - _mean(first, names) * _mean(second, names)


def _mean(of: sp.Expr, names: Names) -> sp.Expr:
    drawn = _drawn(of, names)
    if of.has(sp.Indexed):
        if drawn:
            raise ValueError(f"{of} mixes entries and random numbers; accepted: one of the two")
        return _by_terms(of, lambda part: part.has(sp.Indexed))
    if not drawn:
        new = {s for s in of.free_symbols if not names.is_notation(s.name)}
        return _by_terms(of, lambda part: bool((new or of.free_symbols) & part.free_symbols))
    for one in drawn:
        of = _over(of, one.symbol, one.law)
    return of


def _by_terms(of: sp.Expr, is_random: Callable[[sp.Expr], bool]) -> sp.Expr:
    """The mean of a sum, term by term: by the engine, or a symbol where it cannot say."""
    found, polynomial = [], []
    for term in sp.Add.make_args(sp.expand(of)):
        random = [f for f in sp.Mul.make_args(term) if is_random(f)]
        rest, fixed = (
            sp.Mul(*random),
            sp.Mul(*(f for f in sp.Mul.make_args(term) if f not in random)),
        )
        if not random:
            found.append(term)
        elif _is_polynomial(rest):
            polynomial.append(term)
        else:
            found.append(fixed * sp.Symbol(f"E[{rest}]", real=True))
    return sp.Add(*found, *([Waiting(sp.Add(*polynomial))] if polynomial else []))


def _is_polynomial(of: sp.Expr) -> bool:
    try:
        refuse_unless_polynomial(of)
    except ValueError:
        return False
    return bool(of.has(sp.Indexed))


def _drawn(of: sp.Expr, names: Names) -> list[Drawn]:
    known = [thing for thing in names.known.values() if isinstance(thing, Drawn)]
    return [thing for thing in known if thing.symbol in of.free_symbols]


def _over(of: sp.Expr, symbol: sp.Symbol, law: Law) -> sp.Expr:
    """Integrate over a law, or sum over its values."""
    if isinstance(law, Discrete):
        pairs = zip(law.values, law.probabilities, strict=True)
        return sp.Add(*(weight * of.subs(symbol, value) for value, weight in pairs))
    integral = sp.Integral(of * density(law, symbol), (symbol, *support(law)))
    try:  # exponentials of wide laws defeat a quadrature
        return integrate_by_parts(integral) if isinstance(law, Normal) else integral
    except (ValueError, TypeError):  # not a polynomial times a Gaussian
        return integral
