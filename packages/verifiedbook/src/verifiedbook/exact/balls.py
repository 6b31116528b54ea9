"""Enclosures: a formula's value as a ball, which certifies the digits that are printed of it.

A ball is a midpoint and a radius, and holds the true value: Arb, by way of python-flint, carries
every rounding along. A ball is only as right as what it is asked for, so an integral has two
routes, along the line and by a substitution, and they have to meet; a function with a branch cut
is asked whether it is analytic there; the tail of an infinite range is bounded from the
integrand's factors. What has no enclosure by these rules is refused, and never estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from flint import acb, arb

Within = Mapping[sp.Symbol, tuple[Fraction, Fraction]]
BITS = 160
_MOST_TERMS = 100_000
_SMALL = "1e-40"  # what the tails of an integral may add
_NOTHING: Mapping[sp.Symbol, tuple[Fraction, Fraction]] = {}
_PLAIN = ("exp", "erf", "erfc", "erfi", "sin", "cos", "tan", "sinh", "cosh", "tanh", "gamma")
_BOUNDED = (sp.erf, sp.tanh, sp.sin, sp.cos)  # by 1 on the line; erfc by 2


def enclose(formula: sp.Expr, within: Within = _NOTHING, bits: int = BITS) -> arb:
    """Return a ball that holds the value of a formula.

    Args:
        formula: constants, elementary functions, erf, gamma, finite sums, integrals over an
            interval or over the line of what falls off as an exponential or a normal density.
        within: for each symbol of it the ends between which its value lies.
        bits: of the arithmetic; the radius says what is left of them.

    Raises:
        TypeError: ``formula`` is no SymPy expression.
        ValueError: a symbol is left, or there is no enclosure: a function that is not known here,
            a pole, a branch cut, a tail without a bound, or two routes that do not meet.

    Example:
        >>> γ = 1 - 4*sp.exp(-2)/(sp.sqrt(2*sp.pi)*sp.erf(sp.sqrt(2)))
        >>> enclose(γ).str(20, radius=False)
        '0.77374130354992324718'
    """
    from flint import acb, ctx

    if not isinstance(formula, sp.Expr):
        raise TypeError(f"formula: got {type(formula).__name__}; accepted: a SymPy expression")
    if free := formula.free_symbols - {*within}:
        raise ValueError(f"formula: {formula}: got nothing of {free}; accepted: ends for each")
    with ctx.workprec(bits):
        at = {s: acb(_exact(low).union(_exact(high))) for s, (low, high) in within.items()}
        return _real(_value(formula, at, False), formula)


def _exact(fraction: Fraction) -> arb:
    from flint import arb, fmpq

    return arb(fmpq(fraction.numerator, fraction.denominator))


def settles(
    formula: sp.Expr, said: Fraction, unit: Fraction, within: Within = _NOTHING
) -> str | None:
    """Say why a printed number is not what a formula's value rounds to; None where it is.

    Args:
        formula: its symbols have ends in ``within``.
        said: the number that is printed.
        unit: of its last digit. Its rounding is the only one where the whole ball lies within
            half a unit of it.
        within: see `enclose`.

    Raises:
        ValueError: there is no enclosure.

    Example:
        >>> settles(sp.sqrt(2), Fraction("1.414"), Fraction("0.001"))
        >>> settles(sp.sqrt(2), Fraction("1.415"), Fraction("0.001"))
        'it is 1.4142136'
    """
    if isinstance(formula, sp.Rational):
        away = abs(Fraction(int(formula.p), int(formula.q)) - said)
        return None if away <= unit / 2 else f"it is {float(formula):.8g}"
    ball = enclose(formula, within)
    # A tie may go to either side, where a radius, which has thirty bits, would say neither.
    distance, half = abs(ball - _exact(said)), _exact(unit / 2 + unit / 10**9)
    if distance <= half:
        return None
    shown = ball.str(8, radius=False)
    return f"it is {shown}" if distance > half else f"the ball {ball.str(8)} does not settle it"


def _real(value: acb, formula: sp.Basic) -> arb:
    if not value.is_finite():
        raise ValueError(f"{formula}: no enclosure: a pole, a branch cut or the edge of a domain")
    if not value.imag.contains(0) or (value.imag != 0 and not value.imag.is_exact()):
        raise ValueError(f"{formula}: no enclosure: it is not real")
    return value.real


# A formula's value at balls of its symbols


def _value(formula: sp.Basic, at: dict[sp.Basic, acb], analytic: bool) -> acb:
    from flint import acb, arb, fmpq

    match formula:
        case sp.Symbol():
            return at[formula]
        case sp.Rational():
            return acb(arb(fmpq(int(formula.p), int(formula.q))))
        case sp.Float():
            return _value(sp.Rational(str(formula)), at, analytic)
        case sp.Add():
            return reduce(add, (_value(part, at, analytic) for part in formula.args))
        case sp.Mul():
            return reduce(mul, (_value(part, at, analytic) for part in formula.args))
        case sp.Pow():
            return _power(formula, at, analytic)
        case sp.Integral():
            return _integral(formula, at)
        case sp.Sum():
            return _sum(formula, at, analytic)
        case sp.Abs():
            return _value(formula.args[0], at, analytic).real_abs(analytic=analytic)
        case sp.Max() | sp.Min():
            parts = [_value(part, at, analytic) for part in formula.args]
            name = "real_max" if isinstance(formula, sp.Max) else "real_min"
            return reduce(lambda a, b: getattr(a, name)(b, analytic=analytic), parts)
    if formula == sp.pi:
        return acb(arb.pi())
    if formula == sp.E:
        return acb(1).exp()
    if formula == sp.EulerGamma:
        return acb(arb.const_euler())
    name = type(formula).__name__
    if name == "log" and len(formula.args) == 1:
        return _value(formula.args[0], at, analytic).log(analytic=analytic)
    if name in _PLAIN:  # entire, or with poles alone
        return getattr(_value(formula.args[0], at, analytic), name)()
    if name in ("asin", "acos", "expint") and not analytic:
        return _of_real(name, [_value(part, at, analytic) for part in formula.args], formula)
    raise ValueError(f"{formula}: no enclosure of {name} here")


def _of_real(name: str, arguments: list[acb], formula: sp.Basic) -> acb:
    """Functions with cuts, off their cuts: of a real ball, and so in no integrand."""
    from flint import acb

    last = _real(arguments[-1], formula)
    if name == "expint":
        if not last > 0:
            raise ValueError(f"{formula}: no enclosure: accepted: a positive argument")
        return arguments[-1].expint(arguments[0])
    if not abs(last) < 1:
        raise ValueError(f"{formula}: no enclosure: accepted: an argument within (-1, 1)")
    return acb(getattr(last, name)())


def _power(formula: sp.Pow, at: dict[sp.Basic, acb], analytic: bool) -> acb:
    base, exponent = formula.args
    if exponent.is_Integer and abs(int(exponent)) < 10**6:
        return _value(base, at, analytic) ** int(exponent)
    if base == sp.E:
        return _value(exponent, at, analytic).exp()
    root = _value(base, at, analytic)
    if exponent == sp.Rational(1, 2):
        return root.sqrt(analytic=analytic)
    return (_value(exponent, at, analytic) * root.log(analytic=analytic)).exp()


def _sum(formula: sp.Sum, at: dict[sp.Basic, acb], analytic: bool) -> acb:
    from flint import acb

    if len(formula.limits) != 1 or not all(end.is_Integer for end in formula.limits[0][1:]):
        raise ValueError(f"{formula}: no enclosure: accepted: a sum between two whole numbers")
    index, low, high = formula.limits[0]
    if int(high) - int(low) > _MOST_TERMS:
        raise ValueError(f"{formula}: no enclosure: accepted: at most {_MOST_TERMS} terms")
    places = range(int(low), int(high) + 1)
    terms = (_value(formula.function, {**at, index: acb(n)}, analytic) for n in places)
    return sum(terms, acb(0))


# Integrals


def _integral(formula: sp.Integral, at: dict[sp.Basic, acb]) -> acb:
    from flint import acb, arb

    if formula.free_symbols or len(formula.limits) != 1 or len(formula.limits[0]) != 3:
        raise ValueError(f"{formula}: no enclosure: accepted: one variable, with both ends")
    x, low, high = formula.limits[0]
    function, tail = formula.function, arb(0)
    if low.is_infinite or high.is_infinite:
        reach, tail = _reach(function, x, low, high)
        low, high = (end if not end.is_infinite else sp.sign(end) * reach for end in (low, high))
    start, stop = (_value(end, {}, False) for end in (low, high))
    first = acb.integral(lambda z, analytic: _value(function, {x: z}, analytic), start, stop)
    second = _substituted(lambda z, analytic: _value(function, {x: z}, analytic), start, stop)
    if not (first.is_finite() and second.is_finite() and first.overlaps(second)):
        raise ValueError(f"{formula}: no enclosure: two routes do not meet")
    return (first if first.rad() < second.rad() else second) + acb(arb(0, tail.abs_upper()))


def _substituted(function: Callable[[acb, bool], acb], low: acb, high: acb) -> acb:
    """The integral by x = low + (high - low) (3 t² - 2 t³), whose steps lie elsewhere."""
    from flint import acb

    def inner(t: acb, analytic: bool) -> acb:
        x = low + (high - low) * t * t * (3 - 2 * t)
        return function(x, analytic) * 6 * t * (1 - t) * (high - low)

    return acb.integral(inner, acb(0), acb(1))


def _reach(function: sp.Expr, x: sp.Symbol, low: sp.Expr, high: sp.Expr) -> tuple[sp.Integer, arb]:
    """How far from 0 an integral has to go, and a bound of what is left beyond."""
    from flint import arb

    for reach in (8, 12, 16, 24, 32, 64, 128, 256, 1024):
        left = [
            _tail(term, x, sign, reach)
            for term in sp.Add.make_args(sp.expand_mul(function))
            for end, sign in ((low, -1), (high, 1))
            if end.is_infinite
        ]
        tail = sum(left, arb(0))
        if tail < arb(_SMALL):
            return sp.Integer(reach), tail
    raise ValueError(f"{function}: no enclosure: its tail has no bound that is small enough")


def _tail(term: sp.Expr, x: sp.Symbol, sign: int, reach: int) -> arb:
    """Bound the integral of a term's size from ``reach`` on, in the direction ``sign``."""
    from flint import arb

    powers = [f.args[0] for f in sp.Mul.make_args(term) if isinstance(f, sp.exp)]
    total = sp.expand(sum(powers, sp.Integer(0)))
    others = [f for f in sp.Mul.make_args(term) if not isinstance(f, sp.exp)]
    if not total.is_polynomial(x) or sp.degree(total, x) > 2:
        raise ValueError(f"{term}: no enclosure: its tail falls off in no way known here")
    square, linear, fixed = (_number(total.coeff(x, n)) for n in (2, 1, 0))
    for fineness in (1, 4, 16, 64):
        size, rate = arb(1), arb(0)
        for factor in others:
            a, b = _growth(factor, x, fineness)
            size, rate = size * a, rate + b
        size, slope = size * fixed.exp(), rate + sign * linear
        if square < 0 or slope < 0:
            break
    if square < 0:
        root = (-square).sqrt()
        edge = root * reach - slope / (2 * root)
        return size * (slope**2 / (-4 * square)).exp() * arb.pi().sqrt() / (2 * root) * edge.erfc()
    if square == 0 and slope < 0:
        return size * (slope * reach).exp() / -slope
    raise ValueError(f"{term}: no enclosure: its tail does not fall off")


