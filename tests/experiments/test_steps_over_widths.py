"""The turns that the experiment takes are those of torch's Muon, and few directions are enough."""

from __future__ import annotations

import pytest
import torch

from long_runs.steps_over_widths import KINDS, Turns, drawn, five_turns, outputs
from verifiedbook.seeds import generator


def matrices(*shape: int) -> torch.Tensor:
    return torch.randn(3, *shape, generator=generator(f"gradients {shape}"))


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="came with torch 2.9")
@pytest.mark.parametrize("shape", [(24, 40), (40, 24)])
def test_turns_are_those_of_torch_but_for_bfloat16(shape: tuple[int, int]) -> None:
    ours, theirs = torch.zeros(shape), torch.zeros(shape)
    mine = Turns([{"params": [ours], "lr": 0.1}], rank=24)
    torchs = torch.optim.Muon([theirs.requires_grad_()], lr=0.1, weight_decay=0)
    for gradient in matrices(*shape):
        ours.grad, theirs.grad = gradient, gradient.clone()
        mine.step()
        torchs.step()
    assert (ours - theirs).norm() < 0.03 * theirs.norm()


@pytest.mark.parametrize("shape", [(64, 96), (96, 64)])
def test_few_directions_are_enough_where_there_are_few(shape: tuple[int, int]) -> None:
    low = matrices(shape[0], 6)[0] @ matrices(6, shape[1])[0]
    full = five_turns(low, 64)
    assert (five_turns(low, 6) - full).norm() < 1e-3 * full.norm()
    many = matrices(*shape)[0]
    assert (five_turns(many, 6) - five_turns(many, 64)).norm() > 0.5 * full.norm()


@pytest.mark.parametrize("kind", KINDS)
def test_every_linear_layer_and_block_is_looked_at(kind: str) -> None:
    found = outputs(drawn(kind, 16, 0, head=8), torch.tensor([[1, 2, 3]]))
    linear = {"gpt2": 6, "llama": 7, "qwen3": 7}[kind.partition(",")[0]]
    ends = {"wte", "wpe"} if linear == 6 else {"embed_tokens"}
    layers = found.keys() - ends - {"block", "logits"}
    assert len(layers) == linear and found.keys() >= ends | {"block", "logits"}
    assert all(len(each) == (1 if name in ends | {"logits"} else 4) for name, each in found.items())
