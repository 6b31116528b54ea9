"""Decoders whose attention fades with the distance, by slopes (ALiBi): BLOOM and MPT."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..body import Body, Norm
from ..settings import Settings
from .layered import layered


def bloom(s: Settings) -> Body:
    s.refuse(apply_residual_connection_post_layernorm=False)
    heads = s.whole("n_head", "num_attention_heads")
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * i / power) for i in range(1, power + 1)]
    slopes += [2 ** (-4 * i / power) for i in range(1, 2 * (heads - power) + 1, 2)]
    body = _sloped(s, slopes, activation="gelu_new")
    norm = body.stack.norm
    note = "a norm makes the embeddings loud in the stream, and the head is tied to the table"
    return replace(body, stack=replace(body.stack, first=norm), notes=(note,))


def mpt(s: Settings) -> Body:
    heads, looks = s.whole("n_heads"), s.get("attn_config", default={})
    looks = looks if isinstance(looks, dict) else looks.to_dict()
    for name, wanted in (("alibi", True), ("clip_qkv", None)):
        if (got := looks.get(name, wanted)) != wanted:
            raise ValueError(
                f"model_or_config: got attn_config.{name} = {got!r}; accepted: {wanted!r}"
            )
    power = 2 ** math.ceil(math.log2(heads))
    most = looks.get("alibi_bias_max", 8)
    slopes = [2 ** (-most * i / power) for i in range(1, power + 1)]
    if power != heads:
        slopes = (slopes[1::2] + slopes[::2])[:heads]
    return _sloped(s, slopes, activation="gelu", scale=looks.get("softmax_scale"))


def _sloped(s: Settings, slopes: list[float], **others: Any) -> Body:
    d = s.whole("hidden_size", "n_embed", "n_embd", "d_model")
    return layered(
        s,
        norm=Norm("layer", s.deviation("layer_norm_epsilon", default=1e-5)),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        inner=4 * d,
        slopes=tuple(slopes),
        **others,
    )
