"""Attention at initialisation: exact laws against draws and against limits known by hand."""

import math

import numpy as np
import pytest
import torch

from verified_transformer.lab.layers import (
    chance_outside,
    chance_outside_by_frequency,
    drawn_logits,
    gradient_for_two_keys,
    gradients_undivided_over_divided,
    length_density,
    logit_variance,
    mean_lead,
    mean_of_inverse_length,
    mean_of_largest,
    mean_sum_of_squares,
    median_ratio,
    query_gradients,
    softmax_means,
    sum_of_squares,
    weight_gradients,
    width_for,
)


def test_a_length_has_a_density_of_integral_one_and_mean_square_d() -> None:
    r = np.linspace(1e-9, 12, 20001)
    density = length_density(r, 5)
    assert np.trapezoid(density, r) == pytest.approx(1, abs=1e-9)
    assert np.trapezoid(r**2 * density, r) == pytest.approx(5, abs=1e-8)


def test_the_chance_outside_by_two_routes_and_by_draws() -> None:
    assert chance_outside(64) == pytest.approx(chance_outside_by_frequency(64), abs=1e-10)
    assert chance_outside(512) == pytest.approx(math.erfc(4.5**0.5), rel=0.05)  # normal
    found = (drawn_logits(16, 8, 20000, "outside").abs().amax(-1) > 3 * 8**0.5).double()
    assert chance_outside(8, 16) == pytest.approx(found.mean().item(), abs=0.012)


@pytest.mark.parametrize(("T", "d", "factor"), [(2, 16, 1.0), (8, 16, 0.25), (8, 64, 1.0)])
def test_the_sum_of_squares_is_that_of_draws(T: int, d: int, factor: float) -> None:
    p = torch.softmax(factor * drawn_logits(T, d, 20000, "squares"), -1)
    assert mean_sum_of_squares(T, d, factor) == pytest.approx(
        p.square().sum(-1).mean().item(), abs=0.015
    )


def test_the_gradient_for_two_keys_is_that_of_draws() -> None:
    found = query_gradients(2, 16, 0.25, 40000).square().mean().item()
    assert gradient_for_two_keys(16, 0.25) == pytest.approx(found, rel=0.04)


def test_draws_do_not_depend_on_the_factor_and_vanish_with_it() -> None:
    assert query_gradients(4, 8, 0.0, 10).abs().max() == 0
    small, twice = query_gradients(4, 8, 1e-6, 10), query_gradients(4, 8, 2e-6, 10)
    assert torch.allclose(twice, 2 * small, rtol=1e-4)
    assert torch.allclose(
        weight_gradients(4, 8, 2e-4, draws=3), 2 * weight_gradients(4, 8, 1e-4, draws=3), rtol=1e-2
    )


def test_ratios_are_of_median_and_root_mean_square() -> None:
    median, square = gradients_undivided_over_divided(2, 64)
    assert median < 0.1 < 1 < square


@pytest.mark.parametrize("function", [chance_outside, chance_outside_by_frequency])
def test_a_size_that_is_none_is_refused(function) -> None:
    with pytest.raises(ValueError, match="d: got 0; accepted: a positive number"):
        function(0)


def test_no_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="T: got 0"):
        mean_sum_of_squares(0, 8)


def test_a_density_too_narrow_for_the_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="d: got 4096; accepted: at most 512"):
        chance_outside(4096)


@pytest.mark.parametrize("T, expected", [(2, math.pi**-0.5), (3, 1.5 * math.pi**-0.5), (1, 0.0)])
def test_mean_of_largest(T: int, expected: float) -> None:
    assert mean_of_largest(T) == pytest.approx(expected, abs=1e-12)


def test_mean_of_inverse_length() -> None:
    assert mean_of_inverse_length(2) == pytest.approx(math.sqrt(math.pi / 2), rel=1e-12)
    with pytest.raises(ValueError, match="d: got 1; accepted: two at least"):
        mean_of_inverse_length(1)


def test_softmax_means_of_two_keys_by_quadrature() -> None:
    u, step = np.linspace(-30, 30, 60001, retstep=True)  # the difference of the two, variance 2
    density = np.exp(-u * u / 4) / math.sqrt(4 * math.pi) * step
    p = 1 / (1 + np.exp(-1.3 * u))
    squares, tilted = softmax_means(2, 1.3)
    assert squares == pytest.approx((p**2 + (1 - p) ** 2) @ density, abs=1e-10)
    assert tilted == pytest.approx(((p - 0.5) * u) @ density, abs=1e-10)


@pytest.mark.slow
def test_softmax_means_and_mean_sum_of_squares_agree() -> None:
    assert softmax_means(8, 32.0)[0] == pytest.approx(mean_sum_of_squares(8, 1024), abs=2e-4)


def test_the_sum_of_squares_at_one_spread_is_the_double_integral() -> None:
    for T, spread in ((2, 0.5), (8, 1.3), (512, 8.0)):
        assert sum_of_squares(T, spread) == pytest.approx(softmax_means(T, spread)[0], abs=1e-9)
    with pytest.raises(ValueError, match="spread: got"):
        sum_of_squares(8, 0.1)


def test_the_width_for_a_winner_is_where_the_mean_passes() -> None:
    d = width_for(8)
    assert mean_sum_of_squares(8, d - 1) < 0.9 <= mean_sum_of_squares(8, d)
    with pytest.raises(ValueError, match="least: got"):
        width_for(8, 0.1)


def test_the_lead_of_the_largest_is_that_of_draws() -> None:
    z = torch.randn(40000, 8, generator=torch.Generator().manual_seed(1)).topk(2).values
    assert mean_lead(8) == pytest.approx((z[:, 0] - z[:, 1]).mean().item(), abs=0.02)
    assert mean_lead(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-9)
    with pytest.raises(ValueError, match="T: got 1"):
        mean_lead(1)


def test_ratios_of_medians_and_the_variance_of_layers() -> None:
    assert median_ratio(4, 16, 0.25, n=50) == 1
    assert logit_variance("neither", "a test") == pytest.approx(64, rel=0.1)
    with pytest.raises(ValueError, match="way: got 'half'"):
        logit_variance("half")
