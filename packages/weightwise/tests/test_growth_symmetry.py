"""Copies have equal gradients and stay copies, unless noise that no state sees tells them apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from growth_models import KINDS, TODAY, model

from weightwise.growth import GrowthFailed, compare, filling, grow


def apart(grown: Any, module: str, k: int) -> float:
    """Largest difference between the gradients of copies in a weight's first axis, relative."""
    tokens = torch.arange(18).view(2, 9)
    logits = grown(tokens).logits
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten() + 1).backward()
    gradient = grown.get_submodule(module).weight.grad
    copies = gradient.unflatten(0, (-1, k))
    return float((copies - copies[:, :1]).abs().max() / gradient.abs().max())


@pytest.mark.parametrize("kind", [*KINDS, *(f"{kind}, tied" for kind in TODAY)])
def test_noise_leaves_the_function_alone(kind: str) -> None:
    small = model(kind)
    large = grow(small, 2, noise=0.5, generator=torch.Generator().manual_seed(3))
    found = compare(small, large)
    assert found.clean <= 1e-12 and not found.broken
    plain = grow(small, 2)
    same = [torch.equal(a, b) for a, b in zip(plain.parameters(), large.parameters(), strict=True)]
    assert 0 < sum(same) < len(same)


@pytest.mark.parametrize("module", ["intermediate.dense", "attention.self.value", "output.dense"])
def test_copies_part_with_noise_alone(module: str) -> None:
    place = f"bert.encoder.layer.0.{module}"
    small = model("BERT, GELU, tied")
    assert apart(grow(small, 3), place, 3) <= 1e-13
    assert apart(grow(small, 3, noise=0.3), place, 3) > 1e-2


@pytest.mark.parametrize(("kind", "place"), [
    ("Llama, untied", "model.layers.0.self_attn"),
    ("RoFormer", "roformer.encoder.layer.0.attention.self"),
])  # fmt: skip
def test_empty_rotary_slots_are_dead_without_noise(kind: str, place: str) -> None:
    small = model(kind)
    query = "q_proj" if kind.startswith("Llama") else "query"
    plain = grow(small, 2).get_submodule(f"{place}.{query}").weight
    empty = (plain == 0).all(1)
    assert int(empty.sum()) == len(plain) // 2
    found = []
    for noise in (0.0, 0.3):
        large = grow(small, 2, noise=noise)
        weight = large.get_submodule(f"{place}.{query}").weight
        large(torch.arange(9)[None]).logits.square().mean().backward()
        found.append(float(weight.grad[empty].abs().max() / weight.grad.abs().max()))
    assert found[0] == 0 and found[1] > 1e-3


@pytest.mark.canary
@pytest.mark.parametrize("kind", ["GPT-2, tied", "Llama, untied"])
def test_noise_that_is_seen_goes_red(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling.rules, "unseen", lambda change, row, axes: change)
    with pytest.raises(GrowthFailed, match=r"(c_attn|q_proj), its output"):
        grow(model(kind), 2, noise=0.1)
