"""Whole models and attention of chapter 4: exact growth, and the wrong ones seen."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
import torch
from torch import nn

from verified_transformer import Index, Uniform, mean, symbols, total
from verified_transformer.book import largest_error, randomised, relative_error, tiny
from verified_transformer.book.layers import standard_normal as normal
from verified_transformer.book.widening import attention as at
from verified_transformer.book.widening import heads as of
from verified_transformer.book.widening import norms, recovery, rotary
from verified_transformer.book.widening import real_attention as real
from verified_transformer.book.widening import rotary_scores as pairs
from verified_transformer.book.widening import whole_models as by
from verified_transformer.book.widening.layers import tiled, tiled_in_heads
from verified_transformer.book.widening.whole_models import self_portrait, spoken, with_own_head
from verified_transformer.models.architectures import is_tied
from verified_transformer.models.growth import compare, heads, repeated

LAYOUTS = ("interleaved", "halves")


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
    assert at.multihead_errors(2, out_bias=2.0)[0] > 1e-3


def test_bert_needs_the_fourth_root_and_t5_does_not() -> None:
    x, c, axis = at.states(12), 2**0.25, at.stream(12, 2)
    small = real.bert_attention(4, 3)
    for factor, exact in ((c, True), (1.0, False)):
        large = real.wider_bert_attention(small, 2, query=(factor,) * 2, key=(factor,) * 2)
        error = largest_error(large(axis.write(x, -1))[1], small(x)[1])
        assert (error < 1e-12) == exact
    t5, y, wide = real.t5_attention(4, 3, 10), at.states(10), at.stream(10, 3)
    found = real.wider_t5_attention(t5, 3)(wide.write(y, -1))[0]
    assert largest_error(found, wide.write(t5(y)[0], -1)) < 1e-12


def test_errors_of_berts_and_t5s_attention() -> None:
    c = 2**0.25
    found, wanted = real.bert_pair("bert", 3, query=(3**0.25,) * 2, key=(3**0.25,) * 2)
    assert largest_error(found.matrix, wanted.matrix) < 1e-12
    assert largest_error(found.output, wanted.output) < 1e-12
    found, wanted = real.bert_pair("bert", 2, query=(c, c), key=(c, c), value=(c, c))
    assert largest_error(found.output, wanted.output) > 1e-2
    assert largest_error(*real.t5_pair("t5", 2)) < 1e-12
    assert largest_error(*real.t5_pair("t5", 2, scaled=True)) > 1e-3


# ------------------------------------------------------------------------------ rotary heads


@pytest.mark.parametrize("layout", LAYOUTS)
def test_slots_of_the_right_speed_are_exact(layout: str) -> None:
    small = rotary.drawn_attention(layout, 8)
    hidden, stream = normal("hidden", 1, 3, 16), repeated(16, 2, scale=2**-0.5)
    places, wide = [0, 5, 700], stream.write(hidden, -1)
    wanted = stream.write(rotary.attended(small, hidden, rotary.angles(places, 8)), -1)
    for place, base, exact in (
        (rotary.every_kth_slot, 1e4, True),
        (rotary.first_slots, 1e8, True),
        (rotary.first_slots, 1e4, False),
        (rotary.each_coordinate, 1e4, False),
        (rotary.each_pair, 1e4, False),
    ):
        large = rotary.wider_attention(small, layout, place, 2, noise=1.0)
        found = rotary.attended(large, wide, rotary.angles(places, 16, base))
        assert (relative_error(found, wanted) < 1e-12) == exact


def test_places_have_their_copies() -> None:
    pairs = rotary.each_pair(1, 4, 2, "interleaved")
    assert pairs.source.tolist() == [0, 1, 0, 1, 2, 3, 2, 3] and rotary.copies(pairs) == 2
    assert rotary.copies(rotary.every_kth_slot(2, 4, 3, "halves")) == 1
    assert rotary.scored(pairs, 2, scaled=False).factor[0].item() == pytest.approx(2**-0.5)


def test_only_the_right_slots_change_no_output() -> None:
    assert rotary.enlarging_error("halves", rotary.every_kth_slot, 3) < 1e-12
    assert rotary.enlarging_error("interleaved", rotary.each_pair, 2) > 1e-3
    assert rotary.more_heads_error(3) < 1e-12
    assert rotary.empty_slots_learn(noise=1.0) and not rotary.empty_slots_learn(noise=0.0)


def test_the_change_of_a_score_is_the_polynomial() -> None:
    σ, τ, t, z, k, n = symbols("sigma tau t z k n")
    point = {σ: 1.3, τ: 0.7, t: 0.9, z: 0.5}
    arrays = {name: normal(name, 6, 1) for name in ("q", "q'", "k", "k'")}
    old, grown = pairs.by_coordinates(Uniform.of_variance)
    one = Index("p", 1)
    for change, place, angles in (
        (grown - old, rotary.each_coordinate, (0.9, 0.5)),
        (pairs.by_pairs(Uniform.of_variance), rotary.each_pair, (0.9, 0.5)),
    ):
        quantity = mean(total(sp.expand(change), one) ** 2)
        defined = quantity.evaluate({a: v.numpy() for a, v in arrays.items()}, point)
        found = pairs.change_statistic(place)(point, **arrays)
        assert largest_error(found, torch.as_tensor(defined)) < 1e-12
        exact = pairs.pair_change("interleaved", place, angles)
        assert float(quantity.value.subs({**point, σ: 1, τ: 1})) == pytest.approx(exact)
    half = Uniform.of_variance(sp.Rational(1, 2))
    together = pairs.turned_together(Uniform.of_variance, half)
    arrays = {name: normal(name, 6, 3) for name in ("q", "q'", "k", "k'", "C", "S")}
    a = symbols("a")
    point = {n: 3, k: 2, σ: 1.3, τ: 0.7, a: 0.3}
    gap = mean((together[1] - a * together[0]) ** 2)
    defined = gap.evaluate({a: v.numpy() for a, v in arrays.items()}, point)
    found = pairs.difference_statistic(point, **arrays)
    assert largest_error(found, torch.as_tensor(defined)) < 1e-12
    assert pairs.relative_change("halves", rotary.every_kth_slot, 17) < 1e-12


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_of_slots_do_not_change(layout: str) -> None:
    old = rotary.scores(layout, None, rotary.angles([17], 8))
    new = rotary.scores(layout, rotary.every_kth_slot, rotary.angles([17], 16))
    assert relative_error(new, old) < 1e-12


def test_an_enlarged_rotary_model_keeps_its_losses_by_slots() -> None:
    p = recovery.drawn("tested", seeds=2, head=16)
    wide = recovery.enlarged(p, rotary.every_kth_slot)
    before, after = (recovery.tested(weights, (3, 5)) for weights in (p, wide))
    assert torch.allclose(before, after, atol=1e-4)
    assert not torch.allclose(
        before, recovery.tested(recovery.enlarged(p, rotary.each_pair), (3, 5))
    )
    later, curve = recovery.trained(p, 3, (3, 5), "tested")
    assert curve.shape == (3, 2) and not torch.equal(later["q"], p["q"])


# ------------------------------------------------------------------------------ heads and tables


def test_heads_are_unchanged_by_the_right_scales_alone() -> None:
    root, gelu, relu = 2**-0.5, nn.functional.gelu, nn.functional.relu
    for exact, pair in (
        (True, of.gpt2_pair("a", 2)),
        (True, of.gpt2_pair("a", 2, rows=1.0, last=0.5)),
        (False, of.gpt2_pair("a", 2, rows=1.0)),
        (False, of.gpt2_pair("a", 2, eps_by=1.0)),
        (True, of.tied_pair("a", 2)),
        (False, of.tied_pair("a", 2, bias=root)),
        (True, of.t5_pair("a", 2, plain="decoder.final_layer_norm")),
        (False, of.t5_pair("a", 2)),
        (True, of.dense_pair("a", 2, activation=gelu, scale=1.0)),
        (False, of.dense_pair("a", 2, activation=gelu, scale=root)),
        (True, of.dense_pair("a", 2, activation=relu, scale=root)),
        (True, of.bert_pair("a", 2)),
        (False, of.bert_pair("a", 2, norm=0.5)),
        (True, of.bert_pair("a", 2, act="relu", dense=root, eps_by=2)),
        (False, of.bert_pair("a", 2, dense=root, eps_by=2)),
        (True, of.bert_pair("a", 2, size=0.1, eps=0.1)),
        (True, of.transform_pair("a", 2, norm=True)),
        (False, of.transform_pair("a", 2, norm=False)),
        (True, of.own_head_pair("a", 2, scale=root)),
        (True, of.own_head_pair("a", 2, scale=root / 0.3, factor=0.3)),
        (False, of.own_head_pair("a", 2, scale=0.5)),
    ):
        assert (largest_error(*pair) < 1e-12) == exact
    assert not list(of.bert_head(norm=False).transform.LayerNorm.parameters())


def test_factors_between_logits() -> None:
    assert of.factor_between(*of.t5_pair("a", 3)).value == pytest.approx(3**-0.5)
    assert of.factor_between(*of.tied_pair("a", 3, bias=2.0)).error > 1e-3
    lead = np.array([1.0, 4.0])
    assert of.t5_losses(list(lead), 2, 9) == pytest.approx(np.log1p(8 * np.exp(-lead / 2**0.5)))


def test_an_untied_head_is_refused() -> None:
    with pytest.raises(ValueError, match="model: its head is not tied"):
        of.gpt2_logits(tiny("gpt2", tie_word_embeddings=False), torch.zeros(1, 12))


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
    assert compare(small, by.by_roots(small, 2, same_eps=True)).clean > 1e-9
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
    assert ", tied, " in self_portrait(model)
    with_own_head(model, "own")
    assert not is_tied(model)
    assert "own head, T5LayerNorm 1e-06, ReLU, float64" in self_portrait(model)
    large = by.by_roots(model, 2)
    assert not is_tied(large)
    assert compare(model, large).clean < 1e-12


def test_logits_are_drawn_from_the_name_alone() -> None:
    model = randomised(tiny("gpt2"), "spoken")
    assert torch.equal(spoken(model, "a"), spoken(model, "a"))
    assert not torch.equal(spoken(model, "a"), spoken(model, "b"))
    assert spoken(model, "a").shape == (2, 9, 19)
