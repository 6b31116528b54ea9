"""What is not as its class makes it is refused by name; what acts in training is carried over."""

from __future__ import annotations

import pickle
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from growth_models import model
from torch import nn
from torch.nn.utils import parametrizations, prune
from transformers.models.llama import modeling_llama

from weightwise.growth import GrowthFailed, GrowthRefused, compare, grow

LLAMA, GPT2 = "Llama, untied", "GPT-2, tied"


class LateRotary(modeling_llama.LlamaRotaryEmbedding):
    """Another rotation from position 100 on, where no check of a few tokens comes."""

    def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        cos, sin = super().forward(x, position_ids)
        return torch.where((position_ids > 100)[..., None], 3 * cos, cos), sin


class Clamped(nn.SiLU):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x).clamp(max=50)


def halved_in_training(module: nn.Module, given: Any, output: torch.Tensor) -> torch.Tensor:
    return output * 0.5 if module.training else output


def up(m: Any) -> Any:
    return m.model.layers[0].mlp.up_proj


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a module of another class": (
        lambda m: setattr(m.model, "rotary_emb", LateRotary(m.config)),
        r"rotary_emb: got the class LateRotary; accepted: LlamaRotaryEmbedding",
    ),
    "another method": (
        lambda m: setattr(m.model.rotary_emb, "forward",
                          types.MethodType(LateRotary.forward, m.model.rotary_emb)),
        r"rotary_emb: forward: got another method than LlamaRotaryEmbedding's",
    ),
    "another activation": (
        lambda m: setattr(m.model.layers[0].mlp, "act_fn", Clamped()),
        r"mlp\.act_fn: got the class Clamped; accepted: SiLU",
    ),
    "another ε": (
        lambda m: setattr(m.model.norm, "variance_epsilon", 1e-2),
        r"model\.norm: variance_epsilon: got 0\.01; accepted: 1e-05, as configured",
    ),
    "another scale": (
        lambda m: setattr(m.model.layers[0].self_attn, "scaling", 0.5 + 1e-14),
        r"self_attn: scaling: got 0\.5\d+; accepted: 0\.5, as configured",
    ),
    "a hook": (
        lambda m: m.model.layers[0].mlp.register_forward_hook(halved_in_training),
        r"layers\.0\.mlp: got halved_in_training in _forward_hooks; accepted: no hooks",
    ),
    "a hook on a gradient": (
        lambda m: up(m).weight.register_hook(torch.zeros_like),
        r"mlp\.up_proj: weight: got a hook on the gradient; accepted: none",
    ),
    "a pruned weight": (
        lambda m: prune.l1_unstructured(up(m), "weight", 0.3),
        r"mlp\.up_proj: got L1Unstructured in _forward_pre_hooks; accepted: no hooks",
    ),
    "a normalised weight": (
        lambda m: parametrizations.weight_norm(up(m)),
        r"mlp\.up_proj: got the class ParametrizedLinear; accepted: Linear",
    ),
    "a wrapped module": (
        lambda m: setattr(m.model.layers[0].mlp, "up_proj", nn.Sequential(up(m))),
        r"mlp\.up_proj: got the class Sequential; accepted: Linear",
    ),
    "an adapter": (
        lambda m: setattr(m.model.layers[0].mlp, "adapter", nn.Linear(2, 2)),
        r"mlp\.adapter: a module that LlamaForCausalLM does not have",
    ),
    "a layer twice": (
        lambda m: m.model.layers.append(m.model.layers[0]),
        r"layers\.1: a module that LlamaForCausalLM does not have",
    ),
    "no layers": (
        lambda m: setattr(m.model, "layers", m.model.layers[:0]),
        r"layers\.0: LlamaForCausalLM has this module, the model not",
    ),
    "a buffer": (
        lambda m: m.model.layers[0].register_buffer("seen", torch.ones(3)),
        r"layers\.0\.seen: a buffer that LlamaForCausalLM has not",
    ),
    "a narrower weight": (
        lambda m: setattr(up(m), "weight", nn.Parameter(up(m).weight[:-2])),
        r"up_proj\.weight: rule 'linear' does not fit: the axis has 10 .*the tensor 8",
    ),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("name", REFUSED)
def test_what_its_class_does_not_make_is_refused(name: str) -> None:
    change, message = REFUSED[name]
    small = model(LLAMA)
    change(small)
    with pytest.raises(GrowthRefused, match=message):
        grow(small, 2)


@pytest.mark.canary
def test_a_class_whose_method_was_replaced_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modeling_llama.LlamaMLP, "forward", Clamped.forward)
    with pytest.raises(GrowthRefused, match=r"layers\.0\.mlp: got the method .*Clamped\.forward"):
        grow(model(LLAMA), 2)


