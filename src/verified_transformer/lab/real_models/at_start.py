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


def spread_at_start(name: str, parameter: str, **sizes: Any) -> float:
    """Return the standard deviation with which a class of transformers starts a parameter.

    Args:
        name: of the class, such as ``"BertModel"``.
        parameter: its name in the model.
        sizes: settings of the class's configuration that are to be others.

    Raises:
        ValueError: the class has no parameter of this name.

    Example:
        >>> dense = "encoder.layer.0.intermediate.dense.weight"
        >>> found = spread_at_start("BertModel", dense, num_hidden_layers=1, vocab_size=9)
        >>> round(found, 4)
        0.02
    """
    from .hugging_face import transformers

    cls = getattr(transformers, name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(f"spread at the start of {name}") % 2**63)
        found = dict(cls(cls.config_class(**sizes)).named_parameters())
    if parameter not in found:
        raise ValueError(f"parameter: got {parameter!r}; accepted: {', '.join(found)}")
    return found[parameter].detach().double().std().item()


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
