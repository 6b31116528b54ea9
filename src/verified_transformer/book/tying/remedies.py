"""The remedies for a tied head's first loss side by side, on models whose body is the identity."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import torch
from torch import nn

from verifiedbook.seeds import generator
from weightwise.first_loss import two_gram_loss
from weightwise.heads import ProjectedHead, ShuffledHead, channel_shuffle, half_swap

Features = Callable[[torch.Tensor], torch.Tensor]  # of states: what meets the table
MakeFeatures = Callable[[nn.Embedding, torch.Tensor], Features]  # of a generator's state, too


def projected(activation: Features | None = None) -> MakeFeatures:
    """Return a maker of features behind a dense layer whose matrix is random orthogonal.

    Args:
        activation: applied to the projected state, to which a random bias is added before; none:
            no bias either.
    """

    def make(table: nn.Embedding, state: torch.Tensor) -> Features:
        layer = _layer(table, state, activation is not None)
        return lambda h: layer.features(h) if activation is None else activation(layer.features(h))

    return make


@lru_cache(maxsize=1)
def _layer(table: nn.Embedding, state: torch.Tensor, biased: bool) -> ProjectedHead:
    """A dense layer before a table: activations that are tried in turn share it."""
    source = torch.Generator().set_state(state)
    layer = ProjectedHead(table, bias=biased, generator=source)
    if biased:
        nn.init.normal_(layer.projection.bias, std=0.5, generator=source)
    return layer


HEADS: dict[str, MakeFeatures] = {
    "projected": projected(),
    "ReLU": projected(torch.relu),
    "GELU": projected(nn.functional.gelu),
    "tanh": projected(torch.tanh),
    "ReLU, not rotated": lambda *_: torch.relu,
    "halves": lambda table, _: ShuffledHead(table, half_swap(table.embedding_dim)).features,
    "ShuffleNet": lambda table, _: (
        ShuffledHead(table, channel_shuffle(table.embedding_dim, 8)).features
    ),
}
REMEDIES = ("tied", "untied", *HEADS)


def two_gram_excess(
    n: int, d: int, σ: float, head: str = "tied", seed: int | str = 0, tokens: int = 256
) -> tuple[float, torch.Tensor]:
    """Measure the first loss above log n of a freshly drawn vocabulary behind one of the heads.

    Args:
        n: number of tokens of the vocabulary.
        d: length of an embedding.
        σ: standard deviation of an entry.
        head: one of `REMEDIES`.
        seed: which vocabulary.
        tokens: how many input tokens are averaged over.

    Returns:
        The mean excess in nats, and the tokens' own logits, (tokens,).

    Raises:
        ValueError: another head.
    """
    if head not in REMEDIES:
        raise ValueError(f"head: got {head!r}; accepted: {', '.join(REMEDIES)}")
    table, state = _vocabulary(n, d, σ, seed)
    made = torch.Generator().set_state(state)
    fresh = σ * torch.randn(n, d, generator=made) if head == "untied" else None
    features = HEADS[head](table, state) if head in HEADS else None
    with torch.no_grad():
        found = two_gram_loss(table.weight, torch.arange(tokens), features=features, output=fresh)
    assert found.own_logit is not None  # two_gram_loss excludes the own token
    return found.loss.mean().item() - math.log(n), found.own_logit


@lru_cache(maxsize=1)
def _vocabulary(n: int, d: int, σ: float, seed: int | str) -> tuple[nn.Embedding, torch.Tensor]:
    """A drawn table and the state of its generator: heads that are tried in turn share them."""
    made = generator(f"remedies {seed}")
    table = torch.empty(n, d).normal_(0.0, σ, generator=made)
    return nn.Embedding.from_pretrained(table), made.get_state()
