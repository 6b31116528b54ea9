"""Integrals and sums: closed forms against quadrature, root finding, SciPy and identities."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp

from verifiedbook.exact.formulas.evaluation import (
    equivalent,
    integrate_numerically,
)
from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.integrals import lengths
from verifiedbook.exact.integrals.closed_forms import (
    integrate_by_parts,
    integrate_half_line_powers,
)
from verifiedbook.exact.integrals.law_means import LawMean, density
from verifiedbook.exact.laws import Normal, Rademacher, TruncatedNormal, Uniform

d, k, σ, α, μ, a, b, c, t, x, z = symbols("d k sigma alpha mu a b c t x z")
r = sp.Symbol("r", positive=True)
WHOLE_LINE = (z, -sp.oo, sp.oo)
Φ = (1 + sp.erf(z / sp.sqrt(2))) / 2
WEIGHT = sp.exp(-(z**2) / 2)
φ = WEIGHT / sp.sqrt(2 * sp.pi)

GAUSSIAN = sp.exp(-((x - μ) ** 2) / (2 * σ**2))
POLYNOMIALS = {
    "1": sp.Integer(1),
    "x**3": x**3,
    "(x - mu)**2*(1 + x)": (x - μ) ** 2 * (1 + x),
}
RANGES = {
    "symmetric": (-c * σ, c * σ),
    "between a and b": (a, b),
    "above the mean": (μ, sp.oo),
    "below c": (-sp.oo, c),
    "whole line": (-sp.oo, sp.oo),
}


# ------------------------------------------------------------------------- integration by parts


@pytest.mark.parametrize("ends", RANGES)
@pytest.mark.parametrize("polynomial", POLYNOMIALS)
def test_integration_by_parts_equals_quadrature(polynomial, ends):
    integral = sp.Integral(POLYNOMIALS[polynomial] * GAUSSIAN, (x, *RANGES[ends]))
    closed = integrate_by_parts(integral)
    assert not closed.has(sp.Integral)
    assert equivalent(closed, integral)


@pytest.mark.parametrize(
    "integral, closed",
    [
        (sp.Integral(sp.exp(-(z**2)), WHOLE_LINE), sp.sqrt(sp.pi)),
        (sp.Integral(z * WEIGHT, (z, 0, sp.oo)), sp.Integer(1)),
        (sp.Integral(z**6 * φ, WHOLE_LINE), sp.Integer(15)),
        (sp.Integral(sp.exp(t * z) * φ, WHOLE_LINE), sp.exp(t**2 / 2)),
        (
            sp.Integral((sp.exp(z) - 1) ** 2 * φ, WHOLE_LINE),
            sp.exp(2) - 2 * sp.exp(sp.Rational(1, 2)) + 1,
        ),
        (sp.Integral(φ.subs(z, x), (x, z, sp.oo)), 1 - Φ),
        (
            sp.Integral(sp.exp((1 - sp.sqrt(2)) * z**2), (z, 0, sp.oo)),
            sp.sqrt(sp.pi / (sp.sqrt(2) - 1)) / 2,
        ),
    ],
    ids=str,
)
def test_integration_by_parts_finds_the_closed_form(integral, closed):
    assert equivalent(integrate_by_parts(integral), closed)


def test_every_integral_of_an_expression_is_replaced():
    ratio = sp.Integral(x**2 * GAUSSIAN, (x, a, b)) / sp.Integral(GAUSSIAN, (x, b, a)) - μ
    closed = integrate_by_parts(ratio)
    assert not closed.has(sp.Integral)
    assert equivalent(closed, ratio)


@pytest.mark.canary
@pytest.mark.parametrize(
    "integrand, message",
    [
        (sp.sin(x) * sp.exp(-(x**2)), r"the factor sin\(x\)"),
        (x / (1 + x) * sp.exp(-(x**2)), "the factor 1/"),
        (sp.sqrt(x) * sp.exp(-(x**2)), r"the factor sqrt\(x\)"),
        (sp.erf(x) * sp.exp(-(x**2)), r"the factor erf\(x\)"),
        (x**2, "the exponent 0 is not quadratic in x"),
        (sp.exp(-x), "the exponent -x is not quadratic in x"),
        (sp.exp(-(x**4)), r"the exponent -x\*\*4 is not quadratic in x"),
        (sp.exp(-1 / x**2), r"the exponent -1/x\*\*2 is not quadratic in x"),
        (sp.exp(x**2), "not known to fall off"),
        (sp.exp(-t * x**2), "not known to fall off"),
    ],
    ids=str,
)
def test_integration_by_parts_refuses_other_integrands(integrand, message):
    with pytest.raises(ValueError, match=f"integrand: .*{message}"):
        integrate_by_parts(sp.Integral(integrand, (x, 0, 1)))


# ------------------------------------------------------------------------- powers on a half line


@pytest.mark.parametrize("s", [d - 1, 2 * d + k, sp.Integer(0), sp.Rational(1, 2), σ], ids=str)
def test_a_power_on_the_half_line_is_a_gamma_function(s):
    integral = sp.Integral(r**s * sp.exp(-(r**2) / 2), (r, 0, sp.oo))
    closed = integrate_half_line_powers(integral)
    assert not closed.has(sp.Integral)
    assert equivalent(closed, integral)


def test_sums_of_powers_are_integrated_term_by_term():
    integrand = (1 - σ * r**d) ** 2 * sp.exp(-(r**2) / 2)
    integral = sp.Integral(integrand, (r, 0, sp.oo))
    assert equivalent(integrate_half_line_powers(integral), integral)


@pytest.mark.canary
@pytest.mark.parametrize(
    "integral, message",
    [
        (sp.Integral(sp.sin(r) * sp.exp(-(r**2) / 2), (r, 0, sp.oo)), r"got .*sin\(r\)"),
        (sp.Integral(r * sp.exp(-(r**2)), (r, 0, sp.oo)), "integrand: got"),
        (sp.Integral(r**r * sp.exp(-(r**2) / 2), (r, 0, sp.oo)), "integrand: got"),
        (sp.Integral(r**-1 * sp.exp(-(r**2) / 2), (r, 0, sp.oo)), "s > -1"),
        (sp.Integral(r**-2 * sp.exp(-(r**2) / 2), (r, 0, sp.oo)), "s > -1"),
        (sp.Integral(r * sp.exp(-(r**2) / 2), (r, 1, sp.oo)), "not over the positive half line"),
        (sp.Integral(r * sp.exp(-(r**2) / 2), (r, 0, 1)), "not over the positive half line"),
    ],
    ids=str,
)
def test_other_half_line_integrals_are_refused(integral, message):
    with pytest.raises(ValueError, match=message):
        integrate_half_line_powers(integral)


# ------------------------------------------------------------------------------- truncated laws


def truncated_variance(low: str, high: str) -> mpmath.mpf:
    """Variance of the standard normal law between two bounds, by quadrature with 40 digits."""
    with mpmath.workdps(40):
        ends = [mpmath.mpf(low), mpmath.mpf(high)]
        m0, m1, m2 = (
            mpmath.quad(lambda w, k=k: w**k * mpmath.exp(-(w**2) / 2), ends) for k in range(3)
        )
        return m2 / m0 - (m1 / m0) ** 2


@pytest.mark.parametrize(
    "low, high", [("-1", "1"), ("-2", "2"), ("-3", "3"), ("-1", "2"), ("-0.5", "3"), ("1", "2.5")]
)
def test_the_variance_ratio_of_a_truncated_law_has_fifteen_right_digits(low, high):
    law = TruncatedNormal(0, 1, sp.Rational(low), sp.Rational(high))
    mean, square = (
        LawMean(f"E w**{power}", z, law, z**power).then("by parts", integrate_by_parts).value
        for power in (1, 2)
    )
    γ = mpmath.mpf(str(sp.N(square - mean**2, 30)))
    assert abs(γ / truncated_variance(low, high) - 1) < 1e-15


# ----------------------------------------------------------------------------- means under a law

LAWS = {
    "Normal": Normal(μ, σ),
    "Uniform": Uniform(-c, 3 * c),
    "TruncatedNormal": TruncatedNormal(μ, σ, -c, 2 * c),
    "one-sided": TruncatedNormal(μ, σ, -c, sp.oo),
}
POINT = {μ: sp.Rational(1, 5), σ: sp.Rational(6, 5), c: sp.Rational(3, 2)}


@pytest.mark.canary
def test_a_law_without_a_density_is_refused():
    with pytest.raises(TypeError, match=r"law: got .*Rademacher"):
        density(Rademacher(1), z)


@pytest.mark.parametrize("name", LAWS)
def test_the_moments_of_the_entry_itself_are_those_of_its_law(name):
    found = LawMean("E w", z, LAWS[name], z).statistic_moments(POINT, 4)
    exact = [float(sp.N(LAWS[name].at(POINT).raw_moment(order), 20)) for order in range(1, 5)]
    assert found == pytest.approx(exact, rel=1e-13)


def test_statistic_moments_are_integrals_of_the_powers_of_every_piece():
    leaky = LawMean("E leaky", z, Normal(0, 1), [(α * z, -sp.oo, 0), (z, 0, sp.oo)])
    for power, found in enumerate(leaky.statistic_moments({α: sp.Rational(1, 4)}, 5), start=1):
        half = integrate_numerically(sp.Integral(z**power * φ, (z, 0, sp.oo))).value
        assert found == pytest.approx(half * (1 + (-0.25) ** power), rel=1e-14)


def test_evaluate_is_the_piecewise_function_itself():
    elu = LawMean("E elu", z, Normal(0, 1), [(α * (sp.exp(z) - 1), -sp.oo, 0), (z, 0, sp.oo)])
    values = np.array([[-3.0, -1e-9, 0.0], [1e-9, 2.0, 40.0]])
    found = elu.evaluate({"z": values}, {α: sp.Rational(3, 2)})
    assert found == pytest.approx(np.where(values > 0, values, 1.5 * np.expm1(values)), abs=1e-15)


def test_evaluate_knows_the_error_function_and_constants():
    gelu = LawMean("E gelu(z)", z, Normal(0, 1), z * Φ)
    assert gelu.evaluate({"z": np.array([0.0, 1.0])}, {}).tolist() == pytest.approx(
        [0, 0.8413447460685429]
    )
    one = LawMean("1", z, Normal(0, 1), sp.Integer(1))
    assert one.evaluate({"z": np.zeros((2, 3))}, {}).tolist() == [[1.0] * 3] * 2


@pytest.mark.canary
def test_evaluate_has_no_value_outside_the_pieces():
    inside = LawMean("E w", z, Uniform(-1, 1), z)
    assert np.isnan(inside.evaluate({"z": np.array([-1.5, 2.0])}, {})).all()


@pytest.mark.parametrize(("width", "constant"), [(3, 0.4), (5, 3.3), (64, 0.01)])
def test_the_mean_square_behind_a_norm_is_an_exponential_integral(
    width: int, constant: float
) -> None:
    u = mpmath.mpf(width * constant) / 2
    wanted = 1 - u * mpmath.exp(u) * mpmath.expint(mpmath.mpf(width) / 2, u)
    assert lengths.mean_square_behind_norm(width, constant) == pytest.approx(
        float(wanted), rel=1e-9
    )


def test_a_constant_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="d, ε: got 3, -1; accepted"):
        lengths.mean_square_behind_norm(3, -1)
