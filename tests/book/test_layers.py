"""Layers at initialisation: draws, averages behind activations, residual stacks, attention."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from verified_transformer import claim, symbols
from verified_transformer.book.layers import (
    deep_moment,
    dense_weights,
    gain,
    gaussian_average,
    length_density,
    linear_branch,
    mean_of_largest,
    query_gradients,
    relu_branch,
    residual_states,
    standard_normal,
)
from verified_transformer.models import normalised


def test_draws_are_the_same_for_a_name_and_another_for_another() -> None:
    assert torch.equal(standard_normal("a", 4, 3), standard_normal("a", 4, 3))
    assert not torch.equal(standard_normal("a", 4, 3), standard_normal("b", 4, 3))
    assert torch.equal(dense_weights("a", 4, 3), standard_normal("a", 4, 3) / 3**0.5)


def test_no_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="shape: got none"):
        dense_weights("nothing")


def test_a_linear_branch_is_a_matrix_times_a_vector_and_a_relu_branch_two_layers() -> None:
    u, W = standard_normal("u", 5, 3), standard_normal("W", 5, 3, 3)
    assert torch.allclose(linear_branch(u, W)[2], W[2] @ u[2])
    first, second = standard_normal("pair", 2, 3, 3)
    by_hand = 2**0.5 * (u @ first).clamp(min=0) @ second
    assert torch.allclose(relu_branch(u, (first, second)), by_hand)


@pytest.mark.parametrize(
    ("scheme", "step"),
    [
        ("plain", lambda x, W: x + 0.3 * W @ x),
        ("post", lambda x, W: normalised(x + 0.3 * W @ x)),
        ("pre", lambda x, W: x + 0.3 * W @ normalised(x)),
    ],
)
def test_states_are_those_written_out_by_hand(scheme: str, step) -> None:
    W, x = standard_normal("three layers", 3, 4, 4), standard_normal("x", 4)
    found = residual_states(x, W, scheme, factor=0.3)
    assert torch.equal(found[0], x)
    assert len(found) == 4
    for before, after, w in zip(found, found[1:], W, strict=False):
        assert torch.allclose(after, step(before, w))


def test_a_factor_may_be_one_for_each_sublayer() -> None:
    W, x = standard_normal("two layers", 2, 4, 4), standard_normal("x", 4)
    found = residual_states(x, W, factor=torch.tensor([0.0, 1.0], dtype=torch.float64))
    assert torch.equal(found[1], x)
    assert torch.allclose(found[2], x + W[1] @ x)
    with pytest.raises(ValueError):
        residual_states(x, W, factor=[1.0])


def test_another_scheme_is_refused() -> None:
    x = torch.ones(1, 2, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match="scheme: got 'sandwich'; accepted: plain, post, pre"):
        residual_states(x, [], "sandwich")


def he_relu(z: torch.Tensor) -> torch.Tensor:
    return 2**0.5 * torch.relu(z)


def test_averages_known_by_hand() -> None:
    assert gaussian_average(torch.abs) == pytest.approx((2 / math.pi) ** 0.5, abs=1e-13)
    assert gaussian_average(torch.relu) == pytest.approx(0.5 * (2 / math.pi) ** 0.5, abs=1e-13)
    assert gaussian_average(torch.cos) == pytest.approx(math.exp(-0.5), abs=1e-13)


def test_gain_is_that_of_the_formula() -> None:
    formula = claim("INIT-21").case("gelu").formula
    moment = float(formula.subs(symbols("sigma"), 0.7))
    assert gain(torch.nn.functional.gelu, 0.7) == pytest.approx(moment / 0.49, abs=1e-10)
    assert gain(torch.relu, 3.0) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="scale: got 0"):
        gain(torch.relu, 0)


def test_depth() -> None:
    assert deep_moment(he_relu, q=0.3) == pytest.approx(0.3)
    assert deep_moment(he_relu, weights=2.0, layers=5) == pytest.approx(32)


def test_a_length_has_a_density_of_integral_one_and_mean_square_d() -> None:
    r = np.linspace(1e-9, 12, 20001)
    density = length_density(r, 5)
    assert np.trapezoid(density, r) == pytest.approx(1, abs=1e-9)
    assert np.trapezoid(r**2 * density, r) == pytest.approx(5, abs=1e-8)


def test_draws_do_not_depend_on_the_factor_and_vanish_with_it() -> None:
    assert query_gradients(4, 8, 0.0, 10).abs().max() == 0
    small, twice = query_gradients(4, 8, (1e-6, 2e-6), 10)
    assert torch.equal(small, query_gradients(4, 8, 1e-6, 10))
    assert torch.allclose(twice, 2 * small, rtol=1e-4)


@pytest.mark.parametrize("T, expected", [(2, math.pi**-0.5), (3, 1.5 * math.pi**-0.5), (1, 0.0)])
def test_mean_of_largest(T: int, expected: float) -> None:
    assert mean_of_largest(T) == pytest.approx(expected, abs=1e-12)


def test_what_is_no_number_of_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="T: got 0; accepted: a positive number"):
        mean_of_largest(0)
