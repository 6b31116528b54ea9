"""Rules for the steps of this chapter's derivations; each refuses what it does not apply to."""

from __future__ import annotations

import sympy as sp


def geometric_series(e: sp.Expr) -> sp.Expr:
    """Add up geometric series: last term times ratio, less the first, over ratio minus one.

    Raises:
        ValueError: a sum's ratio of neighbours is not constant.
    """

    def closed(term: sp.Expr, limits: sp.Tuple) -> sp.Expr:
        index, low, high = limits
        ratio = sp.powsimp(term.subs(index, index + 1) / term)
        if ratio.has(index):
            raise ValueError(f"e: got the term {term}; accepted: a geometric series")
        return (ratio * term.subs(index, high) - term.subs(index, low)) / (ratio - 1)

    return e.replace(sp.Sum, closed)


def euler_beta(e: sp.Expr) -> sp.Expr:
    """Replace integrals of u**a (1 - u)**b from 0 to 1 by gamma functions, term by term.

    Raises:
        ValueError: other ends, or other terms.
    """

    def closed(integral: sp.Integral) -> sp.Expr:
        function, (v, *ends) = integral.args
        if ends != [0, 1]:
            raise ValueError(f"ends: got {ends}; accepted: 0 and 1")
        result = sp.S.Zero
        for term in sp.Add.make_args(function):
            constant, rest = term.as_independent(v)
            powers = dict(f.as_base_exp() for f in sp.Mul.make_args(rest) if f != 1)
            if set(powers) - {v, 1 - v}:
                raise ValueError(f"term: got {term}; accepted: powers of u and of 1 - u")
            s, t = powers.get(v, 0) + 1, powers.get(1 - v, 0) + 1
            result += constant * sp.gamma(s) * sp.gamma(t) / sp.gamma(s + t)
        return result

    return e.replace(lambda part: isinstance(part, sp.Integral), closed)
