"""Residual stacks by hand, PyTorch's own layer recomposed, weights that keep the size."""

import pytest
import torch

from verified_transformer.lab.layers import (
    dense_weights,
    linear_branch,
    relu_branch,
    relu_signals,
    residual_states,
    standard_normal,
)
from verified_transformer.models import normalised


def test_draws_are_the_same_for_a_name_and_another_for_another() -> None:
    assert torch.equal(standard_normal("a", 4, 3), standard_normal("a", 4, 3))
    assert not torch.equal(standard_normal("a", 4, 3), standard_normal("b", 4, 3))
    assert torch.equal(dense_weights("a", 4, 3), standard_normal("a", 4, 3) / 3**0.5)


def test_relu_networks_keep_the_second_moment_at_a_gain_of_two() -> None:
    kept = relu_signals(2.0, networks=4, depth=6, width=128)
    assert kept.shape == (4, 32, 128)
    assert kept.pow(2).mean().item() == pytest.approx(1, abs=0.4)
    halved = relu_signals(1.0, networks=4, depth=6, width=128)
    assert torch.allclose(halved * 2**3, kept)


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
