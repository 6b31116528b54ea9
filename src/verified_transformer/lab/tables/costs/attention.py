"""What attention does in a layer: statements on positions and heads, and what spoils them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .sequence_layers import (
    WIDTH,
    Layer,
    ReadsNeighbour,
    causal_mask,
    random,
    seeded,
    seeded_as,
    sees,
)

Parts = tuple[Layer, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]


def encoder_layer(name: str = "layer") -> Any:
    """Return an encoder layer of width 8 with two heads, with the seed of a name."""
    return seeded_as(name, lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True))


def two_heads(name: str = "layer") -> Any:
    """Return attention with two heads of width 4, with the seed of a name."""
    return seeded_as(name, lambda: nn.MultiheadAttention(8, 2, batch_first=True))


def transformer_parts(name: str) -> Parts:
    """Return the encoder of torch's Transformer, and its decoder of (target, memory).

    Args:
        name: of the seed.
    """
    model = seeded_as(name, lambda: nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True))
    return model.encoder, lambda y, memory: model.decoder(y, memory, tgt_mask=causal_mask(5))


def alone(parts: Parts) -> Parts:
    """Return the same encoder with a decoder that stands alone, which ignores the memory."""
    layer = encoder_layer()
    return parts[0], lambda y, memory: layer(y, src_mask=causal_mask(5)) + 0 * memory.sum()


def has_two_parts(parts: Parts) -> bool:
    """Whether the encoder sees the whole source, the prediction the source and what came before.

    Args:
        parts: encoder and decoder, as `transformer_parts` gives them.
    """
    encode, decode = parts
    source, target = random(1, 4, WIDTH, name="source"), random(1, 5, WIDTH, name="target")
    contextual = sees(encode, 4).all()
    uses_source = sees(lambda x: decode(target, encode(x)), 4).all()
    of_target = sees(lambda y: decode(y, encode(source)), 5)
    return bool(contextual and uses_source) and torch.equal(
        of_target, torch.ones(5, 5).tril().bool()
    )


def only_attention_connects(layer: Any, positions: int = 6) -> bool:
    """Whether all positions see each other, and each itself alone when attention is silenced.

    Args:
        layer: an encoder layer.
        positions: how many.
    """
    silent = copy.deepcopy(layer)
    nn.init.zeros_(silent.self_attn.out_proj.weight)
    nn.init.zeros_(silent.self_attn.out_proj.bias)
    each_alone = torch.eye(positions).bool()
    return bool(sees(layer, positions).all()) and torch.equal(sees(silent, positions), each_alone)


def reading_its_neighbour(layer: Any) -> Any:
    """Return a copy of a layer whose feed-forward part reads the position before as well."""
    other = copy.deepcopy(layer)
    other.linear1 = seeded(lambda: ReadsNeighbour(WIDTH, 16))
    return other


def heads_differ(attention: nn.MultiheadAttention) -> bool:
    """Whether each of two heads has a distribution over the positions, and they differ."""
    x = random(1, 6, WIDTH, name="input")
    _, weights = attention(x, x, x, average_attn_weights=False)
    one_each = torch.allclose(weights.sum(-1), torch.ones(1, 2, 6, dtype=torch.float64))
    return one_each and bool((weights[0, 0] - weights[0, 1]).abs().amax(-1).min() > 1e-6)


def second_as_first(attention: nn.MultiheadAttention) -> nn.MultiheadAttention:
    """Return a copy whose second head has the queries and the keys of the first."""
    same = copy.deepcopy(attention)
    with torch.no_grad():
        for start in (0, WIDTH):
            same.in_proj_weight[start + 4 : start + 8] = same.in_proj_weight[start : start + 4]
    return same


def connects_the_ends(layer: Layer) -> bool:
    """Whether the last of 4, 16 and 64 positions sees the first."""
    return all(bool(sees(layer, far)[-1, 0]) for far in (4, 16, 64))


def within_a_window(layer: Any, window: int = 8) -> Layer:
    """Return a layer whose positions see no further than a window.

    Args:
        layer: an encoder layer.
        window: the furthest distance.
    """

    def seen(x: torch.Tensor) -> Any:
        position = torch.arange(x.shape[1])
        return layer(x, src_mask=(position[:, None] - position).abs() > window)

    return seen