def _growth(factor: sp.Expr, x: sp.Symbol, fineness: int) -> tuple[arb, arb]:
    """Return C and m, so that on the line a factor is at most C exp(m |x|).

    Of x itself it is ``fineness`` exp(|x|/fineness), as e u < exp u.
    """
    from flint import arb

    if not factor.has(x):
        return abs(_number(factor)), arb(0)
    if factor == x or factor == sp.Abs(x):
        return arb(fineness), 1 / arb(fineness)
    if isinstance(factor, _BOUNDED):
        return arb(1), arb(0)
    if isinstance(factor, sp.erfc):
        return arb(2), arb(0)
    if isinstance(factor, sp.Add | sp.Max | sp.Min):
        parts = [_growth(part, x, fineness) for part in factor.args]
        return sum((a for a, _ in parts), arb(0)), reduce(arb.max, (b for _, b in parts))
    if isinstance(factor, sp.Mul):
        parts = [_growth(part, x, fineness) for part in factor.args]
        return reduce(mul, (a for a, _ in parts)), sum((b for _, b in parts), arb(0))
    if isinstance(factor, sp.exp) and factor.args[0].is_polynomial(x):
        power = sp.Poly(factor.args[0], x)
        if power.degree() == 1:
            slope, start = map(_number, power.all_coeffs())
            return start.exp(), abs(slope)
        if power.degree() == 2 and power.LC().is_negative:
            top = power.as_expr().subs(x, sp.solve(power.diff(x).as_expr(), x)[0])
            return _number(top).exp(), arb(0)
    if isinstance(factor, sp.Pow) and factor.exp.is_Integer:
        if factor.exp > 0:
            a, b = _growth(factor.base, x, fineness)
            return a ** int(factor.exp), b * int(factor.exp)
        if _at_least_one(factor.base, x):
            return arb(1), arb(0)
    if isinstance(factor, sp.log) and _at_least_one(factor.args[0], x):
        return _growth(factor.args[0], x, fineness)  # log u < u
    raise ValueError(f"{factor}: no enclosure: no bound of its growth is known here")


def _at_least_one(base: sp.Expr, x: sp.Symbol) -> bool:
    """Whether it is 1, or more, and what is never negative on the line."""
    rest = base - 1
    return isinstance(base, sp.Add) and all(
        isinstance(part, sp.exp) or part.is_nonnegative
        for part in sp.Add.make_args(rest.subs(x, sp.Symbol("x", real=True)))
    )


def _number(formula: sp.Expr) -> arb:
    return _real(_value(formula, {}, False), formula)
