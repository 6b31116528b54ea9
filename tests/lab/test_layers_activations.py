"""Averages behind activations against values known by hand."""

import math

import pytest
import torch

from verified_transformer import activation
from verified_transformer.lab.layers import deep_moment, gain, gaussian_average


def he_relu(z: torch.Tensor) -> torch.Tensor:
    return 2**0.5 * torch.relu(z)


def test_averages_known_by_hand() -> None:
    assert gaussian_average(torch.abs) == pytest.approx((2 / math.pi) ** 0.5, abs=1e-13)
    assert gaussian_average(torch.relu) == pytest.approx(0.5 * (2 / math.pi) ** 0.5, abs=1e-13)
    assert gaussian_average(torch.cos) == pytest.approx(math.exp(-0.5), abs=1e-13)


def test_gain_is_that_of_the_library() -> None:
    gelu = activation("gelu")
    f = torch.nn.functional.gelu
    assert gain(f, 0.7) == pytest.approx(gelu.quadrature(2, 0.7).value / 0.49, abs=1e-10)
    assert gain(torch.relu, 3.0) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="scale: got 0"):
        gain(torch.relu, 0)


def test_depth() -> None:
    assert deep_moment(he_relu, q=0.3) == pytest.approx(0.3)
    assert deep_moment(he_relu, weights=2.0, layers=5) == pytest.approx(32)
