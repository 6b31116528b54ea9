"""What stands outside of the layers is read, what nothing reads listed; routers have to learn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from weightwise import diagnose

SIZES = {"vocab_size": 500, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4}  # fmt: skip
Spoil = Callable[[torch.Tensor], Any]


def made(name: str, **more: Any) -> Any:
    torch.manual_seed(0)
    if name == "t5":
        return T5ForConditionalGeneration(T5Config(
            vocab_size=500, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4,
            decoder_start_token_id=0, **more,
        ))  # fmt: skip
    if name == "gpt2":
        return GPT2LMHeadModel(GPT2Config(
            vocab_size=500, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
        ))  # fmt: skip
    kind, config = {"bert": (BertForMaskedLM, BertConfig), "llama": (LlamaForCausalLM, LlamaConfig)
                    }[name]  # fmt: skip
    return kind(config(**SIZES | more))


FAULTS: dict[str, tuple[str, str, Spoil, str]] = {
    "relative positions at 0": (
        "t5", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        torch.Tensor.zero_, "deviation of an entry",
    ),
    "relative positions three times as wide": (
        "t5", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        lambda w: w.mul_(3), "deviation of an entry",
    ),
    "token types at 0": (
        "bert", "bert.embeddings.token_type_embeddings.weight", torch.Tensor.zero_,
        "deviation of an entry",
    ),
    "positions at 0.03": (
        "gpt2", "transformer.wpe.weight", lambda w: w.mul_(1.5), "deviation of an entry",
    ),
    "a bias before the head": (
        "bert", "cls.predictions.transform.dense.bias", lambda b: b.normal_(0, 0.3),
        "size of the bias",
    ),
    "a shift of the head's norm": (
        "bert", "cls.predictions.transform.LayerNorm.bias", lambda b: b.normal_(0, 0.3),
        "second moment behind the norm",
    ),
    "a shift of the last norm": (
        "gpt2", "transformer.ln_f.bias", lambda b: b.normal_(0, 0.3),
        "second moment behind the norm",
    ),
    "a gain of the last norm": (
        "llama", "model.norm.weight", lambda w: w.fill_(1.02), "second moment behind the norm",
    ),
    "a gain of the encoder's last norm": (
        "t5", "encoder.final_layer_norm.weight", lambda w: w.fill_(0.9),
        "second moment behind the norm",
    ),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_outside_of_the_layers_is_seen_where_it_is(fault: str) -> None:
    kind, name, spoil, what = FAULTS[fault]
    model = made(kind)
    diagnose(model, backward=False).check()
    with torch.no_grad():
        spoil(model.get_parameter(name))
    wrong = diagnose(model, backward=False).wrong
    assert (name.rpartition(".")[0], what) in {(each.place, each.what) for each in wrong}


def test_what_nothing_reads_is_listed() -> None:
    torch.manual_seed(0)
    model = MixtralForCausalLM(MixtralConfig(
        **SIZES, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2
    ))  # fmt: skip
    every = dict(model.named_parameters())
    (note,) = [each for each in diagnose(model).notes if "audit_init" in each]
    assert note.startswith(f"{len(every) - 2} of {len(every)} parameters, as model.layers.0.")
    assert not any("audit_init" in each for each in diagnose(made("gpt2")).notes)
    (note,) = [each for each in diagnose(made("bert")).notes if "audit_init" in each]
    assert "1 of 42 parameters, as cls.predictions.transform.dense.weight" in note


def test_flat_attention_is_said_where_a_factor_on_its_logits_does_not_show() -> None:
    model = made("llama")
    for layer in model.model.layers:
        layer.self_attn.scaling = 1.0  # 1/√16 is lost
    found = diagnose(model)
    assert found.fits and any(each.startswith("attention is flat") for each in found.notes)
    model = made("llama", initializer_range=0.12)
    assert not any("flat" in each for each in diagnose(model).notes)
    for layer in model.model.layers:
        layer.self_attn.scaling = 1.0
    assert not diagnose(model).fits


@pytest.mark.canary
@pytest.mark.parametrize("kind", ["mixtral", "qwen3_moe"])
def test_a_router_of_one_expert_whose_share_is_made_one_does_not_learn(kind: str) -> None:
    def router(**more: Any) -> list[float]:
        torch.manual_seed(0)
        config, sizes = MixtralConfig, {**SIZES, "num_key_value_heads": 2, "num_local_experts": 4}
        if kind == "qwen3_moe":
            config, sizes = Qwen3MoeConfig, {**SIZES, "num_key_value_heads": 2, "num_experts": 4,
                                             "moe_intermediate_size": 32}  # fmt: skip
            more = {"norm_topk_prob": True} | more
        model = (Qwen3MoeForCausalLM if kind == "qwen3_moe" else MixtralForCausalLM)(
            config(**sizes, **more)
        )
        found = diagnose(model)
        assert found.fits == all(each.measured for each in found.readings
                                 if each.what == "learns from this loss")  # fmt: skip
        return [each.measured for each in found.readings if each.what == "learns from this loss"]

    assert router(num_experts_per_tok=1) == [0, 0]
    assert router(num_experts_per_tok=2) == [1, 1]
    assert router(num_experts_per_tok=1, output_router_logits=True) == [1, 1]
    if kind == "qwen3_moe":
        assert router(num_experts_per_tok=1, norm_topk_prob=False) == [1, 1]


@pytest.mark.parametrize("tied", [True, False])
def test_rows_that_were_added_are_no_fault(tied: bool) -> None:
    transformers.logging.set_verbosity_error()
    model = made("llama", tie_word_embeddings=tied)
    model.resize_token_embeddings(510)
    diagnose(model).check()
    assert math.isclose(diagnose(model).readings[0].predicted, 0.0004, rel_tol=1e-6)
