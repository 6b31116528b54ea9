"""Heads, key-value heads, feed-forward units and layers grow alone and together, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from growth_models import model
from transformers import GPT2Config, Starcoder2Config, Starcoder2ForCausalLM

from weightwise.command_line import main
from weightwise.growth import (
    Axis,
    GrowthFailed,
    GrowthRefused,
    axes,
    clean_float64,
    compare,
    describe,
    grow,
    grow_optimiser,
    widen_checkpoint,
)
from weightwise.growth.sizes import shortened

# heads of 3, or 4 with 2 key-value heads (GPT-NeoX and OPT: 2); layers 1 or 2
SIZES: dict[str, tuple[dict[str, int], tuple[str, ...]]] = {
    "feed-forward units, not a multiple": (
        {"feed_forward": 57},
        ("BERT, GELU, tied", "GPT-2, tied", "T5 v1.1", "Mixtral, tied", "Phi-3, tied", "OPT, tied",
         "Gemma 3, tied", "ViT"),
    ),
    "heads alone, of their own size": (
        {"heads": 8}, ("Llama, untied", "Qwen3, tied", "Gemma 2, untied", "Gemma 3, tied",
                       "Mixtral, tied"),
    ),
    "heads without a size of their own": (
        {"k": 4, "heads": 8}, ("OLMo2, tied", "Phi-3, tied", "Phi-4, half rotary, tied",
                               "GPT-NeoX, untied", "OPT, tied"),
    ),
    "heads of encoders": (
        {"k": 2, "heads": 6}, ("BERT, GELU, tied", "RoFormer", "RoBERTa, tied", "ModernBERT, tied",
                               "T5 v1.0", "GPT-2, tied", "ViT"),
    ),
    "heads and their size": ({"k": 4, "heads": 8}, ("Llama, untied", "OLMo2, untied")),
    "key-value heads alone": (
        {"key_value_heads": 4}, ("Llama, untied", "Qwen3, tied", "Gemma 3, tied", "OLMo2, tied",
                                 "Phi-3, untied", "Mistral, tied"),
    ),
    "heads and not as many key-value heads": (
        {"heads": 12, "key_value_heads": 2}, ("Qwen3, tied", "Gemma, tied"),
    ),
    "layers": (
        {"layers": 5}, ("GPT-2, tied", "Llama, untied", "T5 v1.0", "Gemma 3, tied", "OLMo2, tied",
                        "GPT-NeoX, untied", "OPT, tied", "ViT", "Mixtral, tied", "Qwen3, tied"),
    ),
    "width, not a multiple": (
        {"width": 23}, ("Qwen3, untied", "Gemma, tied", "T5 v1.0", "Mistral, untied", "mT5",
                        "Mixtral, tied"),
    ),
    "width, not a multiple, but of the heads": ({"width": 20}, ("Llama, untied", "Gemma 3, tied")),
    "width, not a multiple, beside heads of hidden / heads": (
        {"width": 18}, ("Qwen2, tied", "OLMo2, tied", "Phi-3, tied"),
    ),
    "width alone, a multiple": ({"width": 32}, ("Llama, untied", "OPT, as of 350 M, tied")),
    "width, heads and their size": ({"k": 2, "width": 40, "heads": 8}, ("Llama, untied",)),
    "words": (
        {"vocabulary": 25}, ("BERT, ReLU, untied", "T5 v1.0", "OPT, as of 350 M, tied",
                             "RoFormer, untied, rotary values, other embedding size"),
    ),
    "all": (
        {"k": 2, "heads": 8, "key_value_heads": 8, "feed_forward": 33, "layers": 3,
         "vocabulary": 22},
        ("Llama, untied", "Qwen3, tied", "Gemma 2, tied", "OLMo2, tied", "Phi-3, tied"),
    ),
}  # fmt: skip
EVERY = [(name, kind) for name, (_, kinds) in SIZES.items() for kind in kinds]


@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_the_function_stays(name: str, kind: str) -> None:
    sizes, kinds = SIZES[name]
    small = model(kind)
    large = grow(small, **sizes, check="layers" in sizes or kind == kinds[0])
    found = compare(small, large)
    assert found.worst <= 1e-12 and not found.broken and not found.lost
    for size, option in (("heads", "num_attention_heads"), ("layers", "num_hidden_layers"),
                         ("width", "hidden_size"),
                         ("key_value_heads", "num_key_value_heads")):  # fmt: skip
        if size in sizes:
            assert getattr(large.config, option) == sizes[size]
    assert large.num_parameters() > small.num_parameters() or "GPT-2" in kind


@pytest.mark.parametrize("kind", ["Llama, untied", "Gemma 3, tied", "Mistral, tied"])
def test_what_has_grown_in_every_way_writes_the_same_text_and_survives_the_disk(
    kind: str, tmp_path: Path
) -> None:
    small = model(kind)
    large = grow(small, 2, heads=8, feed_forward=33, layers=3)
    large.save_pretrained(tmp_path)
    loaded = type(small).from_pretrained(tmp_path, dtype=torch.float64)
    tokens = torch.tensor([[3, 5, 7]])
    how = {"max_new_tokens": 6, "do_sample": False, "attention_mask": torch.ones_like(tokens)}
    assert torch.equal(small.generate(tokens, **how), loaded.generate(tokens, **how))
    assert compare(small, loaded).worst <= 1e-12


@pytest.mark.parametrize(("kind", "heads"), [
    ("Llama, untied", 8), ("GPT-2, tied", 6), ("Phi-3, tied", 8), ("GPT-NeoX, untied", 4),
    ("ModernBERT, tied", 6), ("BERT, GELU, tied", 6), ("OPT, tied", 4),
])  # fmt: skip
def test_as_many_heads_as_the_stream_grows_round_nothing_in_bfloat16(kind: str, heads: int) -> None:
    """No root is needed where no head is larger: all factors are 1 and 1/2."""
    small = model(kind, dtype=torch.bfloat16)
    by_heads, by_size = (compare(small, grow(small, 2, heads=n)) for n in (heads, None))
    assert by_heads.rounded == 0 and by_heads.clean <= 1e-12
    assert by_size.rounded > 0


@pytest.mark.parametrize("kind", ["Mistral, tied", "Qwen3, untied", "GPT-NeoX, untied"])
@pytest.mark.parametrize("rope", ["dynamic", "yarn"])
def test_rotary_frequencies_of_any_kind_stay_with_heads_that_do(kind: str, rope: str) -> None:
    told = {"rope_type": rope, "rope_theta": 1e4, "factor": 4.0,
            "original_max_position_embeddings": 16}  # fmt: skip
    if "NeoX" in kind:
        told["partial_rotary_factor"] = 0.5
    small = model(kind, rope_parameters=told, max_position_embeddings=64)
    heads = 2 * small.config.num_attention_heads
    assert compare(small, grow(small, 2, heads=heads)).worst <= 1e-12
    with pytest.raises(GrowthRefused, match=rf"rope_type .*got '{rope}'; accepted: 'default'"):
        grow(small, 2)


@pytest.mark.parametrize("kind", ["Phi-3, tied", "GPT-NeoX, untied", "GPT-2, tied", "Qwen3, tied"])
def test_one_rate_leads_a_fused_weight_whose_heads_are_copied(kind: str) -> None:
    """Larger rotary heads need two rates in one array; more heads do not."""
    small = model(kind, embeddings=0.5)
    large = grow(small, 2, heads=2 * small.config.num_attention_heads)
    adam = torch.optim.AdamW(small.parameters(), lr=1e-3, eps=1e-5)
    follows = grow_optimiser(adam, small, large)
    tokens = torch.arange(16).view(2, 8)
    for _ in range(20):
        losses = []
        for m, optimiser in ((small, adam), (large, follows)):
            optimiser.zero_grad()
            with clean_float64(), torch.enable_grad():
                logits = m(tokens).logits
                loss = torch.nn.functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:])
                loss.backward()
            optimiser.step()
            losses.append(loss.item())
        assert losses[0] == pytest.approx(losses[1], abs=1e-9)


@pytest.mark.parametrize("kind", ["GPT-2, tied", "Gemma 3, tied", "OLMo2, tied"])
def test_new_layers_learn(kind: str) -> None:
    """What ends a branch is zero, and has a gradient; what it reads is copied."""
    small = model(kind)
    large = grow(small, layers=4)
    tokens = torch.arange(9)[None]
    torch.nn.functional.cross_entropy(large(tokens).logits[0], tokens[0] + 1).backward()
    layers = large.get_submodule("transformer.h" if "GPT-2" in kind else "model.layers")
    learn = [name for name, own in layers[1].named_parameters() if own.grad.abs().max() > 0]
    still = {"GPT-2, tied": {"attn.c_proj.weight", "mlp.c_proj.weight"}}.get(
        kind, {"post_attention_layernorm.weight", "post_feedforward_layernorm.weight"}
    )
    assert still <= set(learn)
    value = 0.0 if "Gemma" not in kind else -1.0
    for name in still:
        assert bool((layers[1].get_parameter(name) == value).all())


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "one and a half times": (
        "Llama, untied", {"k": 1.5}, r"k: got 1\.5; accepted: an integer of at least 2, as copies"
        r".* \(section 4\.3\).* \(section 4\.5\); width= takes any larger number",
    ),
    "a smaller width": ("Llama, untied", {"width": 9}, r"width: got 9; accepted: at least 16"),
    "a width that the class would not load": (
        "Llama, untied", {"width": 18},
        r"width: got 18; accepted: what LlamaConfig loads: The hidden size \(18\) is not",
    ),
    "heads that the class would not load": (
        "Llama, untied", {"heads": 12},
        r"heads, key_value_heads: got 12 and 6; accepted: what LlamaConfig loads: The hidden size",
    ),
    "a width that changes the heads": (
        "GPT-2, tied", {"width": 15}, r"width: got 15 for 3 heads; accepted: a multiple of 12"
    ),
    "nothing": ("Llama, untied", {}, r"k: got 1; accepted: an integer of at least 2, or 1 with"),
    "fewer heads": ("Llama, untied", {"heads": 2}, r"heads: got 2; accepted: a multiple of 4"),
    "heads that do not fit": (
        "Llama, untied", {"k": 3, "heads": 8}, r"heads: got 8; accepted: 4 times a divisor of 3"
    ),
    "more heads in as wide a stream": (
        "GPT-2, tied", {"heads": 6}, r"heads: got 6; accepted: 3 times a divisor of 1, by which"
    ),
    "no such size": (
        "GPT-2, tied", {"key_value_heads": 6}, r"key_value_heads: got 6; accepted: None, as GPT2Co"
    ),
    "more key-value heads than heads": (
        "Llama, untied", {"key_value_heads": 8}, r"key_value_heads: got 8; accepted: one that div"
    ),
    "no multiple": (
        "Llama, untied", {"key_value_heads": 3}, r"key-value heads: got 3; accepted: a multiple"
    ),
    "fewer units": ("T5 v1.0", {"feed_forward": 6}, r"feed_forward: got 6; accepted: at least 7"),
    "half a layer": ("T5 v1.0", {"layers": 1.5}, r"layers: got 1\.5; accepted: a whole number"),
    "layers that normalise a sum": (
        "BERT, GELU, tied", {"layers": 2},
        r"layers: bert\.encoder\.layer\.1\.attention\.output\.LayerNorm normalises the sum",
    ),
    "a first layer that is not as the others": (
        "ModernBERT, tied", {"layers": 4}, r"layers\.1\.attn_norm\.weight: a new layer has it, the"
    ),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("name", REFUSED)
def test_sizes_that_cannot_be_are_refused(name: str) -> None:
    kind, sizes, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=message):
        grow(model(kind), **sizes)


@pytest.mark.canary
def test_new_layers_that_are_not_the_identity_go_red(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GrowthFailed, match=r"first at model\.decoder\.layers\.1\..*, its input"):
        grow(model("OPT, as of 350 M, tied"), layers=4)
    monkeypatch.setattr(axes.Gathered, "silent", lambda rule: rule)
    with pytest.raises(GrowthFailed, match=r"first at transformer\.h\.1\.ln_1, its input"):
        grow(model("GPT-2, tied"), layers=4)


@pytest.mark.canary
def test_a_mean_that_is_not_kept_goes_red(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Starcoder2ForCausalLM(Starcoder2Config(
        vocab_size=19, hidden_size=16, intermediate_size=20, num_hidden_layers=1, head_dim=8,
        num_attention_heads=2, num_key_value_heads=2, bos_token_id=1, eos_token_id=2,
    ))  # fmt: skip
    draft = describe(small)
    with pytest.raises(GrowthRefused, match=(
        r"layernorm: LayerNorm subtracts the mean, which only equally many copies of each "
        r"coordinate keep \(section 4\.1\); accepted: width: a multiple of 16"
    )):  # fmt: skip
        grow(small, width=17, description=draft)
    monkeypatch.setattr(Axis, "keeps_means", lambda axis: True)
    with pytest.raises(GrowthFailed, match=r"first at .*layernorm, its output"):
        grow(small, width=17, description=draft)
    monkeypatch.setattr(axes, "isometric", lambda size, new, **_: axes.stretched(size, new))
    with pytest.raises(GrowthFailed, match=r"first at .*layernorm, its output"):
        grow(model("Llama, untied"), width=20)


@pytest.mark.canary
def test_heads_in_another_order_go_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiled heads meet the key-value heads of others."""

    def tiled(axis: Axis, count: int, times: int) -> Axis:
        return Axis(axis.source.repeat(times), axis.factor.repeat(times), axis.size)

    monkeypatch.setattr(Axis, "in_blocks", tiled)
    with pytest.raises(GrowthFailed, match=r"o_proj, its input .*: the attention"):
        grow(model("Llama, untied"), heads=8, key_value_heads=2)


