"""Gaussian moments of activations: closed forms, quadrature and torch's own functions agree."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
import torch

from verified_transformer.engine.exact.formulas.mutants import formula_mutants
from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.integrals.activations import _PIECES, activation
from verified_transformer.engine.exact.integrals.law_means import LawMean
from verified_transformer.engine.exact.laws import Normal

z, σ = symbols("z sigma")
CLOSED = [(name, power) for name in ("identity", "relu", "elu", "selu") for power in (1, 2)]


@pytest.mark.parametrize("name, power", [*CLOSED, ("gelu", 2)])
@pytest.mark.parametrize("sd", [0.4, 1.0, 2.3])
def test_closed_forms_equal_quadrature(name, power, sd):
    exact = float(activation(name).closed_form(power).subs(σ, sp.Float(sd, 30)))
    found = activation(name).quadrature(power, sd)
    assert found.error < 1e-14
    assert abs(exact - found.value) < 1e-13


@pytest.mark.canary
def test_a_wrong_gelu_moment_is_seen():
    found = [activation("gelu").quadrature(2, sd) for sd in (0.4, 1.3)]
    for mutant in formula_mutants(activation("gelu").closed_form(2)):
        values = [sp.N(mutant.formula.subs(σ, sp.Float(sd, 30))) for sd in (0.4, 1.3)]
        assert any(abs(v - f.value) > 1e-6 for v, f in zip(values, found, strict=True)), (
            mutant.label
        )


@pytest.mark.parametrize("name", sorted(set(_PIECES) - {"identity"}))
def test_pieces_are_torchs_functions(name):
    x = torch.linspace(-6, 6, 401, dtype=torch.float64)
    mean = LawMean(name, z, Normal(0, 1), activation(name).pieces)
    ours = mean.evaluate({"z": x.numpy()}, {})
    theirs = getattr(torch.nn.functional, name, None) or getattr(torch, name)
    np.testing.assert_allclose(ours, theirs(x).numpy(), atol=1e-13)


@pytest.mark.parametrize("name", sorted(_PIECES))
@pytest.mark.parametrize("sd", [0.6, 1.7])
def test_the_slope_is_the_difference_quotient(name, sd):
    f, h = activation(name), 1e-4
    above, below = (f.quadrature(2, (sd**2 + s * h) ** 0.5).value for s in (1, -1))
    assert f.second_moment_slope(sd).value == pytest.approx((above - below) / (2 * h), rel=1e-6)


def test_large_and_small_scales_keep_their_digits():
    for sd in (1e-4, 1e4):
        assert activation("relu").quadrature(2, sd).value == pytest.approx(sd**2 / 2, rel=1e-12)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: activation("swish"), "name: got 'swish'"),
        (lambda: activation("tanh").closed_form(2), "no closed form"),
        (lambda: activation("relu").closed_form(0), "power: got 0"),
        (lambda: activation("relu").quadrature(2, of="values"), "of: got 'values'"),
        (lambda: activation("relu").quadrature(2, 0.0), "sd: got 0.0"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
