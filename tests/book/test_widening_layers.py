"""Layers, blocks and layouts of chapter 4: exact where they should be, wrong where not."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from verified_transformer import symbols
from verified_transformer.book import largest_error
from verified_transformer.book.layers import standard_normal as normal
from verified_transformer.book.widening.layers import (
    EQ_6,
    by_ceiling,
    copied,
    each_coordinate,
    each_pair,
    entropy,
    grown_layer,
    layer,
    layer_pair,
    repeated_along,
    tiled,
    tiled_in_heads,
    widened,
)
from verified_transformer.models.growth import heads, repeated

d, n, k, t, σ, τ, α = symbols("d n k t sigma tau alpha")


def test_layouts_say_which_coordinate_is_copied() -> None:
    assert tiled(2, 2, 2).source.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert tiled_in_heads(2, 2, 2).source.tolist() == [0, 1, 0, 1, 2, 3, 2, 3]


def test_an_axis_must_copy_every_coordinate() -> None:
    with pytest.raises(ValueError, match=r"source: coordinates \[1\] have no copy"):
        copied(torch.tensor([0, 0]), 2)


def test_the_printed_index_is_repeat_interleave() -> None:
    value = normal("entries", 2, 3, 4)
    for axes in (1, 2):
        assert torch.equal(by_ceiling(value, 3, axes=axes), repeated_along(value, 3, axes=axes))
    assert not torch.equal(by_ceiling(value, 2), value.tile(2))


def test_a_widened_layer_promises_what_the_rule_does() -> None:
    small, x = nn.Linear(3, 2).double(), normal("inputs", 5, 3)
    writes, reads = heads(1, 2, 3, scale=0.3), repeated(3, 2, scale=1.7)
    wanted = writes.write(small(x), -1)
    assert largest_error(widened(small, writes, reads)(reads.write(x, -1)), wanted) < 1e-12
    wrong = widened(small, writes, reads, bias=2.0)(reads.write(x, -1))
    assert largest_error(wrong, wanted) > 1e-2
    assert widened(nn.Linear(3, 2, bias=False), writes, reads).bias is None


def test_a_layer_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"writes, reads: got sizes 3, 3; accepted: .* 2, 3"):
        widened(nn.Linear(3, 2), repeated(3, 2), repeated(3, 2))


def test_eq_6_divides_the_output_and_its_bias_counts() -> None:
    x, w, b = normal("x", 4, 3), normal("w", 4, 3, 2), normal("b", 4, 2)
    wanted = repeated_along(layer(x, w, b), 2) / 2**0.5
    assert largest_error(grown_layer(x, w, b, 2, EQ_6), wanted) < 1e-12
    assert largest_error(grown_layer(x, w, b, 2, EQ_6._replace(bias=0)), wanted) > 1e-2
    found, repeated_outputs = layer_pair("a pair", 3, EQ_6)
    assert largest_error(found, repeated_outputs / 3**0.5) < 1e-12


def test_counts_of_values() -> None:
    value = torch.arange(1.0, 7.0).view(2, 3)
    assert entropy(value) == pytest.approx(math.log(6))
    assert entropy(repeated_along(value, 2, axes=2)) == pytest.approx(math.log(6))


def test_eq_15_copies_pairs_and_eq_2_coordinates() -> None:
    assert each_pair(1, 4, 2, "interleaved").source.tolist() == [0, 1, 0, 1, 2, 3, 2, 3]
    assert each_coordinate(1, 4, 2, "interleaved").source.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
