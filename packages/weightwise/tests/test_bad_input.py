"""Bad input to the public functions of the models wing: the error names the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import weightwise as models
from weightwise.first_loss import (
    Feedforward,
    Norm,
    Stack,
    first_loss,
    frozen_loss,
    regime,
)
from weightwise.growth import grow_along

EMBEDDING = nn.Embedding(5, 4)
TABLE, STATES = torch.ones(5, 3), torch.ones(2, 3)
SIZES = {"vocab_size": 99, "n_embd": 8, "n_layer": 1, "n_head": 1, "initializer_rnage": 0.1}


def small() -> Any:
    """A GPT-2 of 32 positions."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"vocab_size": 1000, "n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 32}
    return GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))


def asked(**batch: Any) -> Any:
    return models.diagnose(small(), {"input_ids": torch.zeros(2, 9, dtype=torch.long)} | batch)


def sgd(large: Any) -> Any:
    model = small()
    return models.grow_optimiser(torch.optim.SGD(model.parameters(), lr=0.1), model, large)


def factorised() -> Any:
    return models.set_table(small(), models.LowRankEmbedding(1000, 32, 2))


CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no embedding": (lambda: models.TiedHead(None), TypeError, "embedding: got NoneType; acc"),
    "no tokens": (lambda: models.UntiedHead(0, 4, σ=1.0), ValueError, "n, d, σ: got 0, 4"),
    "a negative σ": (lambda: models.UntiedHead(3, 4, σ=-1.0), ValueError, "n, d, σ: got 3, 4, -1"),
    "half a token": (lambda: models.UntiedHead(3.5, 4, σ=1.0), TypeError, "n: got 3.5; accepted"),
    "an order in floats": (
        lambda: models.ShuffledHead(EMBEDDING, torch.arange(4.0)), TypeError, "order: got torch.fl",
    ),
    "an order in a list": (
        lambda: models.ShuffledHead(EMBEDDING, [0, 1, 2, 3]), TypeError, "order: got list",
    ),
    "a tie in words": (
        lambda: models.expected_first_loss(5, 4, σ=1.0, tied="no"), TypeError, "tied: got 'no'",
    ),
    "one token": (lambda: frozen_loss(1, 5.0), ValueError, "n, spread: got 1, 5.0; accepted: n >="),
    "no start": (lambda: regime(None), TypeError, "start: got NoneType; accepted: a Gaussian"),
    "another norm": (lambda: Norm("batch", 0.0), ValueError, "kind: got 'batch'; accepted: 'rms'"),
    "another activation": (
        lambda: Feedforward(4, 0.1, 0.1, "mish"), ValueError, "activation: got 'mish'; accepted: ",
    ),
    "a branch for a layer": (
        lambda: Stack((Feedforward(4, 0.1, 0.1, "gelu"),), "pre", Norm("rms", 0.0)), TypeError,
        "layers: got Feedforward; accepted: a tuple",
    ),
    "no stack": (lambda: models.Body("b", 5, 4, 0.1, None), TypeError, "stack: got NoneType"),
    "an untied head of a negative size": (
        lambda: models.Body(
            "b", 5, 4, 0.1, Stack((), "pre", Norm("rms", 0.0)), tied=False, head=-0.1
        ),
        ValueError, "head: got -0.1; accepted: a deviation, 0 of one of zeros",
    ),
    "a law in a list": (
        lambda: first_loss(STATES, TABLE, label_law=[0.2] * 5), TypeError, "label_law: got list",
    ),
    "half in words": (lambda: models.half_swap("4"), TypeError, "d: got '4'; accepted: a whole"),
    "groups in floats": (lambda: models.channel_shuffle(6, 2.0), TypeError, "groups: got 2.0"),
    "another width": (
        lambda: models.TiedHead(EMBEDDING)(STATES), ValueError, r"hidden: got shape \(2, 3\); acc",
    ),
    "whole states": (lambda: models.normalised(torch.arange(3)), TypeError, "hidden: got torch.in"),
    "a negative ε": (lambda: models.normalised(STATES, ε=-1.0), ValueError, "hidden, ε: got shape"),
    "no axis": (lambda: models.normalised(torch.tensor(1.0)), ValueError, "hidden, ε: got shape"),
    "rows of floats": (
        lambda: models.DrawnVocabulary(5, 3, σ=1.0, seed=0).at(torch.tensor([1.0])),
        TypeError, "tokens: got torch.float32",
    ),
    "a vocabulary of one axis": (
        lambda: first_loss(STATES, torch.zeros(5)), ValueError, r"vocabulary: got \(5,\)",
    ),
    "two dtypes": (
        lambda: first_loss(STATES, TABLE.double()), TypeError, "vocabulary: got torch.float64",
    ),
    "whole features": (lambda: first_loss(STATES.long(), TABLE), TypeError, "features: got torch"),
    "own in floats": (
        lambda: first_loss(STATES, TABLE, own=torch.zeros(2)), TypeError, "own: got torch.float32",
    ),
    "tokens in floats": (
        lambda: models.two_gram_loss(TABLE, torch.zeros(2)), TypeError, "tokens: got torch.float32",
    ),
    "a token outside": (
        lambda: models.two_gram_loss(TABLE, torch.tensor([9])), ValueError, "tokens: .* 0 to 4",
    ),
    "a vocabulary of one": (
        lambda: models.expected_first_loss(1, 3, σ=0.5), ValueError, "n, d, σ: got 1, 3, 0.5; acc",
    ),
    "half a width": (
        lambda: models.expected_first_loss(5, 2.5, σ=0.1), TypeError, "d: got 2.5; accepted",
    ),
    "a scale in words": (
        lambda: models.TiedHead(EMBEDDING, scale="a"), TypeError, "scale: got 'a'; accepted: a num",
    ),
    "a σ in words": (lambda: models.UntiedHead(3, 4, σ="a"), TypeError, "σ: got 'a'; accepted: a"),
    "a table's σ in words": (
        lambda: models.LowRankEmbedding(5, 4, 2, σ="a"), TypeError, "σ: got 'a'; accepted: a",
    ),
    "one length for several": (
        lambda: models.TensorProductEmbedding(5, 4), TypeError, "sizes: got 4; accepted: several",
    ),
    "a table of whole numbers": (
        lambda: models.LowRankEmbedding(5, 4, 2, dtype=torch.int32), ValueError, "dtype: got torch",
    ),
    "a rate below zero": (
        lambda: models.mup_groups(small(), small(), lr=-1.0), ValueError, "lr: got -1.0; accepted",
    ),
    "a rate in words": (
        lambda: models.mup_groups(small(), small(), lr="a"), TypeError, "lr: got 'a'; accepted: a",
    ),
    "a table without numbers": (
        lambda: models.set_table(small(), models.LowRankEmbedding(1000, 32, 2, device="meta")),
        ValueError, "table: got one on the meta device; accepted",
    ),
    "a weight without numbers": (
        lambda: models.LowRankEmbedding.from_dense(torch.empty(5, 4, device="meta"), 2), ValueError,
        "weight: got one on the meta device; accepted",
    ),
    "no experts": (lambda: models.upcycle(small(), 0), ValueError, "experts: got 0; accepted: a p"),
    "a state for a configuration": (
        lambda: models.initial_loss(small().state_dict()), ValueError, "got no model_type; accept",
    ),
    "a width that makes no heads": (
        lambda: models.initial_loss({**small().config.to_dict(), "n_embd": 33}), ValueError,
        "got a width of 33 and .* heads; accepted",
    ),
    "an ε in words": (lambda: models.normalised(STATES, ε="a"), TypeError, "ε: got 'a'; accepted"),
    "noise without end": (
        lambda: models.grow(small(), 2, noise=math.inf), ValueError, "noise: got inf; accepted: a",
    ),
    "a generator by its seed": (
        lambda: models.grow(small(), 2, generator=3), TypeError, "generator: got int; accepted: a",
    ),
    "no factor": (lambda: grow_along(small(), None), TypeError, "k: got None; accepted: an integ"),
    "growth by one": (lambda: models.grow(small(), 1), ValueError, "k: got 1; accepted: an integ"),
    "growth by a float": (lambda: models.grow(small(), 2.0), TypeError, "k: got 2.0; accepted: a"),
    "growth by a truth": (lambda: models.grow(small(), True), TypeError, "k: got True; accepted"),
    "negative noise": (
        lambda: grow_along(small(), 2, noise=-1), ValueError, "noise: got -1; accepted: a finite",
    ),
    "an axis in numbers": (
        lambda: grow_along(small(), 2, {"stream": 2}), TypeError, r"axes\['stream'\]: got int; acc",
    ),
    "a class for a model": (
        lambda: sgd(nn.Linear), models.GrowthRefused, "large: got type; accepted: GPT2LMHeadModel",
    ),
    "no small model": (
        lambda: models.grow_optimiser(torch.optim.SGD([STATES], lr=0.1), None, small()),
        models.GrowthRefused, "model: got .*NoneType; accepted",
    ),
    "labels that never count": (
        lambda: asked(labels=torch.full((2, 9), -100)), ValueError, "batch: got labels that are",
    ),
    "labels of another shape": (
        lambda: asked(labels=torch.zeros(2, 3).long()), ValueError, r"batch: got labels of sh",
    ),
    "tokens beyond the vocabulary": (
        lambda: asked(input_ids=torch.full((2, 9), 1000)), ValueError, "batch: .* accepted: 0 to",
    ),
    "tokens beyond the positions": (
        lambda: asked(input_ids=torch.zeros(2, 40).long()), ValueError, "batch: got texts of 40",
    ),
    "a batch in floats": (
        lambda: asked(input_ids=torch.zeros(2, 9)), TypeError, r"batch\['input_ids'\]: got tor",
    ),
    "measured beyond the positions": (
        lambda: models.initial_loss(small(), measure=True), ValueError,
        r"length: got 128; accepted: 1 to 32",
    ),
    "a model without numbers": (
        lambda: models.assert_initial_loss(small().to("meta")), ValueError, "model: got one on",
    ),
    "a diagnosis of factors": (
        lambda: models.diagnose(factorised()), ValueError, "model: got Factorised.* no weight; acc",
    ),
    "growth in words": (lambda: models.grow("x", 2), models.GrowthRefused, "model: got"),
    "half a product": (lambda: models.balanced_factors(4.5, 2), TypeError, "number: got 4.5"),
    "half a cover": (lambda: models.covering_factors(4, 2.0), TypeError, "k: got 2.0"),
    "an option that no table has": (
        lambda: models.factorised_table("low rank", 5, 4, 2, factor=3), TypeError,
        "factorised_table: got factor=; accepted: factors, padding_idx",
    ),
    "a misspelt setting": (
        lambda: models.initial_loss({"model_type": "gpt2", **SIZES}), ValueError,
        "got initializer_rnage; accepted: initializer_range",
    ),
    "an optimiser without gradients": (
        lambda: models.diagnose(small(), optimiser=torch.optim.SGD([STATES], 0.1), backward=False),
        ValueError, "backward: got False with an optimiser; accepted: True",
    ),
    "an optimiser that is none": (
        lambda: models.diagnose(small(), optimiser=3), TypeError, "optimiser: got int; accepted",
    ),
    "a number for a model": (lambda: models.body_of(3), TypeError, "model_or_config: got int; acc"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named(name: str) -> None:
    call, error, says = CASES[name]
    with pytest.raises(error, match=says):
        call()


def test_settings_that_nobody_reads_are_named() -> None:
    sizes = {"vocab_size": 99, "n_embd": 8, "n_layer": 1, "n_head": 1}
    answer = models.initial_loss({"model_type": "gpt2", **sizes, "activation": "relu"})
    assert answer.notes == ("not read of the settings: activation",)


def test_a_model_of_few_positions_is_held_to_its_configuration() -> None:
    from transformers import RobertaConfig, RobertaForMaskedLM

    answer = models.assert_initial_loss(small(), within=0.01)
    assert answer.length == 32
    sizes = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    places = {"intermediate_size": 128, "max_position_embeddings": 66, "vocab_size": 2000}
    roberta = RobertaForMaskedLM(RobertaConfig(**sizes, **places))
    answer = models.assert_initial_loss(roberta, within=0.01)  # places begin after the padding's
    assert answer.length == 64 and models.diagnose(roberta, length=128).fits
