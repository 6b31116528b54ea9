"""A model in a wrapper is taken out, or the answer says how; ways of a class are not its faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from growth_models import model
from transformers import (
    AutoConfig,
    JambaConfig,
    JambaForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    Qwen2MoeConfig,
    Qwen2MoeForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from weightwise import (
    audit_init,
    diagnose,
    draft_body,
    grow,
    initial_loss,
    loss_causes,
    widen_checkpoint,
)
from weightwise.growth import GrowthFailed, verify

SIZES = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2}  # fmt: skip
ASKED: dict[str, Callable[[Any], Any]] = {
    "audit_init": audit_init, "diagnose": diagnose, "draft_body": draft_body,
    "initial_loss": initial_loss,
}  # fmt: skip
REFUSED = ASKED | {"loss_causes": loss_causes}


class OptimizedModule(torch.nn.Module):
    """torch.compile's wrapper has this name, and this one for what it holds."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self._orig_mod = inner


class FullyShardedDataParallel(torch.nn.Module):
    """Of torch, which needs several processes."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self._fsdp_wrapped_module = inner


class PeftModel(torch.nn.Module):
    """As peft's, which hands on to the model inside what it does not have."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.base_model = inner

    def merge_and_unload(self) -> Any:
        return self.base_model


def fresh() -> Any:
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**SIZES))


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("wrapper", [OptimizedModule, torch.nn.DataParallel])
def test_what_a_wrapper_holds_is_asked(name: str, wrapper: Any) -> None:
    inner = fresh()
    assert str(ASKED[name](wrapper(inner))) == str(ASKED[name](inner))


@pytest.mark.canary
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize(("wrapper", "said"), [
    (FullyShardedDataParallel, "the model before it was sharded"),
    (PeftModel, r"model\.merge_and_unload\(\)"),
])  # fmt: skip
def test_a_wrapper_that_changes_numbers_is_refused_by_name(
    name: str, wrapper: Any, said: str
) -> None:
    with pytest.raises(TypeError, match=rf"got a {wrapper.__name__} around a model; .*{said}"):
        REFUSED[name](wrapper(model("Llama, untied")))
    with pytest.raises(ValueError, match=rf"got a {wrapper.__name__} around a model; .*{said}"):
        grow(wrapper(model("Llama, untied")), 2)


@pytest.mark.canary
def test_a_shard_that_was_cut_off_is_named(tmp_path: Path) -> None:
    model("Llama, untied").save_pretrained(tmp_path / "small", max_shard_size="4KB")
    shard = sorted((tmp_path / "small").glob("*.safetensors"))[1]
    shard.write_bytes(shard.read_bytes()[:-9])
    with pytest.raises(ValueError, match=rf"got {shard.name} of \d+ bytes, which does not open"):
        widen_checkpoint(tmp_path / "small", tmp_path / "wide", 2)


@pytest.mark.canary
@pytest.mark.parametrize(("kind", "config", "more", "said"), [
    (MixtralForCausalLM, MixtralConfig, {"num_local_experts": 4}, "layer 0 with matrices of att"),
    (Qwen2MoeForCausalLM, Qwen2MoeConfig,
     {"num_experts": 4, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32},
     "a branch that ends in mlp.shared_expert_gate, of another width"),
    (JambaForCausalLM, JambaConfig,
     {"num_experts": 1, "mamba_d_state": 8, "mamba_dt_rank": 4, "use_mamba_kernels": False,
      "attn_layer_period": 2, "attn_layer_offset": 1}, "layer 0 with matrices of feed-forward"),
])  # fmt: skip
def test_a_draft_that_is_refused_says_why_and_not_how_it_was_run(
    kind: Any, config: Any, more: dict[str, Any], said: str
) -> None:
    """Experts by grouped products take no float64, a cache of two kinds no length."""
    with pytest.raises(ValueError, match=said):
        draft_body(kind(config(**SIZES | more)))


def test_a_file_of_t5_that_contradicts_itself_is_read_as_the_class_reads_it(
    tmp_path: Path,
) -> None:
    sizes = {"vocab_size": 500, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
             "num_heads": 4, "decoder_start_token_id": 0}  # fmt: skip
    config = T5Config(**sizes)
    config.save_pretrained(tmp_path)
    usual = initial_loss(config)
    path = tmp_path / "config.json"
    text = path.read_text(encoding="utf-8")
    assert text.count('"feed_forward_proj": "relu"') == 1
    path.write_text(text.replace('proj": "relu"', 'proj": "gated-gelu"'), encoding="utf-8")
    torch.manual_seed(0)
    built = T5ForConditionalGeneration(AutoConfig.from_pretrained(tmp_path))
    assert type(built.encoder.block[0].layer[1].DenseReluDense).__name__ == "T5DenseActDense"
    for found in (initial_loss(tmp_path), initial_loss(built)):
        assert found.loss == usual.loss
        assert any("feed_forward_proj = 'gated-gelu' is not what" in note for note in found.notes)
    assert not any("feed_forward_proj" in note for note in usual.notes)
    assert initial_loss(T5Config(**sizes, feed_forward_proj="gated-gelu")).loss != usual.loss


def test_attention_that_is_nearly_one_hot_is_held_against_its_own_rounding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At a factor of 4 T5's logits of attention deviate by ten and more."""
    torch.manual_seed(1)
    small = T5ForConditionalGeneration(T5Config(
        vocab_size=300, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4,
        decoder_start_token_id=0, initializer_factor=4.0,
    )).eval()  # fmt: skip
    assert grow(small, 2).config.d_model == 128
    monkeypatch.setattr(verify, "_of_one_rounding", lambda _: 0.0)
    with pytest.raises(GrowthFailed, match="accepted 1e-12"):
        grow(small, 2)
