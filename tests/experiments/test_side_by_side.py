"""Models of transformers side by side: independent, and grown as is said."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from verified_transformer.experiments.growing.rotary_growth import roformer
from verified_transformer.experiments.laboratory.side_by_side import Away, Masked, Models
from verified_transformer.experiments.laboratory.tasks import Letters, lettered
from verified_transformer.experiments.laboratory.ways_to_grow import by_coordinates, by_pairs
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
