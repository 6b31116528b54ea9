"""A draft of a description is exact, or it asks: what no run has told does not pass as known."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from growth_models import model, randomise, transformers

from weightwise.growth import GrowthRefused, compare, describe, grow

_SIZES = {"vocab_size": 19, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
          "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip


def made(name: str, **options: Any) -> Any:
    kind = getattr(transformers, f"{name}ForCausalLM")
    config = getattr(transformers, f"{name}Config")(**_SIZES, **options)
    found = kind(config).double().eval()
    randomise(found)
    return found


def test_a_last_norm_takes_the_heads_scale() -> None:
    small = made("StableLm", intermediate_size=20, num_key_value_heads=2, tie_word_embeddings=True)
    draft = describe(small)
    assert draft.startswith("# StableLmForCausalLM: exact on two layers with drawn parameters")
    assert re.search("^model.norm +norm  features  stream$", draft, re.MULTILINE)
    assert compare(small, grow(small, 3, description=draft), description=draft).worst <= 1e-12


@pytest.mark.parametrize(
    "kind", ["mT5", "GPT-2, tied", "Phi-3, tied", "Qwen3, tied", "OLMo2, tied"]
)
def test_what_is_known_is_found_again(kind: str) -> None:
    """mT5 has two last norms; how a weight is fused is told by trying."""
    draft = describe(model(kind, tie_word_embeddings=True))
    assert ": exact on two layers with drawn parameters, k = 2 (" in draft


def test_both_widths_of_an_encoder_and_a_decoder_grow() -> None:
    kind = transformers.MBartForConditionalGeneration
    small = kind(transformers.MBartConfig(
        vocab_size=19, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=20, decoder_ffn_dim=20,
        max_position_embeddings=24, decoder_start_token_id=0,
    )).double().eval()  # fmt: skip
    randomise(small)
    draft = describe(small)
    for sizes in ({"k": 2}, {"feed_forward": 33}):
        large = grow(small, description=draft, **sizes)
        assert compare(small, large, description=draft).worst <= 1e-12
        assert large.config.encoder_ffn_dim == large.config.decoder_ffn_dim > 20


@pytest.mark.canary
def test_while_one_line_is_unknown_what_only_a_run_can_tell_is_asked() -> None:
    falcon = made("Falcon", ffn_hidden_size=20, multi_query=False)
    draft = describe(falcon)
    asked = [line.split("  ") for line in draft.splitlines() if "?" in line]
    assert "no role is known for 2 of 10 lines, and the others are untried" in draft
    assert [line[0].rpartition(".")[2].strip() for line in asked] == [
        "rotary: halves ?", "query_key_value", "dense_h_to_4h", "dense_4h_to_h",
    ]  # fmt: skip
    known = draft.replace("?  (20, 16)", "linear  feed-forward  stream")
    known = known.replace("?  (16, 20)", "linear  stream  feed-forward")
    for left in ("rotary: halves ?", "query_key_value"):
        with pytest.raises(GrowthRefused, match=rf"description: got '.*{left}"[:-1]):
            grow(falcon, 2, description=known)
        known = known.replace("halves ?", "halves")
    known = "feed-forward: ffn_hidden_size\n" + known.replace(" ?", " of each head")
    large = grow(falcon, 2, description=known)
    assert compare(falcon, large, description=known).worst <= 1e-12
    assert large.config.ffn_hidden_size == 40


_FUSED = {"n_embd": 16, "n_head": 4, "n_layer": 1, "n_positions": 24, "vocab_size": 19}
_BERT = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 20, "vocab_size": 19,
         "num_hidden_layers": 2, "max_position_embeddings": 24}  # fmt: skip
_MIXED = {**_SIZES, "num_key_value_heads": 2, "intermediate_size": 20, "num_experts_per_tok": 2}
_BART = {"vocab_size": 19, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2,
         "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 20,
         "decoder_ffn_dim": 20, "max_position_embeddings": 24,
         "decoder_start_token_id": 0}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        ("BartForConditionalGeneration", {**_BART, "scale_embedding": True},
         "model.decoder.layers.-1.final_layer_norm norm features stream"),
        ("ElectraForMaskedLM", {**_BERT, "embedding_size": 6},
         "electra.embeddings_project linear stream embedding"),
        ("AlbertForMaskedLM", {**_BERT, "embedding_size": 6},
         "albert.encoder.embedding_hidden_mapping_in linear stream embedding"),
        ("CodeGenForCausalLM", {**_FUSED, "rotary_dim": 2},
         "transformer.h.#.attn.qkv_proj linear query, value, key of each quarter stream"),
        ("BioGptForCausalLM", _BERT, "biogpt.embed_tokens.weight embedding table"),
        ("Qwen2MoeForCausalLM",
         {**_MIXED, "num_experts": 3, "moe_intermediate_size": 12,
          "shared_expert_intermediate_size": 8},
         "model.layers.#.mlp.experts.gate_up_proj linear gate, up of an expert stream"),
    ],
)  # fmt: skip
def test_what_a_class_has_of_its_own_is_told(name: str, options: dict[str, Any], line: str) -> None:
    small = tiny(name, options)
    draft = describe(small)
    assert line in map(" ".join, map(str.split, draft.splitlines()))
    assert compare(small, grow(small, 3, description=draft), description=draft).worst <= 1e-12


def test_where_only_more_heads_are_exact_the_draft_says_so() -> None:
    small = tiny("GptOssForCausalLM", {**_MIXED, "num_local_experts": 3, "head_dim": 8})
    draft = describe(small)
    assert "k = 2 and heads = 2 times as many (" in draft and "rope_type" in draft
    assert re.search("experts.gate_up_proj +transposed  gate, up by turns  stream", draft)
    large = grow(small, 2, heads=4, description=draft)
    assert compare(small, large, description=draft).worst <= 1e-12


@pytest.mark.canary
def test_numbers_that_a_class_makes_of_its_width_are_refused_with_the_reason() -> None:
    small = tiny("XGLMForCausalLM", {"vocab_size": 19, "d_model": 16, "num_layers": 1,
                                     "attention_heads": 2, "ffn_dim": 20,
                                     "max_position_embeddings": 24})  # fmt: skip
    with pytest.raises(GrowthRefused, match=r"embed_positions\.weights: a buffer that the class"):
        grow(small, 2, description=describe(small))


@pytest.mark.parametrize(("name", "options"), [
    ("IBertForMaskedLM", {**_SIZES, "intermediate_size": 20, "pad_token_id": 0}),
    ("KimiLinearForCausalLM",
     {**_SIZES, "num_hidden_layers": 2, "intermediate_size": 20, "num_key_value_heads": 2,
      "pad_token_id": 0,
      "moe_intermediate_size": 8, "num_experts": 4, "num_experts_per_tok": 2, "head_dim": 8,
      "linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 8,
      "linear_value_head_dim": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4,
      "qk_nope_head_dim": 4, "v_head_dim": 8, "n_group": 1, "topk_group": 1}),
])  # fmt: skip
def test_a_norm_that_takes_more_or_says_more_is_drafted(name: str, options: dict[str, Any]) -> None:
    """I-BERT's gives back two things, Kimi's wants a gate."""
    torch.manual_seed(0)
    kind = getattr(transformers, name)
    assert ": no role is known for" in describe(kind(kind.config_class(**options)))


@pytest.mark.canary
def test_sizes_that_vary_from_layer_to_layer_are_refused_by_name() -> None:
    config = transformers.Gemma4TextConfig(
        **_SIZES | {"num_hidden_layers": 2}, intermediate_size=20, num_key_value_heads=1,
        head_dim=8, global_head_dim=16, layer_types=["sliding_attention", "full_attention"],
        vocab_size_per_layer_input=19, hidden_size_per_layer_input=0, num_kv_shared_layers=0,
    )  # fmt: skip
    with pytest.raises(GrowthRefused, match=r"model\.config: got head_dim.*, which vary from lay"):
        describe(transformers.Gemma4ForCausalLM(config))


def tiny(name: str, options: dict[str, Any]) -> Any:
    kind = getattr(transformers, name)
    config = kind.config_class(**{"bos_token_id": 1, "eos_token_id": 2, **options})
    config._experts_implementation = "eager"  # the others know no float64
    found = kind(config).double().eval()
    randomise(found)
    return found
