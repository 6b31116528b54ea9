"""μP on the classes that people use: the package's own training, level over four widths."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from growth_models import transformers
from torch import nn

from weightwise import mup_groups, mup_start

N, HEAD = 40, 16
_ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": N}
Norm = Callable[[Any], nn.Module] | None


def gpt2(width: int, **changes: Any) -> Any:
    sizes = {"n_embd": width, "n_head": width // HEAD, "n_layer": 2, "n_positions": 16}
    no_dropout = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    config = transformers.GPT2Config(**{**_ENDS, **sizes, **no_dropout, **changes})
    return transformers.GPT2LMHeadModel(config)


def llama(width: int, **changes: Any) -> Any:
    heads = {"num_attention_heads": width // HEAD, "num_key_value_heads": width // HEAD}
    sizes = {"hidden_size": width, "intermediate_size": 3 * width, "num_hidden_layers": 2}
    config = transformers.LlamaConfig(**{**_ENDS, **heads, **sizes, **changes})
    return transformers.LlamaForCausalLM(config)


def bert(width: int, **changes: Any) -> Any:
    sizes = {"hidden_size": width, "intermediate_size": 4 * width, "num_hidden_layers": 2}
    no_dropout = dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), 0.0)
    heads = {"num_attention_heads": width // HEAD, "max_position_embeddings": 16}
    config = transformers.BertConfig(**{**_ENDS, **sizes, **no_dropout, **heads, **changes})
    return transformers.BertForMaskedLM(config)


def t5(width: int, **changes: Any) -> Any:
    sizes = {"d_model": width, "d_ff": 3 * width, "num_heads": width // HEAD, "num_layers": 2}
    ends = {"vocab_size": N, "decoder_start_token_id": 0, "d_kv": HEAD, "dropout_rate": 0.0}
    kind = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}  # 1.1: no factor
    config = transformers.T5Config(**{**sizes, **ends, **kind, **changes})
    return transformers.T5ForConditionalGeneration(config)


KINDS: dict[str, tuple[Callable[..., Any], Norm]] = {
    "GPT-2, tied": (gpt2, lambda m: m.transformer.ln_f),
    "GPT-2, untied": (lambda d: gpt2(d, tie_word_embeddings=False), None),
    "Llama, tied": (lambda d: llama(d, tie_word_embeddings=True), lambda m: m.model.norm),
    "Llama, untied": (llama, None),
    "BERT, tied": (bert, lambda m: m.cls.predictions.transform.LayerNorm),
    "BERT, untied": (lambda d: bert(d, tie_word_embeddings=False), None),
    "T5 1.1": (t5, lambda m: m.decoder.final_layer_norm),
}


def pair(kind: str, small: int, wide: int) -> tuple[Any, Any, nn.Module | None]:
    make, norm = KINDS[kind]
    torch.manual_seed(0)
    models = make(small), make(wide)
    return *models, norm(models[1]) if norm else None


def logits(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    both = {"decoder_input_ids": tokens} if model.config.is_encoder_decoder else {}
    return model(input_ids=tokens, **both).logits


def trained(model: Any, groups: Any, steps: int) -> torch.Tensor:
    """Logits before each step of AdamW on one batch."""
    source = torch.Generator().manual_seed(3)
    tokens, labels = torch.randint(3, N, (2, 8, 12), generator=source)
    optimiser, seen = torch.optim.AdamW(groups), []
    for _ in range(steps):
        found = logits(model, tokens)
        seen.append(found.detach())
        optimiser.zero_grad()
        F.cross_entropy(found.flatten(0, 1), labels.flatten()).backward()
        optimiser.step()
    return torch.stack(seen)


def in_the_units_of_the_package(
    model: Any, small: Any, norm: nn.Module | None, *, lr: float, decay: float
) -> list[dict[str, Any]]:
    """Turn a model that `mup_start` has started into that of the package mup 1.0.0.

    `MuReadout` divides what it is given by the growth of the width, and `MuAdamW` divides the rate
    of what has grown on two sides by it and multiplies its decay; all else has the plain rate.
    """
    known, head = dict(small.named_parameters()), model.get_output_embeddings()
    r = head.in_features / small.get_output_embeddings().in_features
    head.register_forward_pre_hook(lambda _, given: (given[0] / r,))
    with torch.no_grad():
        for parameter in [head.weight] if norm is None else norm.parameters():
            parameter *= r
    matrices: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        sides = zip(parameter.shape, known[name].shape, strict=True)
        grown = sum(a != b for a, b in sides)
        (matrices if grown == 2 else rest).append(parameter)
    return [
        {"params": matrices, "lr": lr / r, "weight_decay": decay * r, "eps": 1e-40},
        {"params": rest, "lr": lr, "weight_decay": decay, "eps": 1e-40},
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_training_is_that_of_the_package(kind: str) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        small, model, norm = pair(kind, 32, 96)
        mup_start(model, small, norm)
        twin = copy.deepcopy(model)
        its = KINDS[kind][1]
        other = in_the_units_of_the_package(twin, small, its and its(twin), lr=3e-3, decay=0.3)
        tuned = {"lr": 3e-3, "weight_decay": 0.3, "eps": 1e-40}
        spoiled = copy.deepcopy(model)
        groups = mup_groups(spoiled, small, **tuned, last_norm=its and its(spoiled))
        for group in groups:
            group["weight_decay"] = 0.3
        wrong = trained(spoiled, groups, 5)
        ours = trained(model, mup_groups(model, small, **tuned, last_norm=norm), 5)
        theirs = trained(twin, other, 5)
    finally:
        torch.set_default_dtype(torch.float32)
    assert (ours - theirs).abs().max() < 1e-9 * theirs.abs().max()
    assert (wrong - theirs).abs().max() > 1e-5 * theirs.abs().max()


@pytest.mark.parametrize("kind", KINDS)
def test_ε_is_the_same_part_of_a_gradient(kind: str) -> None:
    parts: dict[str, list[float]] = {}
    for width in (64, 256):
        small, model, norm = pair(kind, 32, width)
        mup_start(model, small, norm)
        groups = mup_groups(model, small, lr=3e-3, last_norm=norm)
        trained(model, groups, 1)
        for group in groups:
            found = [p.grad.flatten() for p in group["params"] if p.grad is not None]
            size = torch.cat(found).square().mean().sqrt().item()
            parts.setdefault(group["role"], []).append(group["eps"] / size)
    for role, (narrow, wide) in parts.items():
        assert 0.6 < wide / narrow < 1.6, role  # unscaled, it would be 4 or a quarter


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_decays_each_weight_by_the_same_part(kind: str) -> None:
    small, model, norm = pair(kind, 32, 96)
    before = copy.deepcopy(model.state_dict())
    groups = mup_groups(model, small, lr=0.1, weight_decay=0.2, last_norm=norm)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    torch.optim.AdamW(groups).step()
    for key, value in model.named_parameters():
        assert torch.allclose(value, before[key] * (1 - 0.02), atol=0), key


@pytest.mark.parametrize("kind", KINDS)
def test_the_start_scales_matrices_and_touches_nothing_else(kind: str) -> None:
    small, model, norm = pair(kind, 32, 96)
    before, of_small = copy.deepcopy(model.state_dict()), copy.deepcopy(small.state_dict())
    drawn, learns = torch.get_rng_state(), [p.requires_grad for p in model.parameters()]
    mup_start(model, small, norm)
    assert torch.equal(drawn, torch.get_rng_state())
    assert learns == [p.requires_grad for p in model.parameters()]
    assert all(torch.equal(value, of_small[key]) for key, value in small.state_dict().items())
    ends = [end.weight for end in (model.get_input_embeddings(), model.get_output_embeddings())]
    assert (ends[0] is ends[1]) == (norm is not None)
    scaled = {id(p) for p in norm.parameters()} if norm else set()
    for key, value in model.state_dict(keep_vars=True).items():
        if value.ndim < 2 and id(value) not in scaled:
            assert torch.equal(value, before[key]), key
        elif before[key].any():
            ratio = (value.norm() / before[key].norm()).item()
            assert torch.allclose(value, before[key] * ratio, rtol=1e-5), key
    groups = mup_groups(model, small, lr=1.0, last_norm=norm)
    grouped = [id(p) for group in groups for p in group["params"]]
    assert sorted(grouped) == sorted(id(p) for p in model.parameters())
    again = copy.deepcopy(model.state_dict())
    mup_start(model, small, norm)
    assert all(torch.allclose(value, again[key]) for key, value in model.state_dict().items())


def test_each_role_of_gpt2() -> None:
    small, model, _ = pair("GPT-2, untied", 32, 128)
    names = {id(p): name for name, p in model.named_parameters()}
    groups = mup_groups(model, small, lr=1.0, weight_decay=1.0, eps=1.0)
    found = {g["role"]: [names[id(p)] for p in g["params"]] for g in groups}
    settings = {g["role"]: (g["lr"], g["weight_decay"], g["eps"]) for g in groups}
    assert found["embedding"] == ["transformer.wte.weight", "transformer.wpe.weight"]
    assert found["head"] == ["lm_head.weight"]
    assert len(found["hidden"]) == 2 * 4
    assert all("bias" in name or "ln_" in name for name in found["vector"])
    assert settings == {
        "embedding": (1, 1, 0.25), "vector": (1, 1, 0.25), "hidden": (0.25, 4, 0.25),
        "head": (0.25, 4, 1),
    }  # fmt: skip
    mup_start(model, small)
    for role, power in {"embedding": 0, "hidden": -0.5, "head": -1}.items():
        for name in found[role]:
            mine, its = (m.get_parameter(name).square().mean() ** 0.5 for m in (model, small))
            assert (mine / its).item() == pytest.approx(4**power, rel=1e-5), name


def narrow_keys(width: int) -> Any:
    return llama(width, num_key_value_heads=1)


def umt5(width: int) -> Any:
    sizes = {"d_model": width, "d_ff": width, "num_heads": width // HEAD, "num_layers": 1}
    ends = {"vocab_size": N, "decoder_start_token_id": 0, "d_kv": HEAD}
    return transformers.UMT5ForConditionalGeneration(transformers.UMT5Config(**sizes, **ends))


def convolution(width: int) -> nn.Module:
    return nn.Sequential(nn.Conv1d(3, width, 2), nn.Linear(width, 3))


def two_heads(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(3, width), nn.Linear(width, 3), nn.Linear(width, 5))


REFUSED: dict[str, tuple[Any, Any, Norm, str]] = {
    "a tied head alone": (gpt2(32), gpt2(64), None, "last_norm: got None.* transformer.wte.weight"),
    "a norm without a tie": (
        llama(32), llama(64), lambda m: m.model.norm, "last_norm: got a LlamaRMSNorm; accepted"
    ),
    "a norm of another model": (
        gpt2(32), gpt2(64), lambda _: nn.LayerNorm(64), "last_norm: got a LayerNorm; accepted"
    ),
    "no norm": (gpt2(32), gpt2(64), lambda m: m.lm_head, "last_norm: got a Linear; accepted"),
    "another depth": (gpt2(32), gpt2(64, n_layer=1), None, r"transformer.h.1.attn.*only one of"),
    "another head size": (gpt2(32), gpt2(64, n_head=2), None, "GPT2LMHeadModel with heads of 32"),
    "another class": (nn.Linear(2, 3), nn.Bilinear(2, 2, 3), None, "got Bilinear and Linear"),
    "one side by another factor": (
        llama(32), llama(64, intermediate_size=288), None, r"widths: grown by \[2.0, 3.0\]",
    ),
    "keys that do not grow": (narrow_keys(32), narrow_keys(64), None, "k_proj.weight.*one head"),
    "two heads": (two_heads(4), two_heads(8), None, "1.weight, 2.weight: only the inputs"),
    "a convolution": (
        convolution(4), convolution(8), None, "0.weight: a parameter of Conv1d of which 1 of 3",
    ),
    "T5's own factor": (
        t5(32, tie_word_embeddings=True), t5(64, tie_word_embeddings=True),
        lambda m: m.decoder.final_layer_norm, "T5ForConditionalGeneration may divide by a root",
    ),
    "UMT5's own factor": (
        umt5(32), umt5(64), lambda m: m.decoder.final_layer_norm, "UMT5.* may divide by a root",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_is_refused_by_name(name: str) -> None:
    small, model, norm, says = REFUSED[name]
    before = copy.deepcopy(model.state_dict())
    last_norm = norm and norm(model)
    with pytest.raises(ValueError, match=says):
        mup_start(model, small, last_norm)
    with pytest.raises(ValueError, match=says):
        mup_groups(model, small, lr=1.0, last_norm=last_norm)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_a_gain_that_starts_at_zero_is_refused() -> None:
    def gemma(width: int) -> Any:
        sizes = {"hidden_size": width, "intermediate_size": width, "num_hidden_layers": 1}
        heads = {"num_attention_heads": width // 8, "num_key_value_heads": width // 8}
        config = transformers.GemmaConfig(**_ENDS, **sizes, **heads, head_dim=8)
        return transformers.GemmaForCausalLM(config)

    model = gemma(32)
    with pytest.raises(ValueError, match=r"model.norm.weight: a gain that starts at zero"):
        mup_start(model, gemma(16), model.model.norm)


def test_at_the_small_width_nothing_changes() -> None:
    small, model, norm = pair("GPT-2, tied", 32, 32)
    before = copy.deepcopy(model.state_dict())
    mup_start(model, small, norm)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    (group,) = mup_groups(model, small, lr=0.1, weight_decay=0.2, last_norm=norm)
    assert (group["lr"], group["weight_decay"], group["eps"]) == (0.1, 0.2, 1e-8)
