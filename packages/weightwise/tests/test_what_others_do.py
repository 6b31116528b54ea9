"""What libraries do to a tie or a start, as their present versions do it, and what ours says to it.

peft and accelerate are tried where they are installed (`pip install peft==0.21.2`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    LlamaConfig,
    LlamaForCausalLM,
)

from weightwise import audit_init, diagnose, grow, initial_loss, is_tied
from weightwise.growth import compare

pytestmark = pytest.mark.filterwarnings("ignore")  # which change with their versions
SIZES = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2}  # fmt: skip
TOKENS = torch.arange(40).view(2, 20)


def llama(**more: Any) -> Any:
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**SIZES | more)).eval()


@torch.no_grad()
def apart(one: torch.Tensor, other: torch.Tensor) -> float:
    """The size of a difference, as a share of what it was."""
    return float((other - one).norm() / one.norm())


def test_rows_that_transformers_adds_are_next_to_one_and_the_same_vector() -> None:
    """They are the mean of the old rows, which is small, and hardly more."""
    transformers.logging.set_verbosity_error()
    model = llama()
    model.resize_token_embeddings(310)
    rows = model.model.embed_tokens.weight.detach()
    new, old = rows[300:], rows[:300]
    assert apart(new[:1].expand_as(new), new) < 0.01
    assert new.norm() / 10**0.5 < 0.1 * old.norm() / 300**0.5
    found = diagnose(model)
    assert found.fits and "10 rows of the table are much smaller" in str(found)
    assert initial_loss(model).log_n > initial_loss(llama()).log_n


def test_an_encoder_decoder_untied_by_its_flag_loses_both_look_ups_in_a_file(
    tmp_path: Path,
) -> None:
    """With the flag as it is, the file gives the model back: it finds a head of its own."""
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    sizes = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": 100}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    model = BartForConditionalGeneration(BartConfig(**sizes, **heads)).eval()
    head, table = model.get_output_embeddings(), model.get_input_embeddings()
    head.weight = torch.nn.Parameter(2 * table.weight.detach())
    for flag, as_it_was in ((True, True), (False, False)):
        model.config.tie_word_embeddings = flag
        model.save_pretrained(tmp_path)
        loaded = type(model).from_pretrained(tmp_path).eval()
        found = loaded(TOKENS).logits
        assert (apart(model(TOKENS).logits, found) < 1e-6) == as_it_was
        assert (loaded.model.encoder.embed_tokens.weight is loaded.model.shared.weight) == flag


def test_a_cast_rounds_rotary_frequencies_and_a_dtype_does_not() -> None:
    made = llama(max_position_embeddings=4096)
    config, exact = made.config, made.model.rotary_emb.inv_freq.clone()
    asked = LlamaForCausalLM._from_config(config, dtype=torch.bfloat16)
    assert torch.equal(asked.model.rotary_emb.inv_freq, exact)
    cast = made.to(torch.bfloat16)
    off = 4095 * (cast.model.rotary_emb.inv_freq.double() - exact.double()).abs().max()
    assert off > 0.5  # radians, at the last place
    large = grow(cast, 2, heads=8)  # which turns as the small one does
    assert compare(cast, large).clean <= 1e-12


def test_of_a_size_under_two_names_one_wins_in_either_order() -> None:
    for told in ({"n_embd": 64, "hidden_size": 32}, {"hidden_size": 32, "n_embd": 64}):
        config = GPT2Config(**told, n_head=2, n_layer=1, vocab_size=300, bos_token_id=0,
                            eos_token_id=0)  # fmt: skip
        assert config.n_embd == config.hidden_size == 32
        assert initial_loss(config).spread == pytest.approx(0.02 * 32**0.5, rel=0.05)


def test_a_tied_row_of_padding_starts_at_zero_and_is_read() -> None:
    model = llama(pad_token_id=0, tie_word_embeddings=True)
    assert not model.lm_head.weight[0].any()
    assert audit_init(model).disagree == ()
    found = initial_loss(model, measure=True)
    assert found.measured is not None
    assert abs(found.loss - found.measured.loss) < 4 * (found.error + found.measured.error)


def test_a_model_without_memory_loses_its_tie_until_it_is_tied() -> None:
    accelerate = pytest.importorskip("accelerate")
    with accelerate.init_empty_weights():
        model = LlamaForCausalLM(LlamaConfig(**SIZES, tie_word_embeddings=True))
    assert not is_tied(model)
    model.tie_weights()
    assert is_tied(model)


@pytest.mark.parametrize("start", ["pissa", "olora"])
def test_an_adapter_of_a_tied_head_that_starts_from_its_weight_moves_the_start(start: str) -> None:
    peft = pytest.importorskip("peft")
    made = {}
    for kind in (True, start):
        model = llama(tie_word_embeddings=True)
        before = model(TOKENS).logits
        config = peft.LoraConfig(r=8, target_modules=["lm_head"], init_lora_weights=kind)
        made[kind] = apart(before, peft.get_peft_model(model, config)(TOKENS).logits)
    assert made[True] == 0 and made[start] > 0.2


@pytest.mark.parametrize("ensure", [False, True])
def test_merging_an_adapter_of_a_tied_table_moves_the_head(ensure: bool, tmp_path: Path) -> None:
    """Without ``ensure_weight_tying`` the head gets what it had not; with it, twice what it had."""
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(r=8, target_modules=["embed_tokens"], ensure_weight_tying=ensure)
    model = peft.get_peft_model(llama(tie_word_embeddings=True), config).eval()
    for name, own in model.named_parameters():
        if "lora_embedding" in name:
            torch.nn.init.normal_(own, std=0.05)
    before = model(TOKENS).logits
    with pytest.raises(ValueError, match=r"got a PeftModel around a model; accepted: .*merge_and"):
        grow(model, 2)
    merged = model.merge_and_unload()
    assert is_tied(merged) and apart(before, merged(TOKENS).logits) > 0.1
