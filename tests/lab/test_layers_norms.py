"""PyTorch's three norms are one function of data and axes."""

import pytest
import torch

from verified_transformer import symbols
from verified_transformer.lab.layers import (
    IMAGES,
    has_stored,
    norm_over,
    over_patterns,
    passed_back,
    predicts_with_a_moving_average,
    standard_normal,
    three_norms,
    trained_to_answer,
)


@pytest.mark.parametrize("law", ["normal", "lopsided", "small"])
@pytest.mark.parametrize("name", ["batch", "instance", "layer"])
def test_a_norm_is_the_function_over_its_axes(name: str, law: str) -> None:
    norm, dims = three_norms(training=True)[name]
    assert torch.allclose(norm(IMAGES[law]), norm_over(IMAGES[law], dims), atol=1e-9)
    assert not torch.allclose(norm(IMAGES[law]), norm_over(IMAGES[law], (1,)), atol=1e-2)


def test_batch_norm_that_predicts_uses_stored_statistics() -> None:
    norm, _ = three_norms(training=False)["batch"]
    assert torch.allclose(norm(IMAGES["normal"]), IMAGES["normal"], rtol=1e-4)


def test_a_mean_over_all_patterns_is_exact() -> None:
    σ = symbols("sigma")
    square = over_patterns(lambda x, point: x.sum(-1) ** 2, (-1.0, 2.0), 3, σ)
    assert square({σ: 2}) == pytest.approx(4 * (3 * 2.25 + 1.5**2))


def test_a_gradient_behind_rms_norm_is_perpendicular_and_divided() -> None:
    x = standard_normal("a row", 768)
    norm = torch.nn.RMSNorm(768, eps=0.0).double()
    one, ten = passed_back(norm, x), passed_back(norm, 10 * x)
    assert torch.allclose(one, 10 * ten)
    assert abs((one @ x).item()) < 1e-9


def test_batch_norm_predicts_with_an_average_and_instance_norm_does_not() -> None:
    assert predicts_with_a_moving_average(torch.nn.BatchNorm2d(3))
    assert not predicts_with_a_moving_average(torch.nn.InstanceNorm2d(3))


def test_a_bias_stores_and_a_norm_without_shift_does_not() -> None:
    assert has_stored(trained_to_answer(torch.nn.Linear(4, 4)))
    assert not has_stored(trained_to_answer(torch.nn.LayerNorm(4, elementwise_affine=False)))
