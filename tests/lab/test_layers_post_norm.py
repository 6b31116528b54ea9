"""Post Norm stacks, read at their norms."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from verified_transformer.lab.real_models.at_start import t5_attention
from verified_transformer.lab.real_models.post_norm import (
    encoder_stack,
    first_state,
    memorised,
    observed,
    original_at_start,
)


class Sublayer(nn.Module):
    """A Post Norm sublayer whose branch is a fixed multiple of other coordinates."""

    def __init__(self, gain: float) -> None:
        super().__init__()
        self.norm, self.gain = nn.LayerNorm(8, eps=0.0), gain

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.norm(x + self.gain * x.roll(1, -1))
        return out


def stack(gain: float, depth: int = 3) -> nn.Sequential:
    return nn.Sequential(*(Sublayer(gain) for _ in range(depth)))


def test_no_branch_leaves_everything() -> None:
    net = stack(0.0)
    seen = observed([s.norm for s in net], net, first_state("all", 2, 5, 8))
    assert seen.gains == pytest.approx([0, 0, 0]) and seen.share == pytest.approx(1, rel=1e-5)
    assert seen.gradients[-1] == 1 and len(seen.gradients) == 4


def test_gains_and_share() -> None:
    net = stack(0.5, depth=1)
    seen = observed([net[0].norm], net, first_state("some", 400, 5, 8))
    assert seen.gains == pytest.approx([0.25], rel=1e-4)
    assert seen.predicted_share == pytest.approx(1 / 1.25, rel=1e-4)


def test_likeness_of_equal_tokens_is_one() -> None:
    x = first_state("one token", 1, 1, 8).detach().expand(1, 4, 8).clone().requires_grad_()
    net = stack(0.3)
    assert observed([s.norm for s in net], net, x).likeness == pytest.approx([1] * 4, rel=1e-5)


def test_hooks_go() -> None:
    net = stack(0.3)
    observed([s.norm for s in net], net, first_state("hooks", 1, 4, 8))
    assert not any(s.norm._forward_hooks for s in net)


@pytest.mark.parametrize("grad, count", [(False, 1), (True, 0)])
def test_bad_input(grad: bool, count: int) -> None:
    net = stack(0.3, depth=1)
    x = first_state("bad", 1, 4, 8).detach().requires_grad_(grad)
    with pytest.raises(ValueError, match=f"got {count} norms, requires_grad={grad}; accepted:"):
        observed([net[0].norm][:count], net, x)


def test_original_is_the_same_at_every_call_and_leaves_the_generator_alone() -> None:
    before = torch.get_rng_state()
    first, again = (original_at_start("small", layers=2, d=128, tokens=8) for _ in range(2))
    assert first == again and len(first.gains) == 4
    assert torch.equal(torch.get_rng_state(), before)


def test_encoder_stack() -> None:
    x = torch.ones(1, 3, 16, dtype=torch.float64)
    assert encoder_stack("a", outputs=2)(x).shape == (1, 3, 2)
    net = encoder_stack("a", biases=0.0, norm_first=True)
    assert all((p == 0).all() for n, p in net.named_parameters() if "bias" in n)
    assert net[0].norm_first and not encoder_stack("a")[0].norm_first


@pytest.mark.parametrize("gated", [False, True])
def test_t5_attention(gated: bool) -> None:
    layer = t5_attention("T5", gated=gated)
    assert layer.q.weight.std().item() == pytest.approx((512 * 64) ** -0.5, rel=0.02)
    assert layer.k.weight.std().item() == pytest.approx(512**-0.5, rel=0.02)
    wide = t5_attention("T5", query=0.1, key=0.2)
    assert wide.q.weight.std().item() == pytest.approx(0.1, rel=0.02)
    assert wide.k.weight.std().item() == pytest.approx(0.2, rel=0.02)


def test_a_stack_of_either_kind_learns_by_heart() -> None:
    early, late = (memorised("a test", norm_first=True, steps=steps) for steps in (2, 60))
    assert late < 0.5 * early
