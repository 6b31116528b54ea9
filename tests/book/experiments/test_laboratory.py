"""The laboratory: runs side by side are independent, and what a leg compares is what it says.

What it gives with its seeds, formulas and sizes, the fingerprints of the recordings hold.
"""

from __future__ import annotations

import math

import pytest
import torch

from verified_transformer.book.experiments import factorised_lookup, remedies_on_text
from verified_transformer.book.experiments.laboratory import legs
from verified_transformer.book.experiments.laboratory.learning import Adam, at_best_rate, bounded
from verified_transformer.book.experiments.laboratory.tasks import (
    ALPHABET,
    Letters,
    Sums,
    guess,
    lettered,
    worded,
)  # fmt: skip
from verified_transformer.book.experiments.laboratory.transformers import (
    SCHEMES,
    Shape,
    drawn_weights,
    logits,
)
from verified_transformer.seeds import generator

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


def test_tasks_ask_for_what_they_say() -> None:
    x, answer = Sums(exponent=3.0, reversed=True).batch(2, 100, generator("tokens"))
    assert torch.equal(answer, (x + x[..., :1]) % 8) and x.float().mean() > 6
    letters = lettered("Ab  c!")
    assert "".join(ALPHABET[i] for i in letters) == "ab c."
    window, after = Letters(lettered("abcdefgh"), 3).batch(2, 4, generator("windows"))
    assert torch.equal(window[..., 1:], after[..., :-1])
    assert worded("a rose is a rose.", 3).tolist() == [0, 1, 2, 0, 1, 2]


def test_the_twin_starts_as_the_same_function() -> None:
    x = torch.tensor([[3, 1, 4]])
    tied, twin = (
        remedies_on_text.model(head, 16, 8, 0) for head in ("small σ", remedies_on_text.TWIN)
    )
    assert torch.equal(tied(x), twin(x)) and tied.head.weight is tied.embedding.weight
    assert twin.head.weight is not twin.embedding.weight


def test_the_further_heads_keep_the_one_table() -> None:
    x = torch.tensor([[3, 1, 4]])
    tied, divided, shifted = (
        remedies_on_text.model(head, 20, 16, 0)
        for head in ("tied", remedies_on_text.DIVIDED, remedies_on_text.SHIFTED)
    )
    assert torch.allclose(divided(x), tied(x) / 4)
    state = tied.head.features(torch.arange(16.0))
    assert shifted.head.features(state).tolist() == state.roll(1, -1).tolist()
    for made in (divided, shifted):
        assert made.head.weight is made.embedding.weight
