"""Models of transformers side by side: independent, and grown as is said.

What they are asked and what is read of them, the fingerprints of the recordings hold.
"""

from __future__ import annotations

import pytest
import torch

from long_runs.growing.grown_bert import bert
from long_runs.growing.rotary_growth import roformer
from long_runs.laboratory.side_by_side import Away, Models
from long_runs.laboratory.ways_to_grow import by_zeros
from verifiedbook.seeds import generator

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
