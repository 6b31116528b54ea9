"""NTK parametrisation: one function at the start, rates in another unit."""

import pytest
import torch

from verified_transformer.lab.layers import (
    adam_like,
    adam_step_in_noise,
    adam_update,
    covariance_and_kernel,
    first_move,
    largest_rate,
    linear_error,
    ntk,
    plain,
    relative_changes,
    sgd_like,
    trained_outputs,
)


def test_the_two_parametrisations_start_as_one_function() -> None:
    def still(weights):
        return torch.optim.SGD(weights, lr=0.0)

    one = trained_outputs(still, ntk, steps=1)
    two = trained_outputs(still, plain, spread=lambda m: m**-0.5, steps=1)
    assert one.shape == (2, 32)
    assert torch.allclose(one, two, atol=1e-12)
    assert not torch.allclose(one, trained_outputs(still, plain, steps=1), atol=1e-2)


def test_covariances_agree_and_kernels_differ_by_the_width() -> None:
    covariance, kernel = covariance_and_kernel(16, 0.25)
    other, wide = covariance_and_kernel(16, 1.0)
    assert covariance == pytest.approx(other)
    assert wide == pytest.approx(16 * kernel)


def test_the_largest_rate_is_where_descent_turns() -> None:
    rate, loss = largest_rate(8, 1.0), linear_error(8, 1.0)
    for share, lower in ((0.9, True), (1.2, False)):
        w = torch.zeros(8, dtype=torch.float64, requires_grad=True)
        first = loss(w).item()
        for _ in range(200):
            w.data -= share * rate * torch.autograd.grad(loss(w), w)[0]
        assert bool(loss(w) < first) is lower
    assert largest_rate(8, 8**-0.5) == pytest.approx(8 * rate)


def test_the_first_move_is_rate_times_root_of_the_width() -> None:
    assert first_move(100, 0.1, 0.01) == pytest.approx(0.1)
    assert first_move(100, 1.0, 0.01) == pytest.approx(1.0)


def test_adams_step_in_pure_signal_and_in_noise() -> None:
    assert adam_step_in_noise(1.0)[0] == pytest.approx(1.0)
    root, error = adam_step_in_noise(0.0)
    assert abs(root - (0.1 / 1.9) ** 0.5) < 5 * error
    with pytest.raises(ValueError, match="coherence: got 2"):
        adam_step_in_noise(2)


def test_layers_change_alike_with_the_factor_only() -> None:
    assert relative_changes(ntk) == pytest.approx([0.01] * 3, rel=0.05)
    plain_changes = relative_changes(plain)
    assert plain_changes[2] > 3 * plain_changes[0]


def test_optimisers_take_their_rates_from_the_fan_in() -> None:
    weights = [torch.zeros(4, 2, requires_grad=True), torch.zeros(9, 4, requires_grad=True)]
    rates = [group["lr"] for group in sgd_like(lambda m: 1 / m)(weights).param_groups]
    assert rates == pytest.approx([0.075, 0.3 / 9])
    groups = adam_like(lambda m: m**-0.5, lambda m: m**0.5)(weights).param_groups
    assert [group["lr"] for group in groups] == pytest.approx([0.005, 0.01 / 3])
    assert [group["eps"] for group in groups] == pytest.approx([0.002, 0.003])


def test_adam_moves_by_its_rate_where_gradients_agree() -> None:
    assert adam_update(3.7, 30, 0.1) == pytest.approx(0.1)
    assert adam_update(-0.002, 1, 0.3) == pytest.approx(-0.3)
