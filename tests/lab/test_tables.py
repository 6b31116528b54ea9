"""The laboratory of factorised tables: families."""

from __future__ import annotations

import pytest
import torch

from verified_transformer.lab.tables import takes_products_as_rows
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


def test_real_models_take_products_whose_lengths_multiply_to_the_width() -> None:
    assert takes_products_as_rows((2, 8))
    assert not takes_products_as_rows((8, 8))