def test_no_rates_let_a_deeper_model_follow() -> None:
    small = model("GPT-2, tied")
    adam = torch.optim.AdamW(small.parameters())
    with pytest.raises(GrowthRefused, match=r"large: got new layers, which learn what the small"):
        grow_optimiser(adam, small, grow(small, layers=4))
    with pytest.raises(
        GrowthRefused, match=r"c_fc\.weight: .* two of eps in one array.* as many copies"
    ):
        grow_optimiser(adam, small, grow(small, feed_forward=57))
    small = model("Llama, untied")
    adam = torch.optim.AdamW(small.parameters())
    with pytest.raises(GrowthRefused, match=r"large: got 2 copies of each key-value head, which"):
        grow_optimiser(adam, small, grow(small, key_value_heads=4))


@pytest.mark.parametrize("kind", ["BERT, ReLU, untied", "GPT-2, tied", "Gemma 2, tied", "T5 v1.0"])
def test_a_new_word_begins_with_the_mean_logit(kind: str) -> None:
    small = model(kind)
    large = grow(small, 2, vocabulary=24)
    tokens = {"input_ids": torch.tensor([[3, 5, 7, 11]])}
    if small.config.is_encoder_decoder:
        tokens["decoder_input_ids"] = tokens["input_ids"]
    with clean_float64():
        before, after = small(**tokens).logits, large(**tokens).logits
    count, cap = before.shape[-1], getattr(small.config, "final_logit_softcapping", None)
    assert torch.allclose(before, after[..., :count], rtol=1e-10, atol=1e-12)
    inside = cap * torch.atanh(before / cap) if cap else before
    mean = inside.mean(-1, keepdim=True)
    expected = (cap * torch.tanh(mean / cap) if cap else mean).expand_as(after[..., count:])
    assert torch.allclose(after[..., count:], expected, rtol=1e-9, atol=1e-11)
    adam = torch.optim.AdamW(small.parameters())
    with pytest.raises(GrowthRefused, match=r"large: got new words, which learn what the small"):
        grow_optimiser(adam, small, large)


