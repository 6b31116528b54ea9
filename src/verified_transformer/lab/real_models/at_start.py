"""Layers of real classes at the sizes in which they were released, as their classes initialise."""

from __future__ import annotations

from typing import Any

import torch

from ...seeds import generator, seed_of
from ..layers.dense import standard_normal


def t5_attention(
    name: str, *, gated: bool = False, query: float | None = None, key: float | None = None
) -> Any:
    """Return the self-attention of a first layer of T5-small: width 512, eight heads of 64.

    Args:
        name: what the seed is derived from.
        gated: T5 1.1 in the place of T5.
        query, key: standard deviations to draw the two layers from instead of the class's own.

    Example:
        >>> layer = t5_attention("an example")
        >>> layer.q.weight.std() < layer.k.weight.std() / 7
        tensor(True)
    """
    from .hugging_face import transformers

    kind = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False} if gated else {}
    config = transformers.T5Config(vocab_size=8, d_ff=8, num_layers=1, **kind)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        layer = transformers.T5EncoderModel(config).eval().encoder.block[0].layer[0].SelfAttention
    with torch.no_grad():
        for part, spread in (("q", query), ("k", key)):
            if spread is not None:
                source = generator(f"{name} {part}")  # or equal spreads would be equal weights
                getattr(layer, part).weight.normal_(0, spread, generator=source)
    return layer


def t5_logits(layer: Any, name: str = "tokens of T5", *, tokens: int = 128) -> torch.Tensor:
    """Return the undivided logits of a layer's first head, of pairs of different tokens.

    Args:
        layer: of `t5_attention`.
        name: what the seed of the tokens is derived from; they are normalised.
        tokens: how many.

    Returns:
        Logits, (tokens * (tokens - 1),).
    """
    x = torch.nn.functional.rms_norm(standard_normal(name, tokens, 512), (512,))
    q, k = (part.weight[:64].double() for part in (layer.q, layer.k))
    return ((x @ q.mT) @ (x @ k.mT).mT)[~torch.eye(tokens, dtype=torch.bool)]
