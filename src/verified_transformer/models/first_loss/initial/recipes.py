"""From a configuration of transformers to what is known of the model at step 0, class by class.

Each recipe says what the class's own initialiser does (``_init_weights``, read in transformers
5.23): biases are zero, gains one (Gemma's are 1 + w with w = 0), dropout is off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .activations import ACTIVATIONS
from .body import Attention, Body, Feedforward, Norm, Stack
from .settings import Settings, decoder, windows_of

_ASKED = """Of another class one would have to know:
  - the scale and the factor of the embedding, of positions, of token types (initialiser);
  - the form of a layer (pre-, post-, sandwich- or parallel-norm), kind and ε of its norms, depth;
  - the deviations of the matrices of attention and feed-forward, whether depth scales them;
  - the activation, gates, how attention's logits are scaled, capped or normalised;
  - the head: tied or not, its own matrix, a transform before it, a scale or a cap on its logits.
Say it as a verified_transformer.models.Body, and give that instead"""


def body_of(given: Any) -> Body:
    """Return what is known of a model at step 0.

    Args:
        given: a `Body` (returned as it is), a configuration of transformers, a dictionary with its
            settings, or the path of a ``config.json``.

    Raises:
        TypeError: it is none of these.
        ValueError: its class is not known, or a setting is missing or unknown.
    """
    if isinstance(given, Body):
        return given
    if not isinstance(given, Mapping | str | Path) and not hasattr(given, "to_dict"):
        accepted = "a model or a configuration of transformers, a dictionary, the path of a JSON"
        raise TypeError(f"model_or_config: got {type(given).__name__}; accepted: {accepted}")
    settings = Settings(given)
    kind = settings.get("model_type")
    if kind not in RECIPES:
        known = ", ".join(sorted(RECIPES))
        raise ValueError(f"model_or_config: got the class {kind!r}; accepted: {known}.\n{_ASKED}")
    return RECIPES[kind](settings)


def _llama(s: Settings, *, normed: bool = False, form: str = "pre", **others: Any) -> Body:
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


def _mistral(s: Settings, tied: bool = False) -> Body:
    tied = bool(s.get("tie_word_embeddings", default=tied))
    return _llama(s, tied=tied, windows=windows_of(s, s.whole("num_hidden_layers")))


def _qwen(s: Settings, normed: bool) -> Body:
    depth = s.whole("num_hidden_layers")
    used = bool(s.get("use_sliding_window", default=False))
    width = s.get("head_dim", default=128 if normed else None)
    windows = windows_of(s, depth) if used else [None] * depth
    return _llama(s, normed=normed, width=width, windows=windows)


def _gemma(s: Settings, generation: int) -> Body:
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
    return _llama(s, **given)


def _granite(s: Settings) -> Body:
    return _llama(
        s,
        scale=s.get("attention_multiplier", default=1.0),
        factor=s.get("embedding_multiplier", default=1.0),
        branch=s.get("residual_multiplier", default=1.0),
        after=1 / s.get("logits_scaling", default=1.0),
    )


def _layered(s: Settings, **others: Any) -> Body:
    """A decoder with layer norms and no gates."""
    given: dict[str, Any] = {
        "norm": Norm("layer", s.deviation("layer_norm_eps", "norm_epsilon", default=1e-5)),
        "σ": s.deviation("initializer_range", default=0.02),
        "activation": s.activation("hidden_act", default="gelu"),
        "tied": bool(s.get("tie_word_embeddings", default=False)),
        "gated": False,
    }
    return decoder(s, **{**given, **others})


def _neox(s: Settings) -> Body:
    beside = s.get("use_parallel_residual", default=True)
    return _layered(s, form="parallel" if beside else "pre")


def _starcoder2(s: Settings) -> Body:
    return _layered(
        s,
        σ=s.deviation("initializer_range", default=0.018042),
        activation=s.activation("hidden_act", default="gelu_pytorch_tanh"),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        windows=windows_of(s, s.whole("num_hidden_layers")),
    )


def _cohere(s: Settings) -> Body:
    s.refuse(use_qk_norm=False)
    return _layered(
        s,
        form="parallel",
        gated=True,
        activation=s.activation("hidden_act", default="silu"),
        tied=bool(s.get("tie_word_embeddings", default=True)),
        after=s.get("logit_scale", default=0.0625),
    )


def _gpt(s: Settings, **others: Any) -> Body:
    """The classes whose settings are called n_embd, n_layer, n_head."""
    d = s.whole("n_embd", "hidden_size")
    return _layered(
        s,
        norm=Norm("layer", s.deviation("layer_norm_epsilon", default=1e-5)),
        activation=s.activation("activation_function", default="gelu_new"),
        inner=s.get("n_inner", "intermediate_size", default=4 * d),
        **others,
    )


def _gpt2(s: Settings) -> Body:
    s.refuse(add_cross_attention=False, scale_attn_by_inverse_layer_idx=False)
    σ = s.deviation("initializer_range", default=0.02)
    return _gpt(
        s,
        tied=bool(s.get("tie_word_embeddings", default=True)),
        positions=σ,
        branch=1 / math.sqrt(2 * s.whole("n_layer", "num_hidden_layers")),
        scale=None if s.get("scale_attn_weights", default=True) else 1.0,
    )


def _gpt_neo(s: Settings) -> Body:
    depth, window = s.whole("num_layers"), s.get("window_size", default=256)
    kinds = s.get("attention_layers", default=["global", "local"] * depth)
    return _gpt(
        s,
        tied=bool(s.get("tie_word_embeddings", default=True)),
        positions=s.deviation("initializer_range", default=0.02),
        scale=1.0,
        windows=[window if kind == "local" else None for kind in kinds[:depth]],
    )


def _opt(s: Settings) -> Body:
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


def _bert(s: Settings, activation: str | None = None) -> Body:
    σ = s.deviation("initializer_range", default=0.02)
    norm = Norm("layer", s.deviation("layer_norm_eps", default=1e-12))
    between = s.activation("hidden_act", default="gelu")
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


def _t5(s: Settings, scaled: bool | None) -> Body:
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


RECIPES: dict[str, Callable[[Settings], Body]] = {
    "bert": _bert,
    "camembert": partial(_bert, activation="gelu"),
    "cohere": _cohere,
    "gemma": partial(_gemma, generation=1),
    "gemma2": partial(_gemma, generation=2),
    "gemma3": partial(_gemma, generation=3),
    "gemma3_text": partial(_gemma, generation=3),
    "gpt2": _gpt2,
    "gpt_neo": _gpt_neo,
    "gpt_neox": _neox,
    "gptj": partial(_gpt, form="parallel"),
    "granite": _granite,
    "llama": _llama,
    "mistral": _mistral,
    "mt5": partial(_t5, scaled=False),
    "olmo2": partial(_llama, form="after", normed=True),
    "opt": _opt,
    "phi": partial(_layered, form="parallel"),
    "qwen2": partial(_qwen, normed=False),
    "qwen3": partial(_qwen, normed=True),
    "roberta": partial(_bert, activation="gelu"),
    "smollm3": partial(_mistral, tied=True),
    "starcoder2": _starcoder2,
    "t5": partial(_t5, scaled=None),
    "xlm-roberta": partial(_bert, activation="gelu"),
}
