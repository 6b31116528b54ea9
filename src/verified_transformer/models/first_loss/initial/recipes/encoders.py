"""Encoders with a masked-token head, after BERT, and the encoder-decoders of T5."""

from __future__ import annotations

import math
from dataclasses import replace

from ..activations import ACTIVATIONS
from ..body import Attention, Body, Feedforward, Norm, Stack
from ..settings import Settings, decoder


def bert(s: Settings, activation: str | None = None, hidden: str = "gelu") -> Body:
    σ = s.deviation("initializer_range", default=0.02)
    norm = Norm("layer", s.deviation("layer_norm_eps", default=1e-12))
    between = s.activation("hidden_act", default=hidden)
    body = decoder(
        s,
        norm=norm,
        last=None,
        form="post",
        σ=σ,
        gated=False,
        activation=between,
        tied=bool(s.get("tie_word_embeddings", default=True)),
        positions=σ,
        types=σ,
        projected=σ,
        transform=(activation or between, norm),
    )
    causal = bool(s.get("is_decoder", default=False))
    return replace(body, stack=replace(body.stack, first=norm, causal=causal))


def narrow_bert(s: Settings, **others: str) -> Body:
    """ELECTRA's generator and ALBERT: tables and heads that are narrower than the stream."""
    d, σ = s.whole("hidden_size"), s.deviation("initializer_range", default=0.02)
    body = bert(s, **others)
    narrow = s.get("embedding_size", default=128)
    if narrow == d:
        return body
    # the norm stands in the narrow space: words, positions and types are a third each of a row of
    # second moment one, which a matrix of deviation σ then makes wide
    factor = math.sqrt(narrow / 3)
    return replace(
        body, factor=factor, positions=factor * σ, types=factor * σ, head_width=narrow,
        stack=replace(body.stack, first=None),
    )  # fmt: skip


def albert(s: Settings) -> Body:
    body = narrow_bert(s, hidden="gelu_new")
    return replace(body, notes=("its layers share their matrices; here each has its own",))


def distilbert(s: Settings) -> Body:
    s.refuse(sinusoidal_pos_embds=False)
    σ, norm = s.deviation("initializer_range", default=0.02), Norm("layer", 1e-12)
    between = s.activation("activation", default="gelu")
    body = decoder(
        s, norm=norm, last=None, form="post", σ=σ, gated=False, activation=between,
        tied=bool(s.get("tie_word_embeddings", default=True)), positions=σ, projected=σ,
        inner=s.whole("hidden_dim"), transform=(between, norm),
    )  # fmt: skip
    return replace(body, stack=replace(body.stack, first=norm, causal=False))


def t5(s: Settings, scaled: bool | None) -> Body:
    d, width, heads = s.whole("d_model"), s.whole("d_kv"), s.whole("num_heads")
    f = s.deviation("initializer_factor", default=1.0)
    inner = s.whole("d_ff")
    kind = s.get("feed_forward_proj", default="relu" if scaled is None else "gated-gelu")
    gated, name = kind.startswith("gated-"), kind.removeprefix("gated-")
    name = "gelu_new" if kind == "gated-gelu" else name
    if name not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        got = f"feed_forward_proj = {kind!r}"
        raise ValueError(f"model_or_config: got {got}; accepted: {known}, gated- before it")
    if scaled is None:
        scaled = s.get("scale_decoder_outputs", "tie_word_embeddings", default=True) is not False
    norm = Norm("rms", s.deviation("layer_norm_epsilon", default=1e-6), f)
    looks = Attention(
        heads,
        width,
        f * (d * width) ** -0.5,
        f * d**-0.5,
        f * d**-0.5,
        f * (heads * width) ** -0.5,
        1.0,
        bias=f**2 / d,
    )
    cross = replace(looks, bias=0.0, cross=True)
    forward = Feedforward(inner, f * d**-0.5, f * inner**-0.5, name, gated)
    depth = s.whole("num_layers")
    decoder = Stack(
        ((looks, cross, forward),) * s.get("num_decoder_layers", default=depth),
        "pre", norm, last=norm,
    )  # fmt: skip
    encoder = Stack(((looks, forward),) * depth, "pre", norm, causal=False, last=norm)
    return Body(
        str(s.get("model_type")), s.whole("vocab_size"), d, f, decoder, encoder,
        scale=d**-0.5 if scaled else 1.0,
        notes=("transformers from 5 on ties the head of every T5, whatever the file says",),
    )  # fmt: skip
