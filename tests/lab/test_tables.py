"""The laboratory of factorised tables: families, sequence layers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch
from torch import nn

from verified_transformer.lab.tables import compression, takes_products_as_rows
from verified_transformer.lab.tables.costs import sequence_layers
from verified_transformer.lab.tables.costs import two_ends as lookup_work
from verified_transformer.lab.tables.families import shapes as families
from verified_transformer.lab.tables.families import work as family_work
from verified_transformer.seeds import generator


def test_break_even_of_low_rank() -> None:
    rank = families.rank_of_break_even(
        lambda r: families.stored(families.low_rank(30, 20, r)), 30 * 20
    )
    assert rank == pytest.approx(600 / 50)


@pytest.mark.parametrize("family", family_work.FAMILIES)
def test_logits_are_those_of_the_whole_table(family: str) -> None:
    shapes = {
        "dense": [(6, 8)],
        "low-rank": families.low_rank(6, 8, 2),
        "product": families.product(6, [4, 4], 3),
        "kronecker": families.kronecker([2, 2], [4, 4], 3),
        "train": families.tensor_train([2, 2], [4, 4], 3),
    }[family]
    source = generator(family)
    factors = [torch.randn(*shape, generator=source, dtype=torch.float64) for shape in shapes]
    table = family_work.whole_table(family, factors)
    hidden = torch.linspace(-1, 1, table.shape[1], dtype=torch.float64)
    assert torch.allclose(family_work.logits(family, factors, hidden), table @ hidden)


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="family: got 'ring'; accepted: dense"):
        family_work.logits("ring", [torch.ones(2, 2)], torch.ones(2))


def test_work_of_two_thin_matrices() -> None:
    assert lookup_work.thin_lookup(50, 24, 3) == (0, 3 * 24)
    assert lookup_work.thin_scores(50, 24, 3) == (50 * 24, 3 * (50 + 24))
    assert lookup_work.product_scores(20, 4, 3)[0] == 20 * 4**3
    plain, made = lookup_work.product_lookup(20, 4, 3)
    assert plain == 0 < made < lookup_work.one_hot_product_lookup(20, 4, 3)[0]


def test_attention_sees_everything_and_a_dense_layer_itself() -> None:
    attention = sequence_layers.seeded(
        lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    )
    assert sequence_layers.sees(attention, 5).all()
    dense = sequence_layers.seeded(lambda: nn.Linear(8, 8))
    assert torch.equal(sequence_layers.sees(dense, 5), torch.eye(5).bool())
    assert sequence_layers.chain_growth(attention) == 0
    masked = sequence_layers.sees(
        lambda x: attention(x, src_mask=sequence_layers.causal_mask(5)), 5
    )
    assert torch.equal(masked, torch.ones(5, 5).tril().bool())


def test_a_recurrence_lengthens_the_chain() -> None:
    cell = sequence_layers.seeded(lambda: nn.RNNCell(8, 8))
    assert sequence_layers.chain_growth(sequence_layers.recurrent(cell)) == Fraction(1)
    assert sequence_layers.chain_growth(sequence_layers.entry_by_entry) == 0


def test_convolutions_connect_step_by_step() -> None:
    assert sequence_layers.layers_until_connected(6) == 5
    assert sequence_layers.layers_until_connected(6, doubling=True) == 3


def test_cutting_is_best_and_distilling_reaches_it() -> None:
    E = compression.decaying_table()
    everything = torch.arange(60)
    best = compression.relative_distance(E, compression.cut(E, 6)(everything).detach())
    fitted = compression.relative_distance(E, compression.distilled(E)(everything).detach())
    assert fitted == pytest.approx(best, rel=1e-6)
    assert compression.relative_distance(E, compression.nearest_products(E, 4)) > best


def test_students_learn_their_own_teacher() -> None:
    own, other = (compression.drawn_network(40, name) for name in ("teacher", "stranger"))
    assert compression.unexplained(compression.student_of(own), own) < 0.05
    assert compression.unexplained(compression.student_of(other), own) > 0.05


def test_rounding_and_signs() -> None:
    W = torch.tensor([[1.0, -0.5], [0.25, -1.0]])
    whole, scale = compression.int8(W)
    assert torch.allclose(whole * scale, W, atol=0.01)
    packed, size = compression.one_bit(W)
    assert np.unpackbits(packed)[:4].tolist() == [1, 0, 1, 0] and size.item() == 0.6875
    assert compression.bytes_of([whole, packed]) == 5
    assert compression.highest_unfolding_rank(torch.arange(1.0, 5.0), 2, 2) == 2


def test_the_tiny_model_scores_every_token() -> None:
    model = compression.TinyModel(nn.Embedding(60, 24))
    scores = model(torch.arange(7))
    assert scores.shape == (7, 60) and scores.isfinite().all()


def test_rounding_of_normal_numbers_is_what_the_formula_says() -> None:
    z = torch.randn(200_000, generator=generator("rounding"), dtype=torch.float64)
    for bits in (1, 2, 3):
        lost = compression.relative_distance(z, compression.rounded(z, bits)) ** 2
        assert lost == pytest.approx(compression.rounding_loss(bits), rel=0.03)
    b = sp.Symbol("b")
    curve = compression.rounding_curve(b)
    assert float(curve.subs(b, 0)) == 1
    assert float(curve.subs(b, 1)) == pytest.approx(1 - 2 / math.pi, rel=1e-6)
    between = (compression.rounding_loss(2) + compression.rounding_loss(3)) / 2
    assert float(curve.subs(b, 2.5)) == pytest.approx(between)


def test_what_stores_fewer_numbers_loses_in_proportion() -> None:
    lost = compression.in_a_budget(compression.decaying_table(2000, 64, power=0), 2)
    assert lost["rounded"] < lost["pruned"] < lost["thin"] < lost["rows shared"]
    assert lost["rows shared"] == pytest.approx(3 / 4, abs=0.02)
    falling = compression.in_a_budget(compression.decaying_table(2000, 64), 2)
    assert falling["thin"] < falling["rounded"]


def test_a_turn_is_seen_only_where_the_layer_is_not_turned_along() -> None:
    E, everything = compression.decaying_table(), torch.arange(60)
    first, second = (model(everything) for model in compression.turned_pair(E, "turn"))
    assert torch.allclose(first, second)
    first, second = (m(everything) for m in compression.turned_pair(E, "turn", along=False))
    assert not torch.allclose(first, second)


def test_bytes_work_and_removed_entries() -> None:
    assert compression.bytes_stored(60, 24, 2, 6) == 4 * 6 * 84 + 12 * 2 * 24**2
    assert compression.bytes_stored(60, 24, 2, quantised=False) == 4 * (60 * 24 + 12 * 2 * 24**2)
    assert compression.work() == 2 * 24 * 96 + 600 * 24
    assert compression.work(6, 48, zeros=True) == 2 * 24 * 48 + 6 * (24 + 600)
    table = torch.tensor([[3.0, -1.0], [0.5, 2.0]])
    assert compression.changes_least(table, [2, 1]) and not compression.changes_least(table, [0])
    assert (compression.pruned(table).weight == 0).sum() == 2
    assert compression.products_of(5, 3, 2).shape == (5, 9)


def test_real_models_take_products_whose_lengths_multiply_to_the_width() -> None:
    assert takes_products_as_rows((2, 8))
    assert not takes_products_as_rows((8, 8))
