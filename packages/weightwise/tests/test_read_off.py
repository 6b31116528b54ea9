"""What `initial_loss` reads off a model, and what it says that it does not read."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)  # fmt: skip

from weightwise import assert_initial_loss, initial_loss, mup_start


def llama(width: int) -> Any:
    torch.manual_seed(width)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=500, hidden_size=width, intermediate_size=2 * width, num_hidden_layers=2,
        num_attention_heads=width // 16, tie_word_embeddings=True,
    ))  # fmt: skip


def test_the_start_of_mup_is_read_where_the_loss_needs_it_and_noted_elsewhere() -> None:
    model = llama(128)
    mup_start(model, llama(32), model.model.norm)
    answer = initial_loss(model, measure=True)
    assert answer.measured is not None
    assert abs(answer.measured.loss / answer.loss - 1) < 5e-4  # 0.5 % off where it is not read
    assert any("the last norm's gain is 0.25, read off the model" in note for note in answer.notes)
    assert any("matrices are not as wide as the class starts them" in n for n in answer.notes)
    with pytest.raises(AssertionError, match="its configuration promises"):
        assert_initial_loss(model)


@pytest.mark.parametrize("kind", ["gpt2", "gemma2", "llama"])
def test_a_stock_model_has_no_note_and_a_gain_of_any_kind_is_read(kind: str) -> None:
    few = {"vocab_size": 500, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(0)
    model: Any = {
        "gpt2": lambda: GPT2LMHeadModel(GPT2Config(
            vocab_size=500, n_embd=64, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)),
        "gemma2": lambda: Gemma2ForCausalLM(Gemma2Config(
            **few, intermediate_size=128, head_dim=32, num_key_value_heads=2)),
        "llama": lambda: llama(64),
    }[kind]()  # fmt: skip
    stock = initial_loss(model)
    assert not any("read off" in note or "not read" in note for note in stock.notes)
    last = model.transformer.ln_f if kind == "gpt2" else model.model.norm
    with torch.no_grad():  # Gemma's gain is 1 + w
        one = float(kind == "gemma2")
        last.weight.copy_(1.5 * (last.weight + one) - one)
    other = initial_loss(model, measure=True)
    assert other.spread == pytest.approx(1.5 * stock.spread, rel=1e-3)
    assert other.measured is not None
    assert abs(other.measured.loss - other.loss) < 5 * other.error


def test_a_cap_that_is_read_is_not_noted_as_unread() -> None:
    given = {"model_type": "gemma2", "vocab_size": 500, "hidden_size": 64, "num_hidden_layers": 2,
             "intermediate_size": 96, "num_attention_heads": 4, "head_dim": 16}  # fmt: skip
    caps = {"final_logit_softcapping": 0.05, "attn_logit_softcapping": 50.0}
    capped, bare = initial_loss(given | caps), initial_loss(given | dict.fromkeys(caps))
    assert capped.loss < bare.loss - 1e-3
    for found in (capped, bare):
        assert not any("softcapping" in note for note in found.notes)
