"""Tied heads in the lab: remedies, first losses, languages, budgets."""

from __future__ import annotations

import math

import pytest
import torch

pytest.importorskip("transformers")

from verified_transformer import generator
from verified_transformer.book import of_kind
from verified_transformer.book.tying import (
    first_losses,
    identity_bodies,
    remedies,
)
from verified_transformer.book.tying.budget import budget


def test_a_turned_state_starts_lower_and_a_share_is_of_a_known_head() -> None:
    turns = [lambda h: h, lambda h: h.roll(1, -1)]
    kept, turned = first_losses.losses_by_turn(200, 64, [0.2], turns, 2)
    assert turned[0][0] < math.log(200) + 2 < kept[0][0]
    with pytest.raises(ValueError, match="draws: got 1; accepted: 2 or more"):
        first_losses.losses_by_turn(200, 64, [0.2], turns, 1)


@pytest.mark.parametrize("head", remedies.REMEDIES)
def test_every_remedy_has_a_finite_first_loss(head: str) -> None:
    loss, own = remedies.two_gram_excess(64, 16, 0.25, head, tokens=16)
    assert math.isfinite(loss) and own.shape == (16,)


def test_an_unknown_head_is_refused() -> None:
    with pytest.raises(ValueError, match="head: got 'other'; accepted: tied, untied"):
        remedies.two_gram_excess(64, 16, 0.25, "other")


def test_the_first_ring_is_a_softmax() -> None:
    logits = torch.tensor([0.3, -1.0, 0.8], dtype=torch.float64)
    u = torch.rand(200_000, 3, generator=generator("rings"), dtype=torch.float64)
    first = torch.bincount(first_losses.rings(u, logits).argmin(-1), minlength=3) / len(u)
    assert torch.allclose(first.double(), logits.softmax(-1), atol=0.01)
    mean = first_losses.logsumexp_by_first_ring(u, logits).mean().item()
    assert mean == pytest.approx(logits.logsumexp(-1).item(), abs=0.02)


def test_an_untied_model_is_refused() -> None:
    small = {"vocab_size": 19, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    with pytest.raises(ValueError, match="is not tied; accepted: a tied model"):
        identity_bodies.without_weights("LlamaForCausalLM", **small, intermediate_size=8)


def test_a_tied_model_has_the_budget_of_its_untied_twin() -> None:
    pair = [budget(of_kind("gpt2", tie_word_embeddings=tied)) for tied in (True, False)]
    assert pair[0].tied and not pair[1].tied
    assert (pair[0].table, pair[0].rest) == (pair[1].table, pair[1].rest)
