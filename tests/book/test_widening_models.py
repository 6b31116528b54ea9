"""Whole models and attention of chapter 4: exact growth, and the wrong ones seen."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from verified_transformer.book import largest_error, randomised, tiny
from verified_transformer.book.layers import standard_normal as normal
from verified_transformer.book.widening import attention as at
from verified_transformer.book.widening import norms
from verified_transformer.book.widening import whole_models as by
from verified_transformer.book.widening.layers import tiled, tiled_in_heads
from verified_transformer.book.widening.whole_models import spoken, with_own_head
from verified_transformer.models.architectures import is_tied
from verified_transformer.models.growth import compare, heads

# ------------------------------------------------------------------------------ norms


def test_the_norm_by_hand_is_torchs() -> None:
    x, gain, shift = (normal(name, 4, 6) for name in ("x", "gain", "shift"))
    arrays = (x.numpy(), gain.numpy(), shift.numpy())
    assert np.allclose(norms.by_torch(x, gain, shift, 0.1), norms.by_hand(*arrays, 0.1))
    assert np.allclose(norms.norm(x, gain, shift), norms.norm(*arrays))
    wide, small = norms.grown_and_small(x, gain, shift, 2, 0.1, 0.05)
    assert largest_error(wide, small / 2**0.5) < 1e-12
    wide, small = norms.grown_and_small(*arrays, 2, 0.1)
    assert np.abs(wide - small / 2**0.5).max() > 1e-3


def test_what_is_left() -> None:
    assert norms.left_over(2, 1e-5, 0.02) == pytest.approx(((4e-4 + 1e-5) / (4e-4 + 2e-5)) ** 0.5)


# ------------------------------------------------------------------------------ attention


@pytest.mark.parametrize("layout", [heads, tiled_in_heads])
def test_attention_is_exact_where_copies_stay_in_their_head(layout: at.Layout) -> None:
    assert max(at.multihead_errors(2, layout=layout)) < 1e-12


def test_tiling_mixes_heads_but_not_more_heads() -> None:
    assert min(at.multihead_errors(2, layout=tiled)) > 1e-2
    assert max(at.multihead_errors(2, layout=tiled, around=tiled, more_heads=True)) < 1e-12


# ------------------------------------------------------------------------------ heads and tables


def test_the_table_is_exact_once_mended() -> None:
    model = randomised(tiny("bert", layer_norm_eps=1e-5), "a table")
    for table, epsilon, exact in (
        (by.mended_table(), by.divided_epsilon, True),
        (by.article_table(), by.divided_epsilon, False),
        (by.mended_table(), by.same_epsilon, False),
        (by.mended_table(), by.all_divided, False),
        (by.further_division(by.mended_table()), by.divided_epsilon, False),
        (by.eq_6_table(), by.all_divided, False),
        (by.kept_at(by.mended_table(), "value", 3), by.divided_epsilon, False),
        (by.mended_table(root=8), by.divided_epsilon, False),
    ):
        large = by.by_table(model, 2, table=table, epsilon=epsilon)
        assert (compare(model, large).clean < 1e-12) == exact


def test_a_table_must_have_one_row_for_each_parameter() -> None:
    with pytest.raises(ValueError, match="row: got 'third'; accepted: embedding, norm"):
        by.changed(by.article_table(), "third")
    rows = by.article_table()
    del rows["value"]
    with pytest.raises(ValueError, match=r"table: 0 rows for .*value.weight; accepted: one"):
        by.by_table(tiny("bert"), 2, table=rows)


def test_the_simplest_rule_serves_the_simplest_model() -> None:
    simple = tiny("gpt2", scale_attn_weights=False, activation_function="relu")
    small = randomised(simple, "simple")
    assert compare(small, by.by_roots(small, 2)).clean < 1e-12
    gelu = randomised(tiny("gpt2"), "gelu")
    assert compare(gelu, by.by_roots(gelu, 2)).clean > 1e-3


def test_what_does_not_learn_keeps_its_values() -> None:
    model = tiny("roformer")
    table = model.roformer.encoder.embed_positions.weight.clone()
    randomised(model, "rotary")
    assert torch.equal(model.roformer.encoder.embed_positions.weight, table)


def test_a_head_of_its_own_is_seen_and_kept_by_growing() -> None:
    model = randomised(tiny("t5", tie_word_embeddings=False), "own").requires_grad_(False)
    assert is_tied(model)
    with_own_head(model, "own")
    assert not is_tied(model)
    large = by.by_roots(model, 2)
    assert not is_tied(large)
    assert compare(model, large).clean < 1e-12


def test_logits_are_drawn_from_the_name_alone() -> None:
    model = randomised(tiny("gpt2"), "spoken")
    assert torch.equal(spoken(model, "a"), spoken(model, "a"))
    assert not torch.equal(spoken(model, "a"), spoken(model, "b"))
    assert spoken(model, "a").shape == (2, 9, 19)
