"""Lengths of random vectors and angles between them, against quadrature and SciPy."""

from __future__ import annotations

import pytest
import sympy as sp
from scipy.integrate import quad
from scipy.stats import chi

from verified_transformer.engine.exact.integrals import lengths

x = sp.Symbol("x", real=True)


@pytest.mark.parametrize("d", [3, 7, 64])
def test_the_density_of_a_length_is_that_of_a_scaled_chi(d: int) -> None:
    density = sp.lambdify(x, lengths.density_of_length(sp.Integer(d), x), "mpmath")
    for ratio in (0.9, 1.0, 1.2):
        expected = chi(d, scale=d**-0.5).pdf(ratio)
        assert float(density(ratio)) == pytest.approx(expected, rel=1e-9)
    assert density(-0.5) == 0


@pytest.mark.parametrize("d", [4, 5, 64])
def test_a_cosine_has_mass_one_and_mean_square_one_over_d(d: int) -> None:
    density = sp.lambdify(x, lengths.density_of_cosine(sp.Integer(d), x), "mpmath")
    for power, expected in ((0, 1), (1, 0), (2, 1 / d)):
        found = quad(lambda c, p=power: c**p * float(density(c)), -1, 1)[0]
        assert found == pytest.approx(expected, abs=1e-7)


def test_the_mean_squared_cosine_is_derived() -> None:
    d = sp.Symbol("d", positive=True, integer=True)
    found = lengths.mean_squared_cosine(d)
    assert found.value == 1 / d
    assert len(found.steps) == 3