@pytest.mark.parametrize("kind", [
    "Llama, untied", "GPT-2, tied", "Gemma 3, tied", "Mixtral, tied",
    "Qwen3, mixture, ForSequenceClassification",
])  # fmt: skip
def test_a_checkpoint_grows_in_every_way_bit_by_bit(kind: str, tmp_path: Path) -> None:
    load_file = pytest.importorskip("safetensors.torch").load_file
    small = model(kind, dtype=torch.float32)
    folder, wide = tmp_path / "small", tmp_path / "wide"
    small.save_pretrained(folder, max_shard_size="4KB")
    small = type(small).from_pretrained(folder).eval()
    heads = 2 * small.config.num_attention_heads
    sizes = {"heads": heads, "feed_forward": 99, "layers": 5, "vocabulary": 21}
    sizes |= {"width": 40} if kind != "GPT-2, tied" else {}
    grow(small, 2, **sizes).save_pretrained(tmp_path / "grown")
    line = ["widen", str(folder), str(wide), "--stream", "2", "--layers", "5",
            "--vocabulary", "21"]  # fmt: skip
    line += ["--width", "40"] if "width" in sizes else []
    assert main([*line, "--heads", str(heads), "--feed-forward", "99"]) == 0
    widen_checkpoint(folder, wide, 2, **sizes)  # whole: nothing is left to do
    ours, theirs = (
        {key: value for path in (tmp_path / place).glob("*.safetensors")
         for key, value in load_file(path).items()} for place in ("wide", "grown")
    )  # fmt: skip
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(value, theirs[key]) for key, value in ours.items())
    index = json.loads((wide / "model.safetensors.index.json").read_text("utf-8"))
    assert set(index["weight_map"]) == set(ours)
    again = type(small).from_pretrained(wide)
    for each in (small, again):
        each.config._experts_implementation = "eager"  # the others want other sizes
    assert (
        again.config.num_hidden_layers == 5 and compare(small, again, tolerance=1e-5).clean < 1e-5
    )
    with pytest.raises(ValueError, match=r"target: got .* of another source, k or size"):
        widen_checkpoint(folder, wide, 2, **sizes | {"feed_forward": 100})


def test_a_configuration_is_shortened_and_never_lengthened() -> None:
    assert [shortened(GPT2Config(n_layer=layers), 2).n_layer for layers in (5, 1)] == [2, 1]
