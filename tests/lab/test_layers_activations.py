"""Averages behind activations against values known by hand, and profiles of random stacks."""

import math

import pytest
import torch

from verified_transformer import activation
from verified_transformer.lab.layers import (
    behind_rms_norm,
    deep_moment,
    gain,
    gaussian_average,
    moment_profiles,
    moment_slope,
    trapezoid_average,
)


def he_relu(z: torch.Tensor) -> torch.Tensor:
    return 2**0.5 * torch.relu(z)


def test_averages_known_by_hand() -> None:
    assert gaussian_average(torch.abs) == pytest.approx((2 / math.pi) ** 0.5, abs=1e-13)
    assert gaussian_average(torch.relu) == pytest.approx(0.5 * (2 / math.pi) ** 0.5, abs=1e-13)
    assert trapezoid_average(torch.cos) == pytest.approx(math.exp(-0.5), abs=1e-13)
    assert gaussian_average(torch.cos) == pytest.approx(math.exp(-0.5), abs=1e-13)


def test_gain_and_slope_are_those_of_the_library() -> None:
    gelu = activation("gelu")
    f = torch.nn.functional.gelu
    assert gain(f, 0.7) == pytest.approx(gelu.quadrature(2, 0.7).value / 0.49, abs=1e-10)
    assert moment_slope(f) == pytest.approx(gelu.second_moment_slope().value, abs=1e-10)
    assert gain(torch.relu, 3.0) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="scale: got 0"):
        gain(torch.relu, 0)


def test_depth() -> None:
    assert deep_moment(he_relu, q=0.3) == pytest.approx(0.3)
    assert deep_moment(he_relu, weights=2.0, layers=5) == pytest.approx(32)
    assert deep_moment(behind_rms_norm(he_relu), weights=7.0) == pytest.approx(1)


def test_profiles_stay_near_one_for_he_and_share_their_weights() -> None:
    found = moment_profiles(torch.relu, 2.0, scales=(1.0, 3.0), draws=3, depth=4, width=128)
    assert found.shape == (3, 4, 2)
    assert torch.allclose(found[..., 1], 9 * found[..., 0], rtol=1e-4)
    assert found[..., 0].mean() == pytest.approx(1, abs=0.4)
