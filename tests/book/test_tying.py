"""Tied heads in the lab: remedies, ties, languages, the listing, what is done to tied models."""

from __future__ import annotations

import math

import pytest
import torch

pytest.importorskip("transformers")

from verified_transformer import generator
from verified_transformer.book.tying import (
    first_losses,
    identity_bodies,
    listing,
    remedies,
    repeats,
    roles,
    ties,
    treatments,
)
from verified_transformer.book.tying.budget import budget
from verified_transformer.book.tying.ties import TiedModel, four_tests, seeded
from verified_transformer.models import expected_first_loss


def test_a_turned_state_starts_lower_and_a_share_is_of_a_known_head() -> None:
    turns = [lambda h: h, lambda h: h.roll(1, -1)]
    kept, turned = first_losses.losses_by_turn(200, 64, [0.2], turns, 2)
    assert turned[0][0] < math.log(200) + 2 < kept[0][0]
    assert kept == first_losses.losses_by_scale(200, 64, [0.2], 2)
    with pytest.raises(ValueError, match="draws: got 1; accepted: 2 or more"):
        first_losses.losses_by_scale(200, 64, [0.2], 1)


@pytest.mark.parametrize("head", remedies.REMEDIES)
def test_every_remedy_has_a_finite_first_loss(head: str) -> None:
    loss, own = remedies.two_gram_excess(64, 16, 0.25, head, tokens=16)
    assert math.isfinite(loss) and own.shape == (16,)


def test_an_unknown_head_is_refused() -> None:
    with pytest.raises(ValueError, match="head: got 'other'; accepted: tied, untied"):
        remedies.two_gram_excess(64, 16, 0.25, "other")


def test_drawn_losses_have_the_mean_of_the_quadrature() -> None:
    mean, error = first_losses.drawn_loss(500, 16, 0.25, 400)
    assert abs(mean - expected_first_loss(500, 16, σ=0.25)) < 5 * error
    own, loss = first_losses.losses_for_a_map(500, 16, 0.25)
    assert own.shape == (4000, 1) and loss.shape == (4000, 6) and (loss > own).all()


def test_the_wide_limit_is_the_articles_sum() -> None:
    assert first_losses.wide_limit(3, 1.5) == pytest.approx(math.log(math.exp(1.5) + 2), abs=1e-9)
    with pytest.raises(ValueError, match="n: got 6; accepted: 2 to 5"):
        first_losses.wide_limit(6, 1.0)


def test_the_first_ring_is_a_softmax() -> None:
    logits = torch.tensor([0.3, -1.0, 0.8], dtype=torch.float64)
    u = torch.rand(200_000, 3, generator=generator("rings"), dtype=torch.float64)
    first = torch.bincount(first_losses.rings(u, logits).argmin(-1), minlength=3) / len(u)
    assert torch.allclose(first.double(), logits.softmax(-1), atol=0.01)
    mean = first_losses.logsumexp_by_first_ring(u, logits).mean().item()
    assert mean == pytest.approx(logits.logsumexp(-1).item(), abs=0.02)


def test_repeats_are_counted_in_two_scripts() -> None:
    assert repeats.repeats("so so, well") == (1, 3)
    assert repeats.repeats("偷偷地") == (1, 2)
    assert all(repeats.repeats(text)[1] > 30 for text in repeats.TEXTS.values())


def test_an_untied_model_is_refused() -> None:
    small = {"vocab_size": 19, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    with pytest.raises(ValueError, match="is not tied; accepted: a tied model"):
        identity_bodies.without_weights("LlamaForCausalLM", **small, intermediate_size=8)


def test_states_of_a_tie() -> None:
    assert ties.four_tests(ties.TiedModel()) == (True,) * 4
    assert ties.four_tests(ties.TiedModel(tie=False)) == (False,) * 4
    assert ties.four_tests(ties.twice(ties.TiedModel()))[2:] == (True, True)
    half = ties.head_from(ties.TiedModel(), lambda E: E.data)
    assert ties.four_tests(half) == (False, True, False, True)
    assert ties.four_tests(ties.head_copied(ties.TiedModel())) == (False,) * 4
    assert ties.said_by(lambda: None) == "nothing said"


def test_languages_are_laws() -> None:
    known = roles.languages()
    assert torch.allclose(known.next_law.sum(-1), torch.ones(roles.RUNS, roles.WORDS), atol=1e-5)
    assert torch.allclose(known.pair_law.sum((-1, -2)), torch.ones(roles.RUNS), atol=1e-4)
    assert torch.equal(known.follows[roles.ONE_ROLE], known.followed[roles.ONE_ROLE])
    assert not torch.equal(known.follows[roles.TWO_ROLES], known.followed[roles.TWO_ROLES])
    data = known.sampled(50, generator("pairs"))
    assert torch.allclose(data.sum((-1, -2)), torch.ones(roles.RUNS))


def test_learning_lowers_the_loss() -> None:
    law = roles.languages().pair_law
    curve, weights = roles.learn(True, [0.03], 6, [law] * 6)
    assert curve.shape == (6, 2, 1, roles.RUNS) and "output" not in weights
    assert (curve[-1, 1].mean() < curve[0, 1].mean()).item()


def test_real_texts_are_laws_too() -> None:
    known = roles.documentation()
    assert torch.allclose(known.pair_law.sum((1, 2)), torch.ones(roles.RUNS))
    rows = known.next_law.sum(-1)
    assert bool(((rows - 1).abs() < 1e-5).logical_or(rows == 0).all())
    assert bool((known.entropy > 1).all())


@pytest.mark.parametrize("direction", listing.DIRECTIONS)
def test_the_first_logits_have_the_spread_that_is_derived(direction: str) -> None:
    derived = float(listing.DIRECTIONS[direction](128))
    found, error = listing.logit_spread(direction, 128)
    assert abs(found - derived) < 5 * error


def test_transposing_by_hand_is_noticed_unless_the_table_is_square() -> None:
    assert listing.after_transposing(7, 5) == "an error in the forward pass"
    assert listing.after_transposing(6, 6) == "wrong logits and no error"
    assert listing.one_object(listing.as_listed) and not listing.one_object(listing.half_tie)


def test_a_half_tie_decays_twice() -> None:
    tie, half = (treatments.decayed(kind, 4, 0.1) for kind in (False, True))
    assert half == pytest.approx([value**2 for value in tie])


@pytest.mark.parametrize(
    ("name", "kept"), [("one flat vector", True), ("flat, layer by layer", False)]
)
def test_flattening_keeps_numbers_and_may_break_a_tie(name: str, kept: bool) -> None:
    model = seeded(name, TiedModel)
    before = model(torch.arange(7)).detach()
    after = treatments.COPIES[name](model)
    assert torch.equal(before, after(torch.arange(7)).detach())
    assert four_tests(after) == (kept,) * 4


def test_a_tied_model_has_the_budget_of_its_untied_twin() -> None:
    pair = [
        budget(treatments.built("GPT2LMHeadModel", tie_word_embeddings=t)) for t in (True, False)
    ]
    assert pair[0].tied and not pair[1].tied
    assert (pair[0].table, pair[0].rest) == (pair[1].table, pair[1].rest)