@pytest.mark.canary
def test_positions_are_compared_up_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of the class's own file, which no look at the modules can see."""
    true = modeling_llama.rotate_half

    def late(x: torch.Tensor) -> torch.Tensor:
        turned = true(x)
        return turned * torch.arange(1, 1 + x.shape[-1]) if late.far else turned

    late.far = False  # type: ignore[attr-defined]
    inner = modeling_llama.LlamaModel.forward

    def forward(self: Any, *args: Any, **options: Any) -> Any:
        positions = options.get("position_ids")
        late.far = positions is not None and int(positions.max()) > 1000  # type: ignore[attr-defined]
        return inner(self, *args, **options)

    forward.__qualname__, forward.__module__ = "LlamaModel.forward", modeling_llama.__name__
    monkeypatch.setattr(modeling_llama, "rotate_half", late)
    monkeypatch.setattr(modeling_llama.LlamaModel, "forward", forward)
    with pytest.raises(GrowthFailed, match=r"positions up to 2047: relative error"):
        grow(model(LLAMA), 2)


@pytest.mark.canary
@pytest.mark.parametrize(("place", "where"), [
    ("training", r"training mode without dropout.*: relative error"),
    ("cache", r"a step with a cache: relative error"),
])  # fmt: skip
def test_training_mode_and_a_cache_are_compared(
    place: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that looks at its width in training only, or with a cache only."""
    inner = modeling_llama.LlamaMLP.forward
    state = {"training": False, "cache": False}
    outer = modeling_llama.LlamaModel.forward

    def watched(self: Any, *args: Any, **options: Any) -> Any:
        # by whatever name: `past_key_values` up to transformers 5.23, `cache` since
        past = [one for one in (*args, *options.values()) if hasattr(one, "get_seq_length")]
        state["cache"] = any(one.get_seq_length() > 0 for one in past)
        state["training"] = self.training
        return outer(self, *args, **options)

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        return inner(self, x) * (x.shape[-1] if state[place] else 1)

    for kind, made, name in (("LlamaMLP", forward, "LlamaMLP"), ("LlamaModel", watched, "")):
        made.__qualname__, made.__module__ = f"{name or kind}.forward", modeling_llama.__name__
        monkeypatch.setattr(getattr(modeling_llama, kind), "forward", made)
    with pytest.raises(GrowthFailed, match=where):
        grow(model(LLAMA), 2)


def _loaded(m: Any, folder: Path) -> Any:
    m.save_pretrained(folder)
    return type(m).from_pretrained(folder)


def _resized(m: Any, folder: Path) -> Any:
    m.resize_token_embeddings(23)
    return m


def _watched(m: Any, folder: Path) -> Any:
    m.set_attn_implementation("eager")
    m(torch.arange(5)[None], output_attentions=True, output_hidden_states=True)
    return m


def _trained(m: Any, folder: Path) -> Any:
    optimiser = torch.optim.AdamW(m.parameters())
    m(input_ids=torch.arange(5)[None], labels=torch.arange(5)[None]).loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    return m


def _pickled(m: Any, folder: Path) -> Any:
    return pickle.loads(pickle.dumps(m))


@pytest.mark.parametrize("used", [_loaded, _resized, _watched, _trained, _pickled])
@pytest.mark.parametrize("kind", [LLAMA, GPT2, "BERT, GELU, tied", "Gemma 3, tied", "OPT, tied"])
def test_a_model_that_was_used_still_grows(
    kind: str, used: Callable[..., Any], tmp_path: Path
) -> None:
    small = used(model(kind), tmp_path)
    found = compare(small, grow(small, 2))
    assert found.worst <= 1e-12 and not found.lost


def test_dropout_and_checkpointing_are_carried_over() -> None:
    small = model(LLAMA)
    small.model.layers[0].self_attn.attention_dropout = 0.3
    enable = getattr(small, "activation_checkpointing_enable", small.gradient_checkpointing_enable)
    enable()
    large = grow(small, 2)
    assert large.model.layers[0].self_attn.attention_dropout == 0.3
    assert large.model.layers[0].gradient_checkpointing
    for one, other in zip(small.modules(), large.modules(), strict=True):
        assert len(one._forward_hooks) == len(other._forward_hooks)


def test_what_is_lost_is_listed() -> None:
    small = model(GPT2)
    small.transformer.note = "mine"
    small.lm_head.weight.no_decay = True
    small(torch.arange(5)[None]).logits.sum().backward()
    found = compare(small, grow(small, 2))
    assert set(found.lost) == {"transformer.note", "transformer.wte.weight.no_decay", "gradients"}
    assert compare(model(GPT2), grow(model(GPT2), 2)).lost == ()
