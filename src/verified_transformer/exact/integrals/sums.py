"""Finite sums in closed form, as operations for a derivation."""

from __future__ import annotations

import sympy as sp


def sum_geometric_series(expression: sp.Expr) -> sp.Expr:
    r"""Replace every sum of a geometric series by its closed form.

    $\sum_{k=a}^{b}q^k=q^a\,(1-q^{b-a+1})/(1-q)$, with a constant in front.

    Args:
        expression: an expression with sums over one index each.

    Raises:
        ValueError: neighbouring terms of a sum do not have a constant ratio.

    Example:
        >>> k, T, q = sp.symbols("k T q", positive=True)
        >>> sum_geometric_series(sp.Sum(q**k, (k, 0, T - 1)))
        (1 - q**T)/(1 - q)
    """

    def closed(series: sp.Sum) -> sp.Expr:
        index, low, high = series.limits[0]
        constant, body = series.function.as_independent(index)
        ratio = sp.simplify(body.subs(index, index + 1) / body)
        if ratio.has(index):
            raise ValueError(f"expression: {series} is not geometric; accepted: a constant ratio")
        return constant * body.subs(index, low) * (1 - ratio ** (high - low + 1)) / (1 - ratio)

    return expression.replace(lambda e: isinstance(e, sp.Sum), closed)
