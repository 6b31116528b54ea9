"""Bad input to the public functions of the laboratory: the error names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

from long_runs import factorised_lookup as lookup
from long_runs.laboratory.transformers import Shape
from verified_transformer import ZipfMarkov, book, generator, half_line_power, symbols
from verified_transformer.book import layers, tables
from verified_transformer.book.real_models import at_start, post_norm
from verified_transformer.book.tables.products import rows_of
from verified_transformer.book.tying import first_losses, identity_bodies, remedies
from verified_transformer.book.widening import layers as wide
from verified_transformer.book.widening import whole_models
from weightwise.growth import repeated

σ, n, d, k = symbols("sigma n d k")
x = sp.Symbol("x")
SLIDER = book.slider(σ, "standard deviation σ", 0, 1, start=0.5)
ONES, TURNS = torch.ones(1, 2, 4, dtype=torch.float64), [torch.neg]
LLAMA = {"vocab_size": 19, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 8}  # fmt: skip


def table_without_a_row() -> object:
    rows = whole_models.article_table()
    del rows["value"]
    return whole_models.by_table(book.tiny("bert"), 2, table=rows)


CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a generator for nothing": (lambda: generator(""), ValueError, "name: got ''; accepted"),
    "no panel": (lambda: book.figure("x", "y", panels=0), ValueError, "panels: got 0; accepted"),
    "a point without an error": (
        lambda: book.measured(None, [1, 2], [1, 2], [1], "drawn"), ValueError, "got 2, 2, 1 numb",
    ),
    "no builder": (lambda: book.on_meta(torch.nn), TypeError, "build: got module; accepted"),
    "no auto-class": (
        lambda: book.of_kind("gpt2", auto="ForNothing"), ValueError, "auto: got 'ForNothing'",
    ),
    "an unknown kind": (lambda: book.of_kind("gpt0"), ValueError, "gpt0"),
    "weights for a module": (
        lambda: book.randomised(torch.ones(2), "a name"), TypeError, "module: got Tensor; accepted",
    ),
    "a negative spread": (
        lambda: book.randomised(torch.nn.Linear(2, 2), "a name", scale=-1.0), ValueError,
        "scale: got -1.0; accepted",
    ),
    "a live figure of nothing": (
        lambda: book.live({}, x=SLIDER, y="loss", caption="", alt=""), ValueError, "accepted",
    ),
    "a stack without units": (
        lambda: book.stack(x, unit=x, state=sp.Function("h"), drawn={}, units=0), ValueError,
        "units: got 0; accepted",
    ),
    "an integral without end": (lambda: half_line_power(-1), ValueError, "s: got -1; accepted"),
    "a vocabulary of one": (
        lambda: first_losses.losses_by_turn(1, 8, [1.0], TURNS), ValueError, "n: got 1; accepted: 2"
    ),
    "a single draw": (
        lambda: first_losses.losses_by_turn(9, 8, [1.0], TURNS, 1), ValueError, "draws: got 1; acc",
    ),
    "another head": (
        lambda: remedies.two_gram_excess(64, 16, 0.25, "other"), ValueError, "head: got 'other'; ",
    ),
    "an untied model": (
        lambda: identity_bodies.without_weights("LlamaForCausalLM", **LLAMA), ValueError,
        "is not tied; accepted: a tied model",
    ),
    "weights without a shape": (lambda: layers.dense_weights("a"), ValueError, "shape: got none"),
    "another scheme": (
        lambda: layers.residual_states(ONES, [], "sandwich"), ValueError,
        "scheme: got 'sandwich'; accepted: plain, post, pre",
    ),
    "a factor too few": (
        lambda: layers.residual_states(ONES, [ONES] * 2, branch=torch.mul, factor=[1.0]),
        ValueError, "shorter",
    ),
    "no scale": (lambda: layers.gain(torch.relu, 0), ValueError, "scale: got 0; accepted"),
    "no keys": (lambda: layers.mean_of_largest(0), ValueError, "T: got 0; accepted: a positive"),
    "a layout without a coordinate": (
        lambda: wide.copied(torch.tensor([0, 0]), 2), ValueError, r"source: coordinates \[1\] have",
    ),
    "axes of another layer": (
        lambda: wide.widened(torch.nn.Linear(3, 2), repeated(3, 2), repeated(3, 2)), ValueError,
        "writes, reads: got sizes 3, 3; accepted: .* 2, 3",
    ),
    "a row that no table has": (
        lambda: whole_models.changed(whole_models.article_table(), "third"), ValueError,
        "row: got 'third'; accepted: embedding, norm",
    ),
    "a table without a row": (
        table_without_a_row, ValueError, "table: 0 rows for .*value.weight; accepted: one",
    ),
    "an array for vectors": (lambda: rows_of(torch.ones(3)), ValueError, "x: got shape"),
    "a list of no vectors": (lambda: rows_of([]), ValueError, "x: got no vectors"),
    "an array of no vectors": (lambda: rows_of(torch.ones(0, 2)), ValueError, "x: got no vec"),
    "lengths of another vector": (
        lambda: tables.is_product([1, 2, 3, 4, 5, 6], (2, 2)), ValueError, "lengths: got",
    ),
    "a vector of no square": (
        lambda: tables.share_of_best_pair(torch.ones(1, 3)), ValueError, "vectors: got length 3",
    ),
    "vectors of no length": (
        lambda: tables.whole_vectors(0, 3), ValueError, "length, number: got 0, 3; accepted",
    ),
    "languages of two sizes": (
        lambda: tables.trained_tables([ZipfMarkov(8), ZipfMarkov(9)], (2, 2), steps=1), ValueError,
        r"languages: got \[8, 9\] tokens",
    ),
    "a broken length": (
        lambda: tables.at_sizes(max, n, d / k)({n: 7, d: 13, k: 4}), ValueError, "point: gives the",
    ),
    "no norms": (
        lambda: post_norm.observed([], torch.neg, ONES), ValueError,
        "got 0 norms, requires_grad=False; accepted:",
    ),
    "another class's attention": (
        lambda: at_start.one_layer("ViTModel", "none"), ValueError, "kind: got 'ViTModel'; accept",
    ),
    "no tiny model": (lambda: book.tiny("bart"), ValueError, "kind: got 'bart'; accepted: bert"),
    "no released model": (
        lambda: book.released("GPT-5"), ValueError, "name: got 'GPT-5'; accepted: BERT base",
    ),
    "no family": (lambda: book.family("OPT"), ValueError, "name: got 'OPT'; accepted: BERT"),
    "an unknown way to look up": (
        lambda: lookup.module("fast", lookup.Setting()), ValueError, "way: got 'fast'; accepted",
    ),
    "a scheme of no laboratory": (
        lambda: Shape(2, 8, 4, 5, 4, "other"), ValueError, "scheme: got 'other'; accepted: post, p"
    ),
    "a rate below zero": (
        lambda: book.train([torch.ones(1)], torch.sum, steps=1, rate=-1), ValueError,
        "Invalid learning rate: -1",
    ),
    "too many outcomes": (lambda: book.outcomes(21), ValueError, r"shapes: 2\*\*21 outcomes; acc"),
    "a relative error of other shapes": (
        lambda: book.relative_error(torch.ones(2), torch.ones(3)), ValueError,
        r"found: got shape \(2,\); accepted: wanted's, \(3,\)",
    ),
    "a largest error beside zeros": (
        lambda: book.largest_error(torch.ones(2), torch.zeros(2)), ValueError, "wanted: got zeros",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named(name: str) -> None:
    call, error, says = CASES[name]
    with pytest.raises(error, match=says):
        call()
