"""Attention at initialisation: exact laws against draws and against limits known by hand."""

import math

import numpy as np
import pytest
import torch

from verified_transformer.lab.layers import (
    length_density,
    mean_of_largest,
    query_gradients,
)


def test_a_length_has_a_density_of_integral_one_and_mean_square_d() -> None:
    r = np.linspace(1e-9, 12, 20001)
    density = length_density(r, 5)
    assert np.trapezoid(density, r) == pytest.approx(1, abs=1e-9)
    assert np.trapezoid(r**2 * density, r) == pytest.approx(5, abs=1e-8)


def test_draws_do_not_depend_on_the_factor_and_vanish_with_it() -> None:
    assert query_gradients(4, 8, 0.0, 10).abs().max() == 0
    small, twice = query_gradients(4, 8, 1e-6, 10), query_gradients(4, 8, 2e-6, 10)
    assert torch.allclose(twice, 2 * small, rtol=1e-4)


@pytest.mark.parametrize("T, expected", [(2, math.pi**-0.5), (3, 1.5 * math.pi**-0.5), (1, 0.0)])
def test_mean_of_largest(T: int, expected: float) -> None:
    assert mean_of_largest(T) == pytest.approx(expected, abs=1e-12)


def test_what_is_no_number_of_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="T: got 0; accepted: a positive number"):
        mean_of_largest(0)
