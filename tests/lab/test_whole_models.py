"""Whole models: a head of their own, what they are, and what training does to copies."""

from __future__ import annotations

import torch

from verified_transformer.lab import randomised, tiny
from verified_transformer.lab.widening import whole_models as table
from verified_transformer.lab.widening.whole_models import self_portrait, spoken, with_own_head
from verified_transformer.models.architectures import is_tied
from verified_transformer.models.growth import compare


def test_a_head_of_its_own_is_seen_and_kept_by_growing() -> None:
    model = randomised(tiny("t5", tie_word_embeddings=False), "own").requires_grad_(False)
    assert is_tied(model)
    assert ", tied, " in self_portrait(model)
    with_own_head(model, "own")
    assert not is_tied(model)
    assert "own head, T5LayerNorm 1e-06, ReLU, float64" in self_portrait(model)
    large = table.by_roots(model, 2)
    assert not is_tied(large)
    assert compare(model, large).clean < 1e-12


def test_logits_are_drawn_from_the_name_alone() -> None:
    model = randomised(tiny("gpt2"), "spoken")
    assert torch.equal(spoken(model, "a"), spoken(model, "a"))
    assert not torch.equal(spoken(model, "a"), spoken(model, "b"))
    assert spoken(model, "a").shape == (2, 9, 19)
