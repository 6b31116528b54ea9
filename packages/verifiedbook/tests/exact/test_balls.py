"""Balls hold what they enclose, and refuse what they cannot."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from flint import arb

from verifiedbook.exact import balls

x = sp.Symbol("x", real=True)
z = sp.Symbol("z")  # whose root of a square stays what it is
φ = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
γ = 1 - 4 * sp.exp(-2) / (sp.sqrt(2 * sp.pi) * sp.erf(sp.sqrt(2)))
WHOLE = (x, -sp.oo, sp.oo)


@pytest.mark.parametrize(
    ("formula", "closed"),
    [
        (sp.Integral(x**4 * φ, WHOLE), sp.Integer(3)),
        (sp.Integral(x**2 * φ, (x, -2, 2)), γ * sp.erf(sp.sqrt(2))),
        (sp.Integral(sp.Max(x, 0) ** 2 * φ, WHOLE), sp.Rational(1, 2)),
        (sp.Integral(sp.exp(x) * φ, WHOLE), sp.exp(sp.Rational(1, 2))),
        (sp.Integral(x**3 * sp.exp(-x), (x, 0, sp.oo)), sp.gamma(4)),
        (sp.Integral(sp.exp(x / 2), (x, -sp.oo, 0)), sp.Integer(2)),
        (sp.Integral((1 + sp.erf(x / sp.sqrt(2))) ** 2 / 4 * φ, WHOLE), sp.Rational(1, 3)),
        (sp.Sum(1 / x, (x, 1, 50)), sp.harmonic(50)),
    ],
)
def test_two_routes_to_one_number_meet(formula: sp.Expr, closed: sp.Expr) -> None:
    found = balls.enclose(formula)
    assert found.overlaps(balls.enclose(closed.doit()))
    assert found.rad() < arb("1e-30")


@pytest.mark.canary
@pytest.mark.parametrize(
    ("formula", "true"),
    [
        (sp.Integral(sp.sqrt(z**2), (z, -1, 2)), Fraction(5, 2)),  # 2.598 without its branch
        (sp.Integral(sp.sqrt(z**2), (z, -8, 1)), Fraction(65, 2)),  # and 31.5
        (sp.Integral(sp.Abs(z), (z, -8, 1)), Fraction(65, 2)),
    ],
)
def test_a_branch_cut_is_not_stepped_over(formula: sp.Expr, true: Fraction) -> None:
    assert balls.settles(formula, true, Fraction(1, 10**6)) is None


@pytest.mark.canary
def test_a_spike_is_not_missed() -> None:
    third = sp.Rational(1, 3)
    spike = sp.Integral(10**6 * sp.exp(-(10**12) * (x - third) ** 2), (x, -1, 1))
    assert balls.enclose(spike).overlaps(arb.pi().sqrt())


@pytest.mark.canary
@pytest.mark.parametrize(
    ("formula", "why"),
    [
        (sp.sqrt(-2), "ImaginaryUnit"),
        (sp.log(-2, evaluate=False), "not real"),
        (sp.Pow(0, -1, evaluate=False), "a pole"),
        (sp.Integral(1 / (1 + x**2), WHOLE), "does not fall off"),
        (sp.Integral(sp.log(1 + sp.exp(1000 * x)) * φ, WHOLE), "small enough"),
        (sp.Integral(sp.exp(x**2), WHOLE), "does not fall off"),
        (sp.Integral(sp.log(x) * φ, (x, 0, sp.oo)), "no bound of its growth"),
        (sp.acos(sp.Rational(3, 2), evaluate=False), "within"),
        (sp.Integral(sp.asin(x), (x, 0, sp.Rational(1, 2))), "no enclosure"),
        (sp.zeta(3), "no enclosure of zeta"),
        (x + 1, "got nothing of {x}"),
    ],
)
def test_what_has_no_enclosure_is_refused(formula: sp.Expr, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        balls.enclose(formula)


def test_what_is_rounded_is_a_ball_itself() -> None:
    rounded = sp.Symbol("rounded", positive=True)
    within = {rounded: (Fraction("0.77373"), Fraction("0.77375"))}
    assert balls.settles(sp.sqrt(rounded), Fraction("0.8796"), Fraction(1, 10**4), within) is None
    told = balls.settles(sp.sqrt(rounded), Fraction("0.87962"), Fraction(1, 10**5), within)
    assert told is not None and "does not settle it" in told
