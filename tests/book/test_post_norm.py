"""Real classes at their start: how they are drawn; what is read of them, notebooks print."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from verified_transformer.book.real_models import post_norm
from verified_transformer.book.real_models.at_start import one_layer
from verified_transformer.book.real_models.hugging_face import drawn_again, drawn_once, transformers
from verified_transformer.book.real_models.post_norm import first_state, observed, torch_at_start


def test_hooks_go() -> None:
    net = nn.Sequential(nn.LayerNorm(8), nn.LayerNorm(8))
    observed(net, net, first_state("hooks", 1, 4, 8))
    assert not any(norm._forward_hooks for norm in net)


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


def test_a_class_drawn_again_starts_as_one_drawn_once() -> None:
    config = transformers.BertConfig(hidden_size=24, num_hidden_layers=1, vocab_size=5)
    used = drawn_once(transformers.BertModel, config)
    for part in used.parameters():
        nn.init.constant_(part, 7.0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        once = drawn_once(transformers.BertModel, config)
        torch.manual_seed(0)
        again = drawn_again(used)
    for name, weight in once.named_parameters():
        assert torch.equal(weight, again.get_parameter(name))


@pytest.mark.parametrize("kind", ["BertModel", "LlamaModel"])
def test_what_is_left_out_of_a_layer_does_not_move_its_attention(kind: str) -> None:
    model, ids = one_layer(kind, "a layer", tokens=16)
    whole = drawn_once(type(model), model.config)
    whole.load_state_dict(model.state_dict(), strict=False)
    found, expected = (each(ids, output_attentions=True).attentions[0] for each in (model, whole))
    assert torch.equal(found, expected)


def test_a_class_is_drawn_where_transformers_has_replaced_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(transformers, "initialization", raising=False)
    config = transformers.LlamaConfig(num_hidden_layers=1, hidden_size=32, vocab_size=5)
    assert drawn_once(transformers.LlamaModel, config).norm.weight.sum() == 32
