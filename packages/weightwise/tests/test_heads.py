"""Output heads: each is the map it says it is, shares what it says, and refuses what it must."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from weightwise.heads import (
    ProjectedHead,
    ShuffledHead,
    TiedHead,
    UntiedHead,
    channel_shuffle,
    half_swap,
)

N, D = 11, 6


@pytest.fixture
def embedding() -> nn.Embedding:
    return nn.Embedding(N, D, dtype=torch.float64)


@pytest.fixture
def hidden() -> torch.Tensor:
    return torch.randn(2, 3, D, dtype=torch.float64)


def heads(embedding: nn.Embedding) -> list[nn.Module]:
    return [
        TiedHead(embedding),
        TiedHead(embedding, scale=D**-0.5, bias=True),
        ProjectedHead(embedding).double(),
        ProjectedHead(embedding, bias=True, activation=torch.tanh, output_bias=True).double(),
        ShuffledHead(embedding, half_swap(D), bias=True),
    ]


def test_logits_are_features_times_weight(embedding: nn.Embedding, hidden: torch.Tensor) -> None:
    for head in [*heads(embedding), UntiedHead(N, D, σ=0.3, bias=True).double()]:
        if head.bias is not None:
            nn.init.normal_(head.bias)
        expected = head.features(hidden) @ head.weight.T
        expected = expected if head.bias is None else expected + head.bias
        assert torch.allclose(head(hidden), expected, atol=1e-12)


def test_every_tied_head_shares_the_embedding(embedding: nn.Embedding) -> None:
    for head in heads(embedding):
        assert head.weight is embedding.weight
        assert sum(p is embedding.weight for p in head.parameters()) == 1


def test_scaled_head_is_the_first_t5s(embedding: nn.Embedding, hidden: torch.Tensor) -> None:
    scaled = TiedHead(embedding, scale=D**-0.5)(hidden)
    assert torch.allclose(scaled, TiedHead(embedding)(hidden) / math.sqrt(D), atol=1e-12)


def test_projection_is_orthogonal_and_no_identity(embedding: nn.Embedding) -> None:
    head = ProjectedHead(embedding, generator=torch.Generator().manual_seed(1)).double()
    p = head.projection.weight
    assert torch.allclose(p @ p.T, torch.eye(D, dtype=p.dtype), atol=1e-6)
    assert not torch.allclose(p, torch.eye(D, dtype=p.dtype), atol=0.1)
    again = ProjectedHead(embedding, generator=torch.Generator().manual_seed(1))
    assert torch.equal(again.projection.weight.double(), p)


def test_projection_has_what_was_asked(embedding: nn.Embedding, hidden: torch.Tensor) -> None:
    head = ProjectedHead(embedding, bias=True, activation=torch.relu).double()
    nn.init.normal_(head.projection.bias)
    expected = torch.relu(hidden @ head.projection.weight.T + head.projection.bias)
    assert torch.allclose(head.features(hidden), expected, atol=1e-12)


def test_untied_head_has_the_asked_spread() -> None:
    drawn = UntiedHead(400, 300, σ=0.07, generator=torch.Generator().manual_seed(0)).weight
    assert drawn.std().item() == pytest.approx(0.07, rel=0.02)


def test_half_swap_is_the_articles_concatenation(hidden: torch.Tensor) -> None:
    swapped = hidden[..., half_swap(D)]
    assert torch.equal(swapped, torch.cat([hidden[..., D // 2 :], hidden[..., : D // 2]], -1))
    assert half_swap(D)[half_swap(D)].tolist() == list(range(D))


@pytest.mark.parametrize("groups", [1, 2, 3, 4, 6, 12])
def test_channel_shuffle_is_reshape_transpose_flatten(groups: int) -> None:
    x = torch.randn(12)
    assert torch.equal(x[channel_shuffle(12, groups)], x.view(groups, -1).T.flatten())


@pytest.mark.parametrize(("d", "groups"), [(12, 3), (12, 4), (64, 8), (768, 12), (128, 16)])
def test_channel_shuffle_fixes_what_the_docstring_says(d: int, groups: int) -> None:
    order = channel_shuffle(d, groups).tolist()
    fixed = [i for i in range(d) if order[i] == i]
    assert fixed == [i for i in range(d) if i * (groups - 1) % (d - 1) == 0]


def test_wrong_arguments_are_named(embedding: nn.Embedding) -> None:
    with pytest.raises(ValueError, match=r"d: got 7; accepted: a positive even"):
        half_swap(7)
    with pytest.raises(ValueError, match=r"groups: got 5 for d = 12; accepted: a divisor"):
        channel_shuffle(12, 5)
    with pytest.raises(ValueError, match=r"order: got \[0, 0, 1, 2, 3, 4\]; accepted"):
        ShuffledHead(embedding, torch.tensor([0, 0, 1, 2, 3, 4]))
