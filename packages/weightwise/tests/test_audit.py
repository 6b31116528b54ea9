"""`audit_init`: what is asked and what is drawn, row by row."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from weightwise import audit_init
from weightwise.audit import rules
from weightwise.audit.drawn import drawn_in, faults
from weightwise.audit.rules import Asked
from weightwise.command_line import main

transformers = pytest.importorskip("transformers")
σ = 0.05
SIZES = {"vocab_size": 300, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
SPECIAL = {"bos_token_id": 0, "eos_token_id": 0}


def gpt2(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=300, n_embd=64, n_layer=2, n_head=2, initializer_range=σ, **SPECIAL
    )
    return transformers.GPT2LMHeadModel(config)


def llama(seed: int = 0, **more: Any) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        **SIZES, intermediate_size=96, initializer_range=σ, pad_token_id=0, **more
    )
    return transformers.LlamaForCausalLM(config)


@pytest.mark.slow
def test_sound_models_start_as_asked() -> None:
    for seed in range(20):
        for model in (gpt2(seed), llama(seed)):
            found = audit_init(model)
            assert found.disagree == () and found.no_rule == (), str(found)


def test_a_small_error_is_seen_where_it_is() -> None:
    """4096 entries: their deviation is known to 1.1 %, and at an error of 1e-6 in all to 7 %."""
    model = llama()
    weight = model.model.layers[1].self_attn.o_proj.weight
    with torch.no_grad():
        weight.mul_(1.03)
        assert audit_init(model).disagree == ()
        weight.mul_(1.09)
    (row,) = audit_init(model).disagree
    assert row.name == "model.layers.1.self_attn.o_proj.weight"
    assert "times as wide" in str(row) and "setting initializer_range = 0.05" in str(row)


@pytest.mark.parametrize(("spoil", "said"), [
    (lambda w: w[3].zero_(), "1 rows of zeros, as 3"),
    (lambda w: w[3].copy_(w[4]), "1 rows repeat others"),
    (lambda w: w[3, 4].fill_(100 * σ), "an entry of 100 deviations"),
    (lambda w: w.add_(0.3 * σ), "mean +0.3"),
    (lambda w: nn.init.trunc_normal_(w, std=σ, a=-2 * σ, b=2 * σ), "0.88"),
    (lambda w: w.zero_(), "not drawn: 0 everywhere"),
    (lambda w: w.div_(8), "times as wide"),
    (lambda w: w[0, 0].fill_(math.nan), "1 entries are NaN or infinite"),
])  # fmt: skip
def test_each_fault_is_named(spoil: Callable[[torch.Tensor], Any], said: str) -> None:
    drawn = torch.Generator().manual_seed(1)
    weight = torch.randn(128, 64, generator=drawn) * σ
    asked = Asked("a setting", σ)
    assert faults(weight, drawn_in(weight), asked, 1e-6) == ()
    torch.manual_seed(1)
    spoil(weight)
    assert said in "; ".join(faults(weight, drawn_in(weight), asked, 1e-6))


def test_what_is_not_finite_leads_and_gains_biases_and_ties_are_rows() -> None:
    model = gpt2()
    with torch.no_grad():
        model.transformer.wpe.weight[0].zero_()
        model.transformer.ln_f.weight.fill_(0.9)
        model.transformer.h[0].mlp.c_fc.bias.normal_()
        model.transformer.h[1].mlp.c_proj.weight[0, 0] = math.inf
    model.lm_head.weight = nn.Parameter(model.lm_head.weight.clone())
    first, *others = audit_init(model).disagree
    assert first.name == "transformer.h.1.mlp.c_proj.weight" and first.drawn is not None
    assert first.drawn.wrong == 1
    said = {row.name: str(row) for row in others}
    assert "two parameters" in said["the tie of head and table"]
    assert "0.9 everywhere" in said["transformer.ln_f.weight"]
    assert "drawn: deviation" in said["transformer.h.0.mlp.c_fc.bias"] and len(said) == 4


def test_a_row_of_padding_may_be_zero_and_is_told_by_either_name() -> None:
    for tied in (False, True):
        model = llama(tie_word_embeddings=tied)
        assert drawn_in(model.model.embed_tokens.weight).blank == (0,)
        assert audit_init(model).disagree == ()
    with torch.no_grad():
        model.model.embed_tokens.weight[1].zero_()
    assert "1 rows of zeros, as 1" in str(audit_init(model))


def test_a_table_that_sends_all_words_to_the_same_experts_is_seen() -> None:
    model = nn.Module()
    model.weight = nn.Parameter(torch.ones(2))
    model.register_buffer("table", torch.zeros(30, 2, dtype=torch.long))
    model.config = transformers.PretrainedConfig()
    assert audit_init(model).disagree == ()  # nothing says what it is for
    model.config.mlp_layer_types = ["hash_moe", "moe"]
    (row,) = audit_init(model).disagree
    assert row.name == "table" and "all 30 words go to [0, 0]" in str(row)
    model.table[7, 1] = 3
    assert audit_init(model).disagree == ()


def test_residual_branches_of_gpt2_have_their_papers_rule() -> None:
    model = gpt2()
    with torch.no_grad():
        model.transformer.h[0].attn.c_proj.weight.mul_(2)  # the root of twice the layers
    (row,) = audit_init(model).disagree
    assert "over √4: Radford et al. 2019" in str(row)


def test_where_nothing_says_what_is_due_there_is_no_agreement() -> None:
    found = audit_init(nn.Linear(8, 8))
    assert [(row.name, row.verdict) for row in found.rows] == [
        ("weight", "no rule"), ("bias", "disagrees"),
    ]  # fmt: skip
    assert "1 have no rule" in str(found) and found.no_rule[0].asked is None


@pytest.mark.parametrize(("law", "said"), [
    (lambda t: t.normal_(), "normal"), (lambda t: t.uniform_(-1, 1), "uniform"),
    (lambda t: nn.init.trunc_normal_(t, a=-2, b=2), "normal, cut at 2.2"),
    (lambda t: t.exponential_(), "neither"), (lambda t: t.fill_(3), "3 everywhere"),
])  # fmt: skip
def test_a_law_is_told(law: Callable[[torch.Tensor], Any], said: str) -> None:
    torch.manual_seed(0)
    entries = torch.empty(300, 200)
    law(entries)
    assert drawn_in(entries).law.startswith(said)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_any_precision_will_do(dtype: torch.dtype) -> None:
    assert audit_init(gpt2().to(dtype)).disagree == ()


@pytest.mark.slow
def test_known_classes_do_not_draw_what_they_ask() -> None:
    told = str(audit_init(transformers.OpenAIGPTConfig(
        vocab_size=300, n_embd=64, n_layer=1, n_head=2, initializer_range=σ)))  # fmt: skip
    assert re.search(r"h\.0\.attn\.c_attn\.weight: 0\.(39|40)\d* times", told)  # 0.02, not 0.05


@pytest.mark.canary
def test_an_error_of_one_in_a_hundred_would_raise_false_alarms() -> None:
    """The share of alarms is that of the error, so that the tests are exact."""
    asked, alarms = Asked("a setting", σ), 0
    drawn = torch.Generator().manual_seed(0)
    for _ in range(1000):
        weight = torch.randn(40, 10, generator=drawn, dtype=torch.float64) * σ
        alarms += bool(faults(weight, drawn_in(weight), asked, 0.01))
    assert 10 < alarms < 50  # three tests of 1 %: 28 expected, less those that meet


def test_an_address_says_what_the_rule_takes_from_it() -> None:
    """All but that of biases, which is said to be remembered."""
    said = {
        nn.LayerNorm: "initialized to ones (for weights) and zeros (for biases)",
        nn.RMSNorm: "initialized to ones (for weights)",
    }
    for kind, words in said.items():
        assert words in " ".join(str(kind.__doc__).split()) and kind.__name__ in rules._GAINS
    folder = Path(str(transformers.__file__)).parent
    text = (folder / "utils/auto_docstring.py").read_text(encoding="utf-8")
    assert "truncated_normal_initializer for initializing all weight matrices" in text
    quote = (folder / "models/gpt2/modeling_gpt2.py").read_text(encoding="utf-8")
    assert "by a factor of 1/√N where N is the # of residual layers" in quote
    assert "as remembered" in rules._BIASES


def test_tables_with_a_setting_of_their_own_are_held_against_it() -> None:
    torch.manual_seed(0)
    config = transformers.XLMConfig(
        vocab_size=300, emb_dim=64, n_layers=1, n_heads=4, embed_init_std=0.01, init_std=σ,
        max_position_embeddings=64, pad_index=2,
    )  # fmt: skip
    found = audit_init(transformers.XLMWithLMHeadModel(config))
    assert found.disagree == ()
    asked = {row.name: row.asked for row in found.rows}["transformer.embeddings.weight"]
    assert asked is not None and asked.deviation == 0.01 and "embed_init_std" in asked.address


def test_what_is_no_matrix_that_is_drawn_has_no_rule() -> None:
    torch.manual_seed(0)
    config = transformers.MarianConfig(
        vocab_size=300, d_model=64, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=96,
        decoder_ffn_dim=96, encoder_attention_heads=4, decoder_attention_heads=4, pad_token_id=0,
        max_position_embeddings=64,
    )  # fmt: skip
    found = audit_init(transformers.MarianMTModel(config))
    bare = {row.name for row in found.no_rule}
    assert {f"model.{part}.embed_positions.weight" for part in ("encoder", "decoder")} <= bare
    assert not found.disagree


def test_gains_of_a_t5_with_a_factor_have_no_rule() -> None:
    """Its setting is documented as a factor on weight matrices, and its gains follow it."""
    for factor, due in ((1.0, "agrees"), (0.7, "no rule")):
        torch.manual_seed(0)
        config = transformers.T5Config(
            vocab_size=300, d_model=48, d_kv=24, d_ff=96, num_layers=1, num_heads=2,
            initializer_factor=factor,
        )  # fmt: skip
        found = audit_init(transformers.T5ForConditionalGeneration(config))
        gains = [row.verdict for row in found.rows if row.name.endswith("norm.weight")]
        assert not found.disagree and set(gains) == {due}


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="model_or_config: got int; accepted"):
        audit_init(3)
    with pytest.raises(ValueError, match="got Identity without parameters"):
        audit_init(nn.Identity())
    with pytest.raises(ValueError, match="got weight on the meta device"):
        audit_init(nn.Linear(2, 2, device="meta"))


@pytest.mark.slow
def test_the_command_audits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gpt2().config.save_pretrained(tmp_path)
    assert main(["why", str(tmp_path), "--audit"]) == 0
    assert "GPT2LMHeadModel: of 28 parameters 28 start as asked" in capsys.readouterr().out
