"""Grown and trained on is trained on and grown, by the rates that `grow_optimiser` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from growth_models import model

from weightwise.growth import (
    GrowthRefused,
    clean_float64,
    compare,
    grow,
    grow_optimiser,
    training,
)

Make = Callable[[Any], torch.optim.Optimizer]
OPTIMISERS: dict[str, Make] = {
    "SGD": lambda groups: torch.optim.SGD(groups, lr=0.002, weight_decay=0.01),
    "momentum": lambda groups: torch.optim.SGD(
        groups, lr=0.002, momentum=0.9, weight_decay=0.01, nesterov=True
    ),
    "Adam": lambda groups: torch.optim.Adam(
        groups, lr=0.003, weight_decay=0.01, eps=1e-5, amsgrad=True
    ),
    "AdamW": lambda groups: torch.optim.AdamW(groups, lr=0.003, weight_decay=0.1, eps=1e-4),
    "Adam as AdamW": lambda groups: torch.optim.Adam(
        groups, lr=0.003, weight_decay=0.1, eps=1e-4, decoupled_weight_decay=True
    ),
}
KINDS = ["BERT, GELU, tied", "GPT-2, tied", "Llama, untied", "T5 v1.0", "RoFormer"]
TODAY = ["Qwen3, tied", "Gemma, tied", "Gemma 2, untied", "Mixtral, untied", "OLMo2, untied"]
FUSED = ["Phi-3, tied", "GPT-NeoX, untied", "ModernBERT, tied"]


def groups_of(m: Any) -> list[dict[str, Any]]:
    """Two groups, as is usual: no decay for gains and biases."""
    plain = [p for name, p in m.named_parameters() if p.ndim > 1 and p.requires_grad]
    other = [p for name, p in m.named_parameters() if p.ndim < 2 and p.requires_grad]
    return [{"params": plain}, {"params": other, "weight_decay": 0.0}]


def losses(m: Any, optimiser: torch.optim.Optimizer, steps: int) -> torch.Tensor:
    """The losses before each step, the tokens always the same."""
    source, found = torch.Generator().manual_seed(1), []
    for _ in range(steps):
        tokens = torch.randint(19, (2, 8), generator=source)
        more = {"decoder_input_ids": tokens} if m.config.is_encoder_decoder else {}
        with clean_float64(), torch.enable_grad():
            logits = m(tokens, **more).logits
            loss = torch.nn.functional.cross_entropy(
                logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
            )
            optimiser.zero_grad()
            loss.backward()
        optimiser.step()
        found.append(loss.item())
    return torch.tensor(found, dtype=torch.float64)


def apart(kind: str, make: Make, *, k: int = 2, steps: int = 6, before: int = 3) -> float:
    """How far the losses of the grown model are from the small one's, which it follows."""
    small = model(kind, embeddings=0.5)
    optimiser = make(groups_of(small))
    losses(small, optimiser, before)  # so that there is a state to grow
    large = grow(small, k, check=False)
    follows = grow_optimiser(optimiser, small, large)
    one, other = losses(small, optimiser, steps), losses(large, follows, steps)
    assert (one[0] - one[-1]).abs() > 1e-3  # something was learnt
    return float((one - other).abs().max())


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_grown_model_follows_the_small_one(kind: str, name: str) -> None:
    assert apart(kind, OPTIMISERS[name], k=3) <= 1e-9


@pytest.mark.parametrize("name", ["momentum", "Adam", "AdamW"])  # of each rule the most general
@pytest.mark.parametrize("kind", TODAY)
def test_so_do_classes_of_today(kind: str, name: str) -> None:
    assert apart(kind, OPTIMISERS[name]) <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"), [("GPT-2, tied", "AdamW"), ("Llama, untied", "momentum")]
)
def test_two_hundred_steps(kind: str, name: str) -> None:
    assert apart(kind, OPTIMISERS[name], steps=200) <= 1e-8


@pytest.mark.parametrize("kind", FUSED)
def test_of_a_weight_that_query_key_and_value_share_sgd_alone_follows(kind: str) -> None:
    """Rotary pairs stand once and values k times: entries grew by different factors."""
    assert apart(kind, OPTIMISERS["momentum"]) <= 1e-9
    refused = r"(qkv_proj|Wqkv|query_key_value)\.weight: entries have grown by .*Adam would"
    with pytest.raises(GrowthRefused, match=refused):
        apart(kind, OPTIMISERS["Adam"])


def test_the_states_are_the_same_function_afterwards() -> None:
    small = model("Llama, untied", embeddings=0.5)
    optimiser = OPTIMISERS["Adam"](groups_of(small))
    large = grow(small, 2)
    follows = grow_optimiser(optimiser, small, large)
    for m, o in ((small, optimiser), (large, follows)):
        losses(m, o, 20)
    found = compare(small, large, tolerance=1e-9)
    assert found.worst <= 1e-9 and not found.broken


def test_a_schedule_goes_on() -> None:
    small = model("GPT-2, tied", embeddings=0.5)
    optimiser = OPTIMISERS["AdamW"](groups_of(small))
    torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 / (1 + step))
    large = grow(small, 2)
    follows = grow_optimiser(optimiser, small, large)
    assert [g["initial_lr"] for g in follows.param_groups] == [
        g["lr"] for g in follows.param_groups
    ]


@pytest.mark.canary
@pytest.mark.parametrize(("name", "option"), [
    ("momentum", "lr"), ("momentum", "weight_decay"), ("Adam", "lr"), ("Adam", "weight_decay"),
    ("Adam", "eps"), ("AdamW", "lr"), ("AdamW", "weight_decay"), ("AdamW", "eps"),
])  # fmt: skip
def test_a_factor_forgotten_is_seen(
    name: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(OPTIMISERS[name]([torch.nn.Parameter(torch.ones(1))]))
    true = training.FOLLOWS[kind]
    monkeypatch.setitem(training.FOLLOWS, kind, lambda φ, ρ: {**true(φ, ρ), option: 1.0})
    assert apart("Llama, untied", OPTIMISERS[name]) > 1e-7


@pytest.mark.canary
def test_a_state_left_behind_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_grown_state", lambda state, rule: {})
    assert apart("GPT-2, tied", OPTIMISERS["momentum"]) > 1e-6


def test_noise_makes_it_leave() -> None:
    small = model("GPT-2, tied", embeddings=0.5)
    optimiser = OPTIMISERS["momentum"](groups_of(small))
    large = grow(small, 2, noise=0.3)
    follows = grow_optimiser(optimiser, small, large)
    one, other = losses(small, optimiser, 30), losses(large, follows, 30)
    assert abs(one[0] - other[0]) <= 1e-12 and (one - other).abs().max() > 1e-3


def test_what_cannot_be_followed_is_refused() -> None:
    small = model("Gemma, tied")
    large = grow(small, 2)
    with pytest.raises(GrowthRefused, match=r"got Adagrad; accepted: torch's SGD, Adam, AdamW"):
        grow_optimiser(torch.optim.Adagrad(small.parameters()), small, large)
    with pytest.raises(GrowthRefused, match=r"model\.norm\.weight: decay pulls w to zero"):
        grow_optimiser(torch.optim.AdamW(small.parameters()), small, large)
    with pytest.raises(GrowthRefused, match=r"a parameter that the small model has not"):
        grow_optimiser(torch.optim.SGD(large.parameters()), small, large)
