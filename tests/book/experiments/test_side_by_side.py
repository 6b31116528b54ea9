"""Models of transformers side by side: independent, and grown as is said."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch

from verified_transformer.book.experiments.growing.grown_bert import bert
from verified_transformer.book.experiments.growing.rotary_growth import roformer
from verified_transformer.book.experiments.growing.zeros_or_copies import diversity, ends
from verified_transformer.book.experiments.laboratory.side_by_side import Away, Masked, Models
from verified_transformer.book.experiments.laboratory.tasks import Letters, lettered
from verified_transformer.book.experiments.laboratory.ways_to_grow import (
    by_coordinates,
    by_pairs,
    by_zeros,
)
from verified_transformer.models.growth import grow
from verified_transformer.seeds import generator

TASK = Away(2, vocabulary=5, length=8)
HOW = {"rates": [0.01, 0.03], "seeds": 2, "steps": 3, "count": 2}


def small() -> Models:
    made = [roformer(2, 5, seed, head=8) for seed in (0, 1)]
    return Models([*made, *made])


def test_runs_side_by_side_do_not_see_each_other() -> None:
    both, one = small(), Models([roformer(2, 5, seed, head=8) for seed in (0, 1)])
    together = both.learn(TASK, "runs", **HOW)
    alone = one.learn(TASK, "runs", **HOW | {"rates": [0.03]})
    assert torch.allclose(together[:, 1:], alone, atol=1e-2)
    assert not torch.allclose(together[1:, 0], together[1:, 1], atol=5e-2)


def test_what_is_learnt_is_in_the_models_and_positions_are_not_learnt() -> None:
    models = small()
    models.learn(TASK, "runs", **HOW)
    again = Models(models.each())
    assert torch.allclose(
        again.tested(TASK, "x", seeds=2, count=3), models.tested(TASK, "x", seeds=2, count=3)
    )
    assert all("embed_positions" in name for name in models.fixed if name.endswith("weight"))


def test_the_task_asks_for_what_stands_to_the_left() -> None:
    x, answer, counts = TASK.drawn(2, 3, generator("a task"))
    assert torch.equal(answer[..., 2:], x[..., :-2])
    assert counts[0, 0].tolist() == [0, 0, 1, 1, 1, 1, 1, 1]


def test_hidden_letters_are_asked_for_and_not_shown() -> None:
    letters = Letters(lettered("a quick brown fox jumps over it. " * 3), 8)
    x, answer, counts = Masked(letters, 3).drawn(2, 3, generator("hidden"))
    assert (counts.sum(-1) == 3).all()
    assert torch.equal(x == letters.vocabulary, counts > 0)
    assert torch.equal(x[counts == 0], answer[counts == 0])


@pytest.mark.parametrize(
    ("way", "keeps"),
    [(partial(grow, check=False), True), (by_pairs, False), (by_coordinates, False)],
)
def test_only_the_exact_slots_keep_the_loss(way: object, keeps: bool) -> None:
    models = Models([roformer(1, 5, seed, head=8) for seed in (0, 1)])
    models.weights = {name: 3 * w for name, w in models.weights.items()}
    large = Models([way(model, 2) for model in models.each()])  # type: ignore[operator]
    before, after = (m.tested(TASK, "x", seeds=2, count=3) for m in (models, large))
    assert torch.allclose(before, after, atol=1e-4) is keeps


def by_root_mean_square(
    x: torch.Tensor, shape: object, weight: torch.Tensor, shift: torch.Tensor, eps: float
) -> torch.Tensor:
    return x / x.square().mean(-1, keepdim=True).sqrt() * weight + shift


def test_zeros_everywhere_are_lossless_but_for_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    one = bert(2, 5, 0, 8).eval().double()
    large, x = by_zeros(one, 2).eval(), torch.randint(5, (2, 6), generator=generator("tokens"))
    assert (one(x).logits - large(x).logits).abs().max() > 1e-2
    monkeypatch.setattr(torch.nn.functional, "layer_norm", by_root_mean_square)
    assert (one(x).logits - large(x).logits).abs().max() < 1e-12
    matrices = [w for name, w in large.named_parameters() if "dense.weight" in name]
    assert all((w == 0).float().mean() == 0.75 for w in matrices)


def test_what_reads_the_new_coordinates_may_be_drawn_and_nothing_changes() -> None:
    one = bert(2, 5, 0, 8).eval().double()
    x = torch.randint(5, (2, 6), generator=generator("tokens"))
    dead, live = (by_zeros(one, 2, source).eval() for source in (None, generator("readers")))
    assert torch.allclose(dead(x).logits, live(x).logits, atol=1e-12)
    weights = {name: w for name, w in live.named_parameters() if "dense.weight" in name}
    assert all((w == 0).float().mean() == 0.25 for w in weights.values())
    old = dict(one.named_parameters())
    for name, w in weights.items():
        assert 0.7 < w[w != 0].std() / old[name].std() < 1.4
    key = live.bert.encoder.layer[0].attention.self.key.weight
    assert bool((key != 0).all())  # no query asks for the new keys


def test_diversity_is_the_entropy_of_what_is_told_apart() -> None:
    copied = torch.randn(1, 6, 6, generator=generator("entries")).repeat_interleave(2, -1)
    entropy, commonest = diversity([copied.repeat_interleave(2, -2)])
    assert entropy.item() == pytest.approx(math.log(36), abs=0.15)  # a few agree to a hundredth
    padded, zeros = diversity([torch.nn.functional.pad(copied[..., ::2], (0, 6, 0, 6))])
    assert padded < entropy - 1 and zeros >= 0.75 > commonest
    shaken = copied + 1e-6 * torch.randn(copied.shape, generator=generator("rounding"))
    assert diversity([shaken])[0].item() == pytest.approx(diversity([copied])[0].item(), abs=0.1)


def test_diversity_is_taken_at_the_rate_whose_loss_is_best_for_the_other_seeds() -> None:
    ways = {"copies": {"loss": {"1": [1.0, 1.0], "2": [2.0, 2.0]},
                       "entropy": {"1": [5.0, 6.0], "2": [7.0, 8.0]}}}  # fmt: skip
    assert ends(ways, "entropy") == {"copies": {0: 5.0, 1: 6.0}}
    assert ends(ways, "loss") == {"copies": {0: 1.0, 1: 1.0}}
