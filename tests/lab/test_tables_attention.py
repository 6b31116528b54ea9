"""What attention does in a layer: each statement is true of a layer, and false of a spoiled one."""

from __future__ import annotations

from typing import Any

import pytest

from verified_transformer.lab.tables.costs import attention as at
from verified_transformer.lab.tables.costs import sequence_layers


@pytest.mark.parametrize(
    ("statement", "thing", "spoiled"),
    [
        (at.has_two_parts, at.transformer_parts("model"), at.alone),
        (at.only_attention_connects, at.encoder_layer(), at.reading_its_neighbour),
        (at.heads_differ, at.two_heads(), at.second_as_first),
        (at.connects_the_ends, at.encoder_layer(), at.within_a_window),
    ],
)
def test_a_statement_is_true_and_false_of_a_spoiled_thing(
    statement: Any, thing: Any, spoiled: Any
) -> None:
    assert statement(thing) is True
    assert statement(spoiled(thing)) is False


def test_a_wide_window_connects_all_positions_by_one_product() -> None:
    assert bool(sequence_layers.sees(sequence_layers.wide_window, 5).all())
    assert sequence_layers.chain_over(sequence_layers.wide_window, 5) == 1


def test_the_chain_grows_with_a_text_that_is_written() -> None:
    layer = at.encoder_layer()
    assert sequence_layers.added_by_next(layer, 4, given=True) == 0
    assert sequence_layers.added_by_next(layer, 4, given=False) == 5
