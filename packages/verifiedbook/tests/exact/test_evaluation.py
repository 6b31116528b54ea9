"""Numbers for formulas: quadrature and its error, admissible points, equality of two formulas."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import sympy as sp

from verifiedbook.exact.formulas.evaluation import (
    Approximation,
    equivalent,
    integrate_numerically,
    number,
    quadrature,
    random_points,
)
from verifiedbook.exact.formulas.notation import TABLE, symbols

d, n, σ, τ, μ, c, x, z, t = symbols("d n sigma tau mu c x z t")
ROOT_2_PI = math.sqrt(2 * math.pi)

# integrand, both ends, the integral
KNOWN = {
    "exponential": (np.exp, 0, 1, math.e - 1),
    "odd": (lambda x: x**3, -1, 1, 0.0),
    "oscillating": (lambda x: np.cos(20 * x), 0, 1, math.sin(20) / 20),
    "oscillating fast": (lambda x: np.cos(100 * x), 0, 1, math.sin(100) / 100),
    "no width": (np.exp, 2, 2, 0.0),
    "no width, at infinity": (lambda x: np.exp(-(x**2)), math.inf, math.inf, 0.0),
    "half line": (lambda x: np.exp(-x), 0, math.inf, 1.0),
    "half line, to the left": (np.exp, -math.inf, 1, math.e),
    "half line, mass inside": (lambda x: np.exp(-((x - 10) ** 2) / 2), 0, math.inf, ROOT_2_PI),
    "half line, root at the end": (lambda x: np.sqrt(x) * np.exp(-x), 0, math.inf, math.gamma(1.5)),
    "whole line": (lambda x: np.exp(-(x**2) / 2), -math.inf, math.inf, ROOT_2_PI),
    "whole line, eighth moment": (
        lambda x: x**8 * np.exp(-(x**2) / 2), -math.inf, math.inf, 105 * ROOT_2_PI,
    ),
    "whole line, shifted": (
        lambda x: np.exp(-((x - 2.5) ** 2)), -math.inf, math.inf, math.sqrt(math.pi),
    ),
    "infinite derivative at an end": (np.sqrt, 0, 1, 2 / 3),
    "infinite derivative at both ends": (
        lambda x: np.sqrt(np.maximum(1 - x**2, 0)), -1, 1, math.pi / 2,
    ),
    "infinite at an end": (np.log, 0, 1, -1.0),
}  # fmt: skip


# ---------------------------------------------------------------------------------- quadrature


@pytest.mark.parametrize("name", KNOWN)
def test_quadrature_is_within_its_own_error_of_a_known_integral(name):
    function, low, high, true = KNOWN[name]
    found = quadrature(function, low, high)
    assert abs(found.value - true) <= found.error
    if name != "oscillating fast":  # at the edge of what the rule resolves
        assert found.error <= 1e-15 * max(1, abs(true))


@pytest.mark.canary
def test_an_integrand_that_the_rule_cannot_resolve_gets_a_large_error():
    found = quadrature(lambda x: np.exp(-50 * (x - 50) ** 2), 0, math.inf)
    assert found.error > 0.1 * abs(found.value)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("function", "low", "high", "exact"),
    [
        *((lambda x, k=k: np.abs(x - k), 0, 1, (k**2 + (1 - k) ** 2) / 2)
          for k in (0.1, 0.3, 0.5, 0.77, 1 / math.pi)),
        (lambda x: np.exp(-np.abs(x)), -math.inf, 3.0, 2 - math.exp(-3)),
        (lambda x: np.exp(-np.abs(x)), -2.0, 3.0, 2 - math.exp(-3) - math.exp(-2)),
    ],
)  # fmt: skip
def test_a_kink_inside_the_range_shows_in_the_error(function, low, high, exact):
    found = quadrature(function, low, high)
    assert abs(found.value - exact) <= found.error < 0.1


@pytest.mark.canary
@pytest.mark.parametrize("ends", [(1, 0), (math.inf, 0), (0, math.nan)])
def test_quadrature_refuses_ends_in_the_wrong_order(ends):
    with pytest.raises(ValueError, match="low, high"):
        quadrature(np.exp, *ends)


@pytest.mark.canary
def test_a_complex_integrand_is_refused():
    with pytest.raises(ValueError, match="complex"):
        quadrature(lambda x: np.sqrt(x - 0.5 + 0j), 0, 1)
    with pytest.raises(ValueError, match="complex"):
        integrate_numerically(sp.Integral(sp.exp(sp.I * x), (x, 0, 1)))


def test_swapped_limits_change_the_sign_only():
    integrand = sp.exp(-(x**2)) * (1 + sp.erf(x))
    forward = integrate_numerically(sp.Integral(integrand, (x, 0, sp.oo)))
    backward = integrate_numerically(sp.Integral(integrand, (x, sp.oo, 0)))
    assert backward == Approximation(-forward.value, forward.error)
    assert forward.value == pytest.approx(0.75 * math.sqrt(math.pi), rel=1e-15)


@pytest.mark.canary
@pytest.mark.parametrize(
    "integral",
    [
        sp.Integral(sp.exp(-t * x), (x, 0, 1)),
        sp.Integral(x * z, (x, 0, 1), (z, 0, 1)),
        sp.Integral(x, x),
    ],
)
def test_integrals_that_are_no_number_are_refused(integral):
    with pytest.raises(ValueError, match="one variable, both ends, no free symbols"):
        integrate_numerically(integral)


# ------------------------------------------------------------------------------ one value


@pytest.mark.parametrize(
    "formula, point",
    [
        (1 / μ, {μ: 0}),
        (sp.log(μ), {μ: 0}),
        (sp.sqrt(μ), {μ: -1}),
        (sp.gamma(μ), {μ: -2}),
        (σ * τ, {σ: 1}),
        (sp.nan + σ, {σ: 1}),
        (sp.oo + σ, {σ: 1}),
        (sp.Integral(sp.sqrt(x), (x, μ, 1)) / τ, {μ: 0, τ: 0}),
    ],
)
def test_number_is_none_where_there_is_no_finite_real_value(formula, point):
    assert number(formula, point) is None


def test_number_has_thirty_digits_despite_cancellation():
    formula = sp.sqrt(σ**2 + sp.Rational(1, 10**20)) - σ
    exact = sp.N(formula.subs(σ, 1), 60)
    assert abs(number(formula, {σ: 1}) / exact - 1) < sp.Float("1e-29")


def test_number_puts_integrals_in():
    formula = 2 * sp.Integral(x**2 * sp.exp(-(x**2) / 2), (x, -c, c))
    parts = math.sqrt(2 * math.pi) * math.erf(2 / math.sqrt(2)) - 4 * math.exp(-2)
    assert float(number(formula, {c: 2})) == pytest.approx(2 * parts, rel=1e-14)


# ------------------------------------------------------------------------------------ equality

Φ = (1 + sp.erf(z / sp.sqrt(2))) / 2
φ = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
SPELLINGS = {
    "expanded": ((σ + τ) ** 3, sp.expand((σ + τ) ** 3)),
    "gamma recursion": (sp.gamma((d + 3) / 2), (d + 1) / 2 * sp.gamma((d + 1) / 2)),
    "falling factorial": (d * (d - 1) * (d - 2), d**3 - 3 * d**2 + 2 * d),
    "error functions": (1 - sp.erf(μ), sp.erfc(μ)),
    "nested roots": (sp.sqrt(3 + 2 * sp.sqrt(2)) * σ, (1 + sp.sqrt(2)) * σ),
    "normal distribution function": (Φ * (2 - 2 * Φ), (1 - sp.erf(z / sp.sqrt(2)) ** 2) / 2),
    "integral": (sp.Integral(φ, (z, -sp.oo, x)), Φ.subs(z, x)),
    "integral by parts": (
        sp.Integral(z**2 * sp.exp(-(z**2) / 2), (z, -c, c)),
        sp.Integral(sp.exp(-(z**2) / 2), (z, -c, c)) - 2 * c * sp.exp(-(c**2) / 2),
    ),
    "nothing": (sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, sp.Integer(0)),
    "only below one": (sp.log(σ * d / (1 - σ)), sp.log(σ) + sp.log(d) - sp.log(1 - σ)),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_two_spellings_of_one_formula_are_equivalent(name):
    left, right = SPELLINGS[name]
    assert left != right
    assert equivalent(left, right)
    assert equivalent(right, left)


@pytest.mark.canary
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_relative_difference_of_one_millionth_is_seen(name):
    left, right = SPELLINGS[name]
    shift = sp.Rational(1, 10**6)
    assert not equivalent(left, right * (1 + shift) if right else shift)


@pytest.mark.canary
def test_any_two_symbols_differ_and_so_do_their_squares():
    for first, second in combinations([symbols(entry.name) for entry in TABLE], 2):
        assert not equivalent(first, second)
        assert not equivalent(first**2, second**2)


@pytest.mark.canary
def test_formulas_without_a_common_domain_differ():
    assert not equivalent(sp.log(-σ), sp.log(-2 * σ))  # no real value anywhere
    assert not equivalent(sp.log(1 - σ), sp.log(1 - 2 * σ))
    assert not equivalent(sp.log(-σ), σ)


# ------------------------------------------------------------------------------ random points

EVERYTHING = sp.Add(*(symbols(entry.name) for entry in TABLE))


def test_points_are_admissible_and_no_two_values_have_one_magnitude():
    for point in random_points(EVERYTHING, count=20):
        assert set(point) == EVERYTHING.free_symbols
        assert len({abs(value) for value in point.values()}) == len(point)
        for symbol, value in point.items():
            assert symbol.is_integer in (None, value.is_integer)
            assert value.is_rational and value.is_real and value not in (0, 1)
            assert not symbol.is_positive or value > 0
            assert not symbol.is_integer or 3 <= value <= 15


@pytest.mark.canary
def test_a_third_symbol_does_not_make_two_others_alike():
    for three in combinations(symbols("sigma tau gam mu b t"), 3):
        for first, second in combinations(three, 2):
            rest = sp.Mul(*three) / (first * second)
            assert not equivalent(rest * first**2, rest * second**2)


def test_reals_take_either_sign():
    values = [point[μ] for point in random_points(μ, count=20)]
    assert min(values) < 0 < max(values)


def test_points_depend_on_the_names_alone():
    points = random_points(d * σ, μ)
    assert points == random_points(μ + d, σ**2) == random_points(σ, d, μ)
    assert len(points) == 3
    assert random_points(sp.pi) == [{}]


def test_a_bound_variable_keeps_its_place() -> None:
    x, t = sp.symbols("x t", positive=True)
    bound = {sp.Derivative(x**2, x): 6, sp.Sum(x**t, (t, 1, 2)): 12, sp.Subs(t**2, t, x): 9}
    for formula, value in bound.items():
        assert float(number(formula, {x: 3, t: 5})) == value
