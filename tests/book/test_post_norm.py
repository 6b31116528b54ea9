"""Post Norm stacks, read at their norms."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from verified_transformer.book.real_models import post_norm
from verified_transformer.book.real_models.at_start import first_attention
from verified_transformer.book.real_models.hugging_face import drawn_once, transformers
from verified_transformer.book.real_models.post_norm import (
    first_state,
    observed,
    original_at_start,
    sinusoids,
    torch_at_start,
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


def test_a_larger_first_state_changes_nothing_but_its_unit() -> None:
    net, x = stack(0.5), first_state("scaled", 2, 5, 8).detach()
    norms = [s.norm for s in net]
    one, larger = (observed(norms, net, (c * x).requires_grad_()) for c in (1.0, 3.0))
    assert larger.share == pytest.approx(one.share, rel=1e-4)
    assert larger.gradients == pytest.approx(one.gradients, rel=1e-4)
    assert larger.likeness == pytest.approx(one.likeness, abs=1e-5)


def test_torch_is_the_same_at_every_call_and_leaves_the_generator_alone() -> None:
    before = torch.get_rng_state()
    first, again = (torch_at_start("small", layers=2, d=128, tokens=8) for _ in range(2))
    assert first == again and len(first.gains) == 4
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("apart", [False, True])
def test_the_original_starts_as_its_authors_code(apart: bool) -> None:
    net = nn.Transformer(512, 8, 1, 1, 2048, batch_first=True).requires_grad_(False)
    post_norm._as_in_2017(net, torch.Generator().manual_seed(1), apart)
    coder, decoder = net.encoder.layers[0], net.decoder.layers[0]
    own, across = coder.self_attn.in_proj_weight, decoder.multihead_attn.in_proj_weight
    square = 1 / 512  # 2 / (512 + 512)
    for part, variance in (
        (own, square if apart else 2 / (512 + 1536)),
        (across[:512], square),
        (across[512:], square if apart else 2 / (512 + 1024)),
        (coder.self_attn.out_proj.weight, square),
        (coder.linear1.weight, 2 / 2560), (coder.linear2.weight, 2 / 2560),
    ):  # fmt: skip
        assert part.var().item() == pytest.approx(variance, rel=0.02)
        assert part.abs().max().item() <= (3 * variance) ** 0.5 * (1 + 1e-6)
    assert not coder.linear1.bias.any() and bool((coder.norm1.weight == 1).all())


def test_the_original_has_two_stacks_and_its_decoder_looks_at_the_encoder() -> None:
    seen, alone = (original_at_start("both", tokens=8, looks_back=b) for b in (True, False))
    assert (len(seen.encoder.gains), len(seen.decoder.gains)) == (12, 18)
    assert seen.encoder == alone.encoder
    assert min(seen.decoder.gains[1::3]) > 0.3 and max(alone.decoder.gains[1::3]) == 0
    assert alone.decoder.gradients[0] > 2 * seen.decoder.gradients[0]


def test_positions_are_sines_and_cosines_from_one_to_ten_thousand() -> None:
    table = sinusoids(5, 8)
    assert table[3, 0].item() == pytest.approx(torch.tensor(3.0).sin().item())
    assert table[3, 7].item() == pytest.approx(torch.tensor(3e-4).cos().item())
    assert (table[:, :4] ** 2 + table[:, 4:] ** 2).flatten().tolist() == pytest.approx([1] * 20)


def test_the_first_attention_of_a_class_is_read_as_it_runs() -> None:
    seen = first_attention("GPT2Model", "read", tokens=12, queries=4)
    assert seen.keys.shape == (12, 12, 64) and seen.logits.shape == (12, 4, 12)
    assert seen.logits[:, 0, 9:].isinf().all() and seen.logits[:, 3].isfinite().all()
    at_logits, at_query = seen.gradients(seen.divided, "arriving")
    assert at_logits.shape == at_query.shape == (48,)


@pytest.mark.parametrize("kind", ["BertModel", "GPT2LMHeadModel", "LlamaModel"])
def test_a_class_drawn_once_starts_as_it_does_by_itself(kind: str) -> None:
    cls = getattr(transformers, kind)
    sizes = {"hidden_size": 384, "num_hidden_layers": 1, "vocab_size": 500}
    config = cls.config_class(**sizes, num_attention_heads=4)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        usual, once = cls(config), drawn_once(cls, config)
    assert not once.training and once.state_dict().keys() == usual.state_dict().keys()
    for name, own in usual.named_parameters():
        spread, mean = own.std().item(), own.mean().item()
        other = once.get_parameter(name)
        assert other.std().item() == pytest.approx(spread, rel=0.1)
        assert other.mean().item() == pytest.approx(mean, abs=2e-3)
    for name, buffer in usual.named_buffers():
        assert torch.equal(buffer, once.get_buffer(name))
