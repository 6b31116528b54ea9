"""The census of architectures: the installed library's defaults, and what a model really has."""

from __future__ import annotations

import warnings

import pytest
from torch import nn

from weightwise.architectures import census, is_tied

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="IProgress")
    transformers = pytest.importorskip("transformers")

SMALL = {
    "vocab_size": 16, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
    "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2,
}  # fmt: skip


@pytest.mark.slow
def test_well_known_defaults_and_years() -> None:
    by_name = {a.name: a for a in census()[0]}
    assert by_name["gpt2"].tied and by_name["gpt2"].decoder and by_name["gpt2"].year == 2018
    assert not by_name["llama"].tied and by_name["llama"].year > 2021
    assert by_name["t5"].tied and not by_name["t5"].decoder


def test_every_architecture_once_and_with_a_plausible_year() -> None:
    found, left_out = census()
    assert len({a.name for a in found}) == len(found) > 150
    assert left_out < 0.1 * len(found)
    assert all(2017 <= a.year <= 2030 for a in found)


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_is_asked_and_not_its_flag(tied: bool) -> None:
    config = transformers.LlamaConfig(**SMALL, intermediate_size=8, tie_word_embeddings=tied)
    model = transformers.LlamaForCausalLM(config)
    model.config.tie_word_embeddings = not tied
    assert is_tied(model) is tied


@pytest.mark.canary
def test_equal_values_are_no_tie() -> None:
    config = transformers.LlamaConfig(**SMALL, intermediate_size=8, tie_word_embeddings=True)
    model = transformers.LlamaForCausalLM(config)
    model.lm_head.weight = nn.Parameter(model.lm_head.weight.detach())
    assert not is_tied(model)


def test_a_model_without_a_head_is_refused() -> None:
    config = transformers.LlamaConfig(**SMALL, intermediate_size=8)
    with pytest.raises(ValueError, match=r"model: got LlamaModel; accepted: a model with"):
        is_tied(transformers.LlamaModel(config))
