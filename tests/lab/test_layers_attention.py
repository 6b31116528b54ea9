"""Attention at initialisation: exact laws against draws and against limits known by hand."""

import math

import numpy as np
import pytest
import torch

from verified_transformer.lab.layers import (
    gradient_for_two_keys,
    gradients_undivided_over_divided,
    length_density,
    mean_lead,
    mean_of_largest,
    median_ratio,
    query_gradients,
    weight_gradients,
)


def test_a_length_has_a_density_of_integral_one_and_mean_square_d() -> None:
    r = np.linspace(1e-9, 12, 20001)
    density = length_density(r, 5)
    assert np.trapezoid(density, r) == pytest.approx(1, abs=1e-9)
    assert np.trapezoid(r**2 * density, r) == pytest.approx(5, abs=1e-8)


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


@pytest.mark.parametrize("T, expected", [(2, math.pi**-0.5), (3, 1.5 * math.pi**-0.5), (1, 0.0)])
def test_mean_of_largest(T: int, expected: float) -> None:
    assert mean_of_largest(T) == pytest.approx(expected, abs=1e-12)


def test_what_is_no_number_of_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="T: got 0; accepted: a positive number"):
        mean_of_largest(0)


def test_the_lead_of_the_largest_is_that_of_draws() -> None:
    z = torch.randn(40000, 8, generator=torch.Generator().manual_seed(1)).topk(2).values
    assert mean_lead(8) == pytest.approx((z[:, 0] - z[:, 1]).mean().item(), abs=0.02)
    assert mean_lead(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-9)
    with pytest.raises(ValueError, match="T: got 1"):
        mean_lead(1)


def test_a_ratio_of_medians_with_one_factor_is_one() -> None:
    assert median_ratio(4, 16, 0.25, n=50) == 1
