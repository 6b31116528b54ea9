"""The laboratory of factorised tables: families."""

from __future__ import annotations

from verified_transformer.lab.tables import costs as lookup_work
from verified_transformer.lab.tables import takes_products_as_rows


def test_work_of_two_thin_matrices() -> None:
    assert lookup_work.thin_lookup(50, 24, 3) == (0, 3 * 24)
    assert lookup_work.thin_scores(50, 24, 3) == (50 * 24, 3 * (50 + 24))
    assert lookup_work.product_scores(20, 4, 3)[0] == 20 * 4**3
    plain, made = lookup_work.product_lookup(20, 4, 3)
    assert plain == 0 < made < lookup_work.one_hot_product_lookup(20, 4, 3)[0]


def test_real_models_take_products_whose_lengths_multiply_to_the_width() -> None:
    assert takes_products_as_rows((2, 8))
    assert not takes_products_as_rows((8, 8))
