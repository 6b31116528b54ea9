"""The article's listing in the lab, and what is done to tied models."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("transformers")

from verified_transformer.lab.tying import listing, treatments
from verified_transformer.lab.tying.budget import budget
from verified_transformer.lab.tying.ties import TiedModel, four_tests, seeded


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
