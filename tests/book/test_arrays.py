"""Comparing arrays, and all outcomes of a few entries."""

from __future__ import annotations

import pytest
import torch

from verified_transformer.book import (
    LOPSIDED,
    SIGNS,
    largest_error,
    outcomes,
    relative_error,
    train,
)


def test_errors_are_relative_to_what_is_wanted() -> None:
    wanted = torch.tensor([3.0, -4.0])
    assert relative_error(wanted + torch.tensor([0.0, 0.5]), wanted) == pytest.approx(0.1)
    assert largest_error(wanted + torch.tensor([0.0, 0.5]), wanted) == pytest.approx(0.125)


@pytest.mark.parametrize("law", [SIGNS, LOPSIDED])
def test_outcomes_have_the_moments_of_their_law(law) -> None:
    (w, x), chances = outcomes((2, 1), 3, law=law)
    assert w.shape == (32, 2, 1) and x.shape == (32, 3) and w.dtype == torch.float64
    assert chances.sum().item() == pytest.approx(1)
    assert (chances @ x).tolist() == pytest.approx([0, 0, 0])
    assert (chances @ x.square()).tolist() == pytest.approx([1, 1, 1])
    assert (chances @ (w[:, 0, 0] * x[:, 1])).item() == pytest.approx(0)


def test_training_descends_runs_that_share_nothing() -> None:
    w = torch.tensor([3.0, -2.0], requires_grad=True)
    losses = train([w], lambda step: w.square(), steps=200, rate=0.1, warmup=10)
    assert losses.shape == (200, 2) and not losses.requires_grad
    assert losses[0].tolist() == [9.0, 4.0]
    assert (losses[-1] < 1e-3).all()


def test_warm_up_starts_slowly_and_a_rate_below_zero_is_refused() -> None:
    w = torch.ones(1, requires_grad=True)
    sgd = torch.optim.SGD
    train([w], lambda step: w.sum(), steps=1, rate=0.5, optimiser=sgd, warmup=10)
    assert 1 - w.item() == pytest.approx(0.05)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        train([w], lambda step: w.sum(), steps=1, rate=-1)
