"""Decoders with layer norms: after GPT-2, GPT-NeoX, OPT."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..body import Body, Norm
from ..settings import Settings, decoder, windows_of


def layered(s: Settings, **others: Any) -> Body:
    """A decoder with layer norms and no gates."""
    given: dict[str, Any] = {
        "norm": Norm("layer", s.deviation("layer_norm_eps", "norm_epsilon", default=1e-5)),
        "σ": s.deviation("initializer_range", default=0.02),
        "activation": s.activation("hidden_act", default="gelu"),
        "tied": bool(s.get("tie_word_embeddings", default=False)),
        "gated": False,
    }
    return decoder(s, **{**given, **others})


def neox(s: Settings) -> Body:
    beside = s.get("use_parallel_residual", default=True)
    return layered(s, form="parallel" if beside else "pre")


def stablelm(s: Settings) -> Body:
    beside = bool(s.get("use_parallel_residual", default=False))
    return layered(
        s,
        form="parallel" if beside else "pre",
        gated=True,
        activation=s.activation("hidden_act", default="silu"),
        normed=bool(s.get("qk_layernorm", default=False)),
    )


def persimmon(s: Settings) -> Body:
    return layered(
        s,
        activation=s.activation("hidden_act", default="relu2"),
        normed=bool(s.get("qk_layernorm", default=True)),
    )


def nemotron(s: Settings) -> Body:
    """Its norms multiply by one plus a weight, and the initialiser makes that weight one."""
    norm = Norm("layer", s.deviation("norm_eps", default=1e-5), 2.0)
    return layered(
        s,
        norm=norm,
        σ=s.deviation("initializer_range", default=0.0134),
        activation=s.activation("hidden_act", default="relu2"),
        notes=("gains are two: the norms add one to a weight that starts with one",),
    )


def falcon(s: Settings) -> Body:
    s.refuse(alibi=False)
    d = s.whole("hidden_size", "n_embed")
    beside = s.get("new_decoder_architecture", default=False) or s.get(
        "parallel_attn", default=True
    )
    return layered(
        s,
        norm=Norm("layer", s.deviation("layer_norm_epsilon", default=1e-5)),
        form="parallel" if beside else "pre",
        activation=s.activation("activation", default="gelu"),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        inner=s.get("ffn_hidden_size", default=4 * d),
    )


def starcoder2(s: Settings) -> Body:
    return layered(
        s,
        σ=s.deviation("initializer_range", default=0.018042),
        activation=s.activation("hidden_act", default="gelu_pytorch_tanh"),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        windows=windows_of(s, s.whole("num_hidden_layers")),
    )


def cohere(s: Settings) -> Body:
    s.refuse(use_qk_norm=False)
    return layered(
        s,
        form="parallel",
        gated=True,
        activation=s.activation("hidden_act", default="silu"),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        after=s.get("logit_scale", default=0.0625),
        windows=windows_of(s, s.whole("num_hidden_layers")),
    )


def gpt(s: Settings, **others: Any) -> Body:
    """The classes whose settings are called n_embd, n_layer, n_head."""
    d = s.whole("n_embd", "hidden_size")
    return layered(
        s,
        norm=Norm("layer", s.deviation("layer_norm_epsilon", default=1e-5)),
        inner=s.get("n_inner", "intermediate_size", default=4 * d),
        **{"activation": s.activation("activation_function", default="gelu_new"), **others},
    )


def gpt2(s: Settings) -> Body:
    s.refuse(add_cross_attention=False, scale_attn_by_inverse_layer_idx=False)
    σ = s.deviation("initializer_range", default=0.02)
    return gpt(
        s,
        tied=bool(s.get("tie_word_embeddings", default=True)),
        positions=σ,
        branch=1 / math.sqrt(2 * s.whole("n_layer", "num_hidden_layers")),
        scale=None if s.get("scale_attn_weights", default=True) else 1.0,
    )


def gpt_neo(s: Settings) -> Body:
    depth, window = s.whole("num_layers"), s.get("window_size", default=256)
    kinds = s.get("attention_layers", default=["global", "local"] * depth)
    return gpt(
        s,
        tied=bool(s.get("tie_word_embeddings", default=True)),
        positions=s.deviation("initializer_range", default=0.02),
        scale=1.0,
        windows=[window if kind == "local" else None for kind in kinds[:depth]],
    )


def bigcode(s: Settings) -> Body:
    s.refuse(add_cross_attention=False)
    return gpt(
        s,
        activation=s.activation("activation_function", default="gelu_pytorch_tanh"),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        positions=s.deviation("initializer_range", default=0.02),
        branch=1 / math.sqrt(2 * s.whole("n_layer", "num_hidden_layers")),
        scale=None if s.get("scale_attn_weights", default=True) else 1.0,
    )


def opt(s: Settings) -> Body:
    d, σ = s.whole("hidden_size"), s.deviation("init_std", default=0.02)
    norm, before = Norm("layer", 1e-5), bool(s.get("do_layer_norm_before", default=True))
    narrow = s.get("word_embed_proj_dim", default=d)
    ends = before and not s.get("_remove_final_layer_norm", default=False)
    body = decoder(
        s,
        norm=norm,
        last=norm if ends else None,
        form="pre" if before else "post",
        σ=σ,
        gated=False,
        activation=s.activation("activation_function", default="relu"),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        positions=σ,
    )
    if narrow == d:
        return body
    # project_in makes a row of the stream of a narrow one, project_out the other way round
    return replace(body, factor=math.sqrt(narrow) * σ, head_width=narrow, projected=σ)
