"""Decoders with RMS norms and gates, after Llama."""

from __future__ import annotations

import math
from typing import Any

from ..body import Body, Norm
from ..settings import Settings, decoder, windows_of


def llama(s: Settings, *, normed: bool = False, form: str = "pre", **others: Any) -> Body:
    norm = Norm("rms", s.deviation("rms_norm_eps", default=1e-6))
    depth = s.whole("num_hidden_layers")
    given = {
        "norm": norm,
        "σ": s.deviation("initializer_range", default=0.02),
        "activation": s.activation("hidden_act", default="silu"),
        "tied": bool(s.get("tie_word_embeddings", default=False)),
        "windows": [None] * depth,
    }
    return decoder(s, form=form, normed=normed, **{**given, **others})


def unnamed(s: Settings) -> Body:
    """OLMo: layer norms without gain and shift, whose ε is no setting."""
    clip, d = s.get("clip_qkv"), s.whole("hidden_size")
    σ = s.deviation("initializer_range", default=0.02)
    if clip is not None and clip < 5 * math.sqrt(d) * σ:
        accepted = f"one above five deviations, {5 * math.sqrt(d) * σ:.3g}"
        raise ValueError(f"model_or_config: got clip_qkv = {clip!r}; accepted: {accepted}")
    return llama(s, norm=Norm("layer", 1e-5))


def square(s: Settings) -> Body:
    """Arcee: squared relus in the place of gates."""
    return llama(s, gated=False, activation=s.activation("hidden_act", default="relu2"))


def mistral(s: Settings, tied: bool = False, **others: Any) -> Body:
    tied = bool(s.get("tie_word_embeddings", default=tied))
    return llama(s, tied=tied, windows=windows_of(s, s.whole("num_hidden_layers")), **others)


def qwen(s: Settings, normed: bool) -> Body:
    depth = s.whole("num_hidden_layers")
    used = bool(s.get("use_sliding_window", default=False))
    width = s.get("head_dim", default=128 if normed else None)
    windows = windows_of(s, depth) if used else [None] * depth
    return llama(s, normed=normed, width=width, windows=windows)


def gemma(s: Settings, generation: int) -> Body:
    depth = s.whole("num_hidden_layers")
    width = s.get("head_dim", default=256)
    given: dict[str, Any] = {
        "activation": s.activation("hidden_activation", "hidden_act", default="gelu_pytorch_tanh"),
        "tied": bool(s.get("tie_word_embeddings", default=True)),
        "width": width,
        "factor": math.sqrt(s.whole("hidden_size")),
        "notes": ("embeddings are multiplied with √d, and the head is tied to them",),
    }
    if generation > 1:
        pattern = s.get("sliding_window_pattern", default=6) if generation == 3 else 2
        window = s.get("sliding_window", default=4096)
        alternate = [window if (i + 1) % pattern else None for i in range(depth)]
        # a cap that is given as null is off, whatever the class's default is
        second = generation == 2
        given |= {
            "form": "sandwich",
            "normed": generation == 3,
            "windows": windows_of(s, depth) if s.get("layer_types") else alternate,
            "scale": s.get("query_pre_attn_scalar", default=256) ** -0.5,
            "attention_cap": s.given.get("attn_logit_softcapping", 50.0 if second else None),
            "cap": s.given.get("final_logit_softcapping", 30.0 if second else None),
        }
    return llama(s, **given)


def headed(s: Settings, tied: bool = False) -> Body:
    """Classes whose heads have a length of 128 unless another is given."""
    tied = bool(s.get("tie_word_embeddings", default=tied))
    return llama(s, tied=tied, width=s.get("head_dim", default=128))


def glm(s: Settings, form: str) -> Body:
    norm = Norm("rms", s.deviation("rms_norm_eps", default=1.5625e-7))
    return llama(s, norm=norm, form=form, width=s.get("head_dim", default=128))


def granite(s: Settings) -> Body:
    return llama(
        s,
        scale=s.get("attention_multiplier", default=1.0),
        factor=s.get("embedding_multiplier", default=1.0),
        branch=s.get("residual_multiplier", default=1.0),
        residual=s.get("residual_multiplier", default=1.0),
        after=1 / s.get("logits_scaling", default=1.0),
    )
