"""A mixture of copies is the dense model until its experts part; what it cannot hold is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from growth_models import model
from transformers import MistralForCausalLM

from weightwise.growth import (
    GrowthFailed,
    GrowthRefused,
    compare,
    grow,
    mixture,
    upcycle,
)
from weightwise.growth.verify import logits_apart

KINDS = [f"{kind}, {how}" for kind in ("Mistral", "Qwen3") for how in ("tied", "untied")]
TOKENS = torch.arange(18).view(2, 9)


def mixed(kind: str, experts: int = 4, **options: Any) -> tuple[Any, Any]:
    small = model(kind, **options)
    large = upcycle(small, experts, generator=torch.Generator().manual_seed(0))
    large.config._experts_implementation = "eager"
    return small, large


@pytest.mark.parametrize("kind", [*KINDS, "Llama, untied", "Llama 3.1's frequencies"])
def test_the_function_stays_and_grows_on(kind: str, tmp_path: Path) -> None:
    small, large = mixed(kind)
    assert logits_apart(small, large) <= 1e-12
    with torch.no_grad():
        one, other = small(TOKENS).logits, large(TOKENS).logits
    assert (one - other).abs().max() <= 1e-5 * one.abs().max()
    assert compare(large, grow(large, 2)).worst <= 1e-12
    large.save_pretrained(tmp_path)
    loaded = type(large).from_pretrained(tmp_path, dtype=torch.float64).eval()
    assert logits_apart(small, loaded) <= 1e-12
    how = {"max_new_tokens": 6, "do_sample": False}
    assert torch.equal(*(m.generate(TOKENS[:1], **how) for m in (small, large)))


def test_frequencies_are_not_rounded_with_the_weights(tmp_path: Path) -> None:
    model("Mistral, tied", dtype=torch.bfloat16).save_pretrained(tmp_path)
    small = MistralForCausalLM.from_pretrained(tmp_path)
    large = upcycle(small, 4)
    assert {each.dtype for each in large.parameters()} == {torch.bfloat16}
    assert large.model.rotary_emb.inv_freq.dtype == torch.float32


@pytest.mark.parametrize("kind", ["Mistral, tied", "Qwen3, untied"])
def test_experts_part_in_training(kind: str) -> None:
    _, large = mixed(kind)
    optimiser = torch.optim.SGD(large.parameters(), lr=0.1)
    experts = large.model.layers[0].mlp.experts.down_proj
    routed = []
    for _ in range(2):
        optimiser.zero_grad()
        large(TOKENS, labels=TOKENS).loss.backward()
        routed.append(float(large.model.layers[0].mlp.gate.weight.grad.abs().max()))
        optimiser.step()
    assert routed[0] < 1e-6 < routed[1]
    assert (experts[0] - experts[1]).abs().max() > 1e-6


@pytest.mark.canary
def test_what_a_mixture_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, message in (
        ("GPT-2, tied", r"model: got GPT2LMHeadModel; accepted: LlamaForCausalLM, Mistral"),
        (
            "Llama, tied, biases, head size 6, eager",
            r"q_proj\.bias: MixtralForCausalLM has no plac",
        ),
    ):
        with pytest.raises(GrowthRefused, match=message):
            upcycle(model(kind), 4)
    tied = model("Mistral, untied")
    tied.lm_head.weight = tied.model.embed_tokens.weight
    with pytest.raises(GrowthRefused, match=r"lm_head\.weight: the model has it not; accepted"):
        upcycle(tied, 4)
    window = {"layer_types": ["sliding_attention"], "use_sliding_window": True}
    with pytest.raises(GrowthRefused, match=r"config\.layer_types: got sliding_attention"):
        upcycle(model("Qwen3, tied", **window), 4)
    for sizes, message in (
        ({"experts": 1}, r"active: got 2; accepted: from 1 to 1, as experts are"),
        ({"experts": 2.5}, r"experts: got 2\.5; accepted: a whole number"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            upcycle(model("Mistral, tied"), **sizes)  # type: ignore[arg-type]


@pytest.mark.canary
def test_shares_that_do_not_sum_to_one_go_red(monkeypatch: pytest.MonkeyPatch) -> None:
    true = mixture._empty

    def shared(kind: Any, small: Any, sizes: dict[str, Any]) -> Any:
        return true(kind, small, sizes | {"norm_topk_prob": False})

    monkeypatch.setattr(mixture, "_empty", shared)
    with pytest.raises(
        GrowthFailed, match=r"Qwen3MoeForCausalLM of Qwen3ForCausalLM: relative err"
    ):
        upcycle(model("Qwen3, tied"), 4)
