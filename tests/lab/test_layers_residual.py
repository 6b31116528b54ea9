"""Residual stacks by hand, PyTorch's own layer recomposed, weights that keep the size."""

import pytest
import torch

from verified_transformer.lab.layers.dense import dense_weights, relu_signals, standard_normal
from verified_transformer.lab.layers.residual import (
    encoder_layer,
    linear_branch,
    post_sum,
    recomposed,
    relu_branch,
    residual_states,
    state_gradients,
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


def test_gradients_of_states() -> None:
    x = standard_normal("x", 2, 5, 3).requires_grad_()
    found = residual_states(x, [torch.eye(3, dtype=torch.float64)] * 2)  # doubles, twice
    back = state_gradients(found, torch.ones_like(x))
    assert torch.allclose(back, torch.tensor([[16.0] * 2, [4.0] * 2, [1.0] * 2]).double())


@pytest.mark.parametrize(("norm_first", "scheme"), [(False, "post"), (True, "pre")])
def test_pytorchs_layer_is_its_scheme_and_not_the_other(norm_first: bool, scheme: str) -> None:
    net, x = encoder_layer(norm_first, 6), 3 * standard_normal("x", 4, 5, 6)
    other = "pre" if scheme == "post" else "post"
    assert torch.allclose(net(x), recomposed(net, x, scheme), atol=1e-12)
    assert not torch.allclose(net(x), recomposed(net, x, other), atol=1e-2)


def test_another_scheme_is_refused() -> None:
    x = torch.ones(1, 2, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match="scheme: got 'sandwich'; accepted: plain, post, pre"):
        residual_states(x, [], "sandwich")
    with pytest.raises(ValueError, match="scheme: got 'plain'; accepted: post, pre"):
        recomposed(encoder_layer(True, 4), x, "plain")


def test_branches_are_added_one_after_the_other_with_a_factor() -> None:
    x0, F = standard_normal("x0", 5, 1), standard_normal("branches", 5, 3)
    by_hand = x0[:, 0] / 2**1.5 + F[:, 0] / 2**1.5 + F[:, 1] / 2 + F[:, 2] / 2**0.5
    assert torch.allclose(post_sum(x0, F), by_hand)
    assert torch.equal(post_sum(x0, F, 1.0), x0[:, 0] + F[:, 0] + F[:, 1] + F[:, 2])
