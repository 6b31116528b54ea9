"""What was asked of a grown model is in it, and is still so after it was saved and loaded."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import growth_models
import pytest
import torch
from growth_models import model
from transformers import LlamaForCausalLM

from weightwise import is_tied
from weightwise.growth import GrowthRefused, compare, grow, growing, upcycle
from weightwise.growth.arrived import require_experts
from weightwise.growth.rules import Row
from weightwise.growth.verify import logits_apart


@pytest.mark.parametrize("kind", ["Mistral, tied", "Qwen3, untied", "Llama, untied"])
@pytest.mark.parametrize(("experts", "active"), [(3, 2), (5, 1)])
def test_a_mixture_has_the_experts_that_were_asked_for(
    kind: str, experts: int, active: int
) -> None:
    small = model(kind)
    large = upcycle(small, experts, active=active)
    routers = [module for name, module in large.named_modules() if name.endswith("mlp.gate")]
    assert len(routers) == small.config.num_hidden_layers
    assert {(len(each.weight), each.top_k) for each in routers} == {(experts, active)}
    matrices = [p for name, p in large.named_parameters() if ".experts." in name]
    assert matrices and {len(each) for each in matrices} == {experts}
    assert large.config.num_experts == experts


def test_a_mixture_that_did_not_take_the_number_is_refused() -> None:
    large = upcycle(model("Mistral, tied"), 4)
    with pytest.raises(GrowthRefused, match=r"experts, active: got 8 and 2, .* made 2 of 4; acc"):
        require_experts(large, 8, 2)


@pytest.mark.parametrize("tied", [True, False])
def test_a_tie_that_was_assigned_outlives_the_disk(tied: bool, tmp_path: Path) -> None:
    small = model("Llama, untied", tie_word_embeddings=not tied)
    if tied:
        small.lm_head.weight = small.model.embed_tokens.weight
    else:
        growth_models.untie(small)
    large = grow(small, 2)
    assert large.config.tie_word_embeddings is tied and is_tied(large) is tied
    assert small.config.tie_word_embeddings is not tied
    assert not compare(small, large).lost
    large.save_pretrained(tmp_path)
    loaded = LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.float64).eval()
    assert logits_apart(small, loaded) <= 1e-12


def test_a_tie_that_no_configuration_takes_away_is_told() -> None:
    small = model("T5 v1.0")
    growth_models.untie(small)
    (lost,) = compare(small, grow(small, 2)).lost
    assert lost.startswith("lm_head.weight, which its class shares otherwise when it is loaded")


def deaf(config: Any, *_: Any, **__: Any) -> Any:
    return type(config).from_dict(config.to_dict())


@pytest.mark.parametrize(("asked", "said"), [
    ({"feed_forward": 50}, "feed_forward: got 50, of which .*Llama.* made 20; accepted: a size"),
    ({"layers": 7}, "layers: got 7, of which the configuration .* made 2; accepted: a size"),
])  # fmt: skip
def test_a_size_that_did_not_arrive_is_refused(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, int], said: str
) -> None:
    monkeypatch.setattr(growing, "enlarged", deaf)
    with pytest.raises(GrowthRefused, match=said):
        grow(model("Llama, untied", intermediate_size=20, num_hidden_layers=2), **asked)


def test_a_size_that_no_array_has_is_refused() -> None:
    """An option of a mixture's configuration that only layers without experts would read."""
    small = model("Qwen3, mixture, tied")
    known = growing.described(small)
    axes = {"gate, up": "gate, up of an expert", "feed-forward": "expert"}
    rows = {path: Row(rule, axes.get(writes, writes), reads and axes.get(reads, reads))
            for path, (rule, writes, reads) in known.rows.items()}  # fmt: skip
    draft = dataclasses.replace(known, rows=rows, names={})
    assert compare(small, grow(small, 2, description=draft), description=draft).worst <= 1e-12
    with pytest.raises(GrowthRefused, match=r"feed_forward: got 99; accepted: None, as no array"):
        grow(small, feed_forward=99, description=draft)


def test_no_default_of_torchs_decides() -> None:
    """A bfloat16 has three digits: rows and positions by it would lie beyond the last."""
    small = model("GPT-2, tied", dtype=torch.float32, n_positions=300)
    usual = grow(small, 2).state_dict()
    torch.set_default_dtype(torch.bfloat16)
    try:
        found = grow(small, 2).state_dict()
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(torch.equal(value, found[name]) for name, value in usual.items())


class Compiled(torch.nn.Module):
    """torch.compile's wrapper has this name for what it holds."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self._orig_mod = inner


@pytest.mark.canary
@pytest.mark.parametrize(("wrapped", "said"), [
    (Compiled, r"a Compiled around a model; accepted: what it holds, model\._orig_mod"),
    (torch.nn.DataParallel, r"a DataParallel around a model; accepted: .*, model\.module"),
])  # fmt: skip
def test_a_wrapper_is_refused_and_says_what_it_holds(wrapped: Any, said: str) -> None:
    with pytest.raises(GrowthRefused, match=said):
        grow(wrapped(model("Llama, untied")), 2)
