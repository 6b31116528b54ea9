"""The laboratory: runs side by side are independent, and what a leg compares is what it says.

What it gives with its seeds, formulas and sizes, the fingerprints of the recordings hold.
"""

from __future__ import annotations

import math

import pytest
import torch

from long_runs import factorised_lookup
from long_runs.laboratory import legs
from long_runs.laboratory.learning import Adam, at_best_rate, bounded
from long_runs.laboratory.tasks import Sums, guess
from long_runs.laboratory.transformers import (
    SCHEMES,
    Shape,
    drawn_weights,
    logits,
)
from verifiedbook.seeds import generator

SUMS = Sums(5, 4)


def shape(scheme: str = "post") -> Shape:
    return Shape(2, 8, 4, SUMS.vocabulary, SUMS.length, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_runs_side_by_side_do_not_see_each_other(scheme: str) -> None:
    made = shape(scheme)
    weights = drawn_weights(made, 3, generator("three"))
    weights["readout"] *= 100
    if scheme == "learned":
        weights |= {name: w + 0.5 for name, w in weights.items() if name.startswith("factor")}
    x, _ = SUMS.batch(3, 2, generator("tokens"))
    alone = {name: w[1:2] for name, w in weights.items()}
    together = logits(made, weights, x, 0.7)
    assert torch.allclose(together[1:2], logits(made, alone, x[1:2], 0.7), atol=1e-5)


def test_a_later_token_is_not_seen() -> None:
    weights = drawn_weights(shape(), 1, generator("one"))
    x, _ = SUMS.batch(1, 1, generator("tokens"))
    other = x.clone()
    other[..., -1] = (x[..., -1] + 1) % SUMS.vocabulary
    first, second = (logits(shape(), weights, tokens) for tokens in (x, other))
    assert torch.equal(first[:, :-1], second[:, :-1])
    assert not torch.allclose(first[:, -1], second[:, -1])


def test_adam_is_that_of_torch_for_each_run() -> None:
    start = torch.linspace(-1, 1, 6).view(2, 3, 1)
    ours, rates = start.clone(), torch.tensor([0.05, 0.2])[:, None, None]
    adam, theirs = Adam([ours]), [w.clone().requires_grad_() for w in start]
    optimisers = [torch.optim.Adam([w], lr=r.item()) for w, r in zip(theirs, rates, strict=True)]
    for _ in range(5):
        adam.step([(3 * ours).cos()], rates)
        for w, optimiser in zip(theirs, optimisers, strict=True):
            w.grad = (3 * w.detach()).cos()
            optimiser.step()
    assert torch.allclose(ours, torch.stack(theirs), atol=1e-6)


def test_timing_runs_the_work_without_gradients() -> None:
    seen = []
    wall, cpu = factorised_lookup.timed(lambda: seen.append(torch.is_grad_enabled()))
    assert seen == [False] and wall > 0 and cpu >= 0


def test_losses_that_explode_count_as_twice_the_guess() -> None:
    curve = torch.tensor([1.0, math.nan, math.inf, 9.0])
    assert bounded(curve, guess(SUMS)).tolist() == pytest.approx([1, *3 * [2 * math.log(5)]])


def test_the_other_seeds_choose_the_rate() -> None:
    losses = {"0.1": [1.0, 5.0, 5.0], "0.2": [2.0, 2.0, 2.0]}
    assert at_best_rate(losses) == {0: 2.0, 1: 2.0, 2: 2.0}  # seed 0 would have chosen 0.1
    with pytest.raises(ValueError, match="losses: got shape"):
        at_best_rate({"0.1": [1.0]})


def test_legs_take_ways_and_rates_as_the_other_seeds_do() -> None:
    ways = {
        "a": {"final": {"0.1": [3.0, 3.0], "0.2": [1.0, 2.0]}},
        "b": {"final": {"0.1": [0.5, 0.6], "0.4": [9.0, 9.0]}},
    }
    assert legs.arms_of(ways, "final") == {"a": {0: 1.0, 1: 2.0}, "b": {0: 0.5, 1: 0.6}}
    assert legs.at_rate_of(ways, "a", "b", "final") == {0: 3.0, 1: 3.0}
