"""The laboratory of factorised tables: families, sequence layers."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from torch import nn

from verified_transformer.lab.tables import takes_products_as_rows
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


def test_real_models_take_products_whose_lengths_multiply_to_the_width() -> None:
    assert takes_products_as_rows((2, 8))
    assert not takes_products_as_rows((8, 8))
