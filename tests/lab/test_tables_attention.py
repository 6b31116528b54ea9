"""What attention does in a layer: each statement is true of a layer, and false of a spoiled one."""

from __future__ import annotations

from typing import Any

import pytest

from verified_transformer.lab.tables.costs import attention as at


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
