"""From a configuration of transformers to what is known of the model at step 0, class by class.

A recipe says what the class's own initialiser does (``_init_weights``, read in transformers 5.23):
biases are zero, gains one (Gemma's are 1 + w with w = 0), dropout is off. Most are `decoder` with
the defaults of the class; what a configuration says comes before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .activations import ACTIVATIONS
from .body import Attention, Body, Feedforward, Norm, Stack
from .settings import Settings

_ASKED = """Of another class one would have to know:
  - the scale and the factor of the embedding, of positions, of token types (initialiser);
  - the form of a layer (pre-, post-, sandwich- or parallel-norm), kind and ε of its norms, depth;
  - the deviations of the matrices of attention and feed-forward, whether depth scales them;
  - the activation, gates, how attention's logits are scaled, capped or normalised;
  - the head: tied or not, its own matrix, a transform before it, a scale or a cap on its logits.
Say it as a weightwise.Body, which `draft_body(model)` may draft, and give that
instead, or beside a model as body=…"""


def body_of(given: Any) -> Body:
    """Return what is known of a model at step 0.

    Args:
        given: a `Body` (returned as it is), a configuration of transformers, a dictionary with its
            settings (a note names those that are not read), the path of a ``config.json``, or of a
            folder that holds one.

    Raises:
        TypeError: it is none of these.
        ValueError: its class is not known, or a setting is missing, unknown or misspelt.
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
        got = "no model_type" if kind is None else f"the class {kind!r}"
        raise ValueError(f"model_or_config: got {got}; accepted: {known}.\n{_ASKED}")
    body, unread = RECIPES[kind](settings), settings.unread()
    if not unread or not isinstance(given, Mapping):
        return body
    return replace(body, notes=(*body.notes, f"not read of the settings: {', '.join(unread)}"))


def decoder(
    s: Settings,
    *,
    norm: str = "rms",
    ε: tuple[Any, ...] = ("rms_norm_eps", 1e-6),
    gain: float = 1.0,
    σ: tuple[Any, ...] = ("initializer_range", 0.02),
    activation: tuple[str, ...] = ("hidden_act", "silu"),
    gated: bool = True,
    tied: bool = False,
    form: str = "pre",
    normed: bool = False,
    head: int | None = None,
    windows: bool | Sequence[int | None] = False,
    scale: float | None = None,
    attention_cap: float | None = None,
    slopes: tuple[float, ...] = (),
    inner: int | None = None,
    branch: float = 1.0,
    positions: bool = False,
    **others: Any,
) -> Body:
    """A decoder whose matrices start alike, times ``branch`` where they end a branch.

    Of ``ε``, ``σ`` and ``activation`` the last is what holds where none of the settings before it
    is given; so do ``tied`` and ``head``, the length of one. ``windows`` are those of the layers,
    or whether to read them.
    """
    d = s.whole("hidden_size", "n_embd", "n_embed", "d_model", "dim")
    depth = s.whole("num_hidden_layers", "n_layer", "num_layers", "n_layers")
    heads = s.whole("num_attention_heads", "n_head", "num_heads", "n_heads")
    start = s.deviation(*σ[:-1], default=σ[-1])
    own = Norm(norm, s.deviation(*ε[:-1], default=ε[-1]), gain)
    if isinstance(windows, bool):
        windows = _windows(s, depth) if windows else [None] * depth
    width = s.get("head_dim", default=head or d / heads)
    if width != int(width):
        raise ValueError(
            f"model_or_config: got a width of {d} and {heads} heads; accepted: a multiple of the "
            "heads, or head_dim"
        )
    looks = Attention(
        heads, int(width), start, start, start, branch * start,
        width**-0.5 if scale is None else scale, normed, attention_cap, slopes=slopes,
    )  # fmt: skip
    forward = Feedforward(
        inner or s.whole("intermediate_size", "ffn_dim"), start, branch * start,
        s.activation(*activation[:-1], default=activation[-1]), gated,
    )  # fmt: skip
    layers = tuple((replace(looks, window=window), forward) for window in windows)
    return Body(
        str(s.get("model_type")), s.whole("vocab_size"), d, start,
        Stack(layers, form, own, last=own), head=start, positions=positions * start,
        tied=bool(s.get("tie_word_embeddings", default=tied)), **others,
    )  # fmt: skip


layered = partial(
    decoder, norm="layer", ε=("layer_norm_eps", "norm_epsilon", 1e-5),
    activation=("hidden_act", "gelu"), gated=False,
)  # fmt: skip


def _windows(s: Settings, depth: int) -> list[int | None]:
    window, kinds = (
        s.get("sliding_window"),
        s.get("layer_types", default=["sliding_attention"] * depth),
    )
    return [window if kind == "sliding_attention" else None for kind in kinds]


def neox(s: Settings, *, parallel: bool, normed: bool = False, **others: Any) -> Body:
    """Settings say whether both branches read the same stream, and whether queries have a norm."""
    form = "parallel" if s.get("use_parallel_residual", default=parallel) else "pre"
    return layered(s, form=form, normed=bool(s.get("qk_layernorm", default=normed)), **others)


def qwen(s: Settings, **others: Any) -> Body:
    return decoder(s, windows=bool(s.get("use_sliding_window", default=False)), **others)


def olmo(s: Settings) -> Body:
    """Layer norms without gain and shift, whose ε is no setting."""
    clip, d = s.get("clip_qkv"), s.whole("hidden_size")
    σ = s.deviation("initializer_range", default=0.02)
    if clip is not None and clip < 5 * math.sqrt(d) * σ:
        accepted = f"one above five deviations, {5 * math.sqrt(d) * σ:.3g}"
        raise ValueError(f"model_or_config: got clip_qkv = {clip!r}; accepted: {accepted}")
    return decoder(s, norm="layer", ε=(1e-5,))


def gemma(s: Settings, generation: int) -> Body:
    given: dict[str, Any] = {
        "activation": ("hidden_activation", "hidden_act", "gelu_pytorch_tanh"), "tied": True,
        "head": 256,
        "factor": math.sqrt(s.whole("hidden_size")),
        "notes": ("embeddings are multiplied with √d, and the head is tied to them",),
    }  # fmt: skip
    if generation > 1:
        pattern = s.get("sliding_window_pattern", default=6) if generation == 3 else 2
        window, depth = s.get("sliding_window", default=4096), s.whole("num_hidden_layers")
        alternate = [window if (i + 1) % pattern else None for i in range(depth)]
        second = generation == 2
        given |= {
            "form": "sandwich",
            "normed": generation == 3,
            "windows": bool(s.get("layer_types")) or alternate,
            "scale": s.get("query_pre_attn_scalar", default=256) ** -0.5,
            "attention_cap": s.or_null("attn_logit_softcapping", 50.0 if second else None),
            "cap": s.or_null("final_logit_softcapping", 30.0 if second else None),
        }
    return decoder(s, **given)


def granite(s: Settings) -> Body:
    residual = s.get("residual_multiplier", default=1.0)
    return decoder(
        s, branch=residual, residual=residual,
        scale=s.get("attention_multiplier", default=1.0),
        factor=s.get("embedding_multiplier", default=1.0),
        after=1 / s.get("logits_scaling", default=1.0),
    )  # fmt: skip


def falcon(s: Settings) -> Body:
    s.refuse(alibi=False)
    one = s.get("new_decoder_architecture", default=False) or s.get("parallel_attn", default=True)
    inner = s.get("ffn_hidden_size", default=4 * s.whole("hidden_size", "n_embed"))
    return layered(
        s, form="parallel" if one else "pre", tied=True, inner=inner,
        ε=("layer_norm_epsilon", 1e-5), activation=("activation", "gelu"),
    )  # fmt: skip


def cohere(s: Settings) -> Body:
    s.refuse(use_qk_norm=False)
    after = s.get("logit_scale", default=0.0625)
    return layered(
        s, form="parallel", gated=True, activation=("hidden_act", "silu"), tied=True, windows=True,
        after=after,
    )  # fmt: skip


def gpt(s: Settings, *, activation: str = "gelu_new", **others: Any) -> Body:
    """The classes whose settings are called n_embd, n_layer, n_head."""
    inner = s.get("n_inner", "intermediate_size", default=4 * s.whole("n_embd", "hidden_size"))
    return layered(
        s, ε=("layer_norm_epsilon", 1e-5), activation=("activation_function", activation),
        inner=inner, **others,
    )  # fmt: skip


def gpt2(s: Settings, **others: Any) -> Body:
    s.refuse(add_cross_attention=False, scale_attn_by_inverse_layer_idx=False)
    return gpt(
        s, tied=True, positions=True,
        branch=1 / math.sqrt(2 * s.whole("n_layer", "num_hidden_layers")),
        scale=None if s.get("scale_attn_weights", default=True) else 1.0, **others,
    )  # fmt: skip


def gpt_neo(s: Settings) -> Body:
    depth, window = s.whole("num_layers"), s.get("window_size", default=256)
    kinds = s.get("attention_layers", default=["global", "local"] * depth)
    windows = [window if kind == "local" else None for kind in kinds[:depth]]
    return gpt(s, tied=True, positions=True, scale=1.0, windows=windows)


def opt(s: Settings) -> Body:
    before = bool(s.get("do_layer_norm_before", default=True))
    body = layered(
        s, ε=(1e-5,), form="pre" if before else "post", σ=("init_std", 0.02),
        activation=("activation_function", "relu"), tied=True, positions=True,
    )  # fmt: skip
    if not before or s.get("_remove_final_layer_norm", default=False):
        body = replace(body, stack=replace(body.stack, last=None))
    narrow = s.get("word_embed_proj_dim", default=body.d)
    if narrow == body.d:
        return body
    # project_in makes a row of the stream of a narrow one, project_out the other way round
    σ = body.table
    return replace(body, factor=math.sqrt(narrow) * σ, head_width=narrow, projected=σ)


def bloom(s: Settings) -> Body:
    s.refuse(apply_residual_connection_post_layernorm=False)
    heads = s.whole("n_head", "num_attention_heads")
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * i / power) for i in range(1, power + 1)]
    slopes += [2 ** (-4 * i / power) for i in range(1, 2 * (heads - power) + 1, 2)]
    body = _sloped(s, slopes, activation=("gelu_new",))
    note = "a norm makes the embeddings loud in the stream, and the head is tied to the table"
    return replace(body, stack=replace(body.stack, first=body.stack.norm), notes=(note,))


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
    return _sloped(s, slopes, activation=("gelu",), scale=looks.get("softmax_scale"))


def _sloped(s: Settings, slopes: list[float], **others: Any) -> Body:
    """Attention that fades with the distance (ALiBi)."""
    inner = 4 * s.whole("hidden_size", "n_embed", "n_embd", "d_model")
    return layered(
        s, ε=("layer_norm_epsilon", 1e-5), tied=True, inner=inner, slopes=tuple(slopes), **others
    )


def untied(
    s: Settings, *, over: str | None = None, times: str | None = None,
    cap: tuple[str, float] | None = None,
) -> Body:  # fmt: skip
    """The head and the last norm alone, behind which no body counts; a tie is refused.

    ``over``, ``times`` and ``cap`` name the setting that divides, multiplies, or caps the logits,
    the last with what holds where it is not given.
    """
    kind = s.get("model_type")
    if s.get("tie_word_embeddings", default=False):
        raise ValueError(
            f"model_or_config: got {kind} with tie_word_embeddings = True, where the body counts, "
            "whose budget is not known; accepted: an untied head, or a Body"
        )
    σ = s.deviation("initializer_range", default=0.02)
    norm, n, d = Norm("rms", 0.0), s.whole("vocab_size"), s.whole("hidden_size")
    after = _factor(s, times) / _factor(s, over)
    s.get(*cap[:1] if cap else ())
    # ε takes from the spread at most its share of the embedding, below which no branch brings it
    least = min(1.0, s.get("embedding_multiplier", default=1.0))
    names = ("rms_norm_eps", "layer_norm_eps", "norm_eps", "layer_norm_epsilon")
    ε = s.get(*names, default=1e-6)
    if (most := d * ε * (after / least) ** 2 / 2) > 0.005 * math.log(n):
        raise ValueError(
            f"model_or_config: got a norm's ε of {ε:g}, which may move the loss of {kind} by "
            f"{most:.2g}; accepted: one below {ε * 0.005 * math.log(n) / most:.1g}, or a Body"
        )
    notes = ["the head is not tied, so that its body does not move the loss; nothing of it is read"]
    extra = s.get("router_aux_loss_coef", default=0) * s.get("num_experts_per_tok", default=0)
    if extra:  # experts that are chosen evenly have a balancing loss of as many as a token has
        notes.append(f"with output_router_logits its own loss has {extra:.4g} more")
    return Body(
        str(kind), n, d, σ, Stack((), "pre", norm, last=norm), tied=False, head=σ,
        notes=tuple(notes), after=after, cap=s.given.get(*cap) if cap else None,
    )  # fmt: skip


def _factor(s: Settings, name: str | None) -> float:
    return 1.0 if name is None else s.deviation(name, default=1.0)


def encoder(
    s: Settings,
    *,
    activation: tuple[str, ...] = ("hidden_act", "gelu"),
    transform: str | None = None,
    **others: Any,
) -> Body:
    """BERT and its kin; its head has an activation ``transform`` and a norm before the table."""
    body = layered(
        s, form="post", activation=activation, tied=True, positions=True,
        **{"ε": ("layer_norm_eps", 1e-12), **others},
    )  # fmt: skip
    norm, σ = body.stack.norm, body.table
    between = transform or s.activation(*activation[:-1], default=activation[-1])
    causal = bool(s.get("is_decoder", default=False))
    return replace(
        body, types=σ, projected=σ, transform=(between, norm),
        stack=replace(body.stack, first=norm, last=None, causal=causal),
    )  # fmt: skip


def narrow_encoder(s: Settings, *, always: bool = False, **others: Any) -> Body:
    """ELECTRA's generator and ALBERT: tables and heads that are narrower than the stream.

    A matrix leads from one to the other: ALBERT's stands there ``always``, also between equals.
    """
    body = encoder(s, **others)
    narrow, σ = s.get("embedding_size", default=128), body.table
    if narrow == body.d and not always:
        return body
    # the norm stands in the narrow space: words, positions and types are a third each of a row of
    # second moment one, which a matrix of deviation σ then makes wide
    factor = math.sqrt(narrow / 3)
    return replace(
        body, factor=factor, positions=factor * σ, types=factor * σ, head_width=narrow,
        stack=replace(body.stack, first=None),
    )  # fmt: skip


def albert(s: Settings) -> Body:
    s.refuse(inner_group_num=1)
    body = narrow_encoder(s, always=True, activation=("hidden_act", "gelu_new"))
    return replace(body, notes=("its layers share their matrices; here each has its own",))


def distilbert(s: Settings) -> Body:
    s.refuse(sinusoidal_pos_embds=False)
    body = encoder(s, ε=(1e-12,), activation=("activation", "gelu"), inner=s.whole("hidden_dim"))
    return replace(body, types=0.0, stack=replace(body.stack, causal=False))


def t5(s: Settings, scaled: bool | None) -> Body:
    d, width, heads = s.whole("d_model"), s.whole("d_kv"), s.whole("num_heads")
    f = s.deviation("initializer_factor", default=1.0)
    inner = s.whole("d_ff")
    gated, name, notes = _t5_feedforward(s, "relu" if scaled is None else "gated-gelu")
    if scaled is None:
        scaled = s.get("scale_decoder_outputs", "tie_word_embeddings", default=True) is not False
    norm = Norm("rms", s.deviation("layer_norm_epsilon", default=1e-6), f)
    looks = Attention(
        heads, width, f * (d * width) ** -0.5, f * d**-0.5, f * d**-0.5,
        f * (heads * width) ** -0.5, 1.0, bias=f**2 / d,
    )  # fmt: skip
    cross = replace(looks, bias=0.0, cross=True)
    forward = Feedforward(inner, f * d**-0.5, f * inner**-0.5, name, gated)
    depth = s.whole("num_layers")
    layers = ((looks, cross, forward),) * s.get("num_decoder_layers", default=depth)
    return Body(
        str(s.get("model_type")), s.whole("vocab_size"), d, f,
        Stack(layers, "pre", norm, last=norm),
        Stack(((looks, forward),) * depth, "pre", norm, causal=False, last=norm),
        scale=d**-0.5 if scaled else 1.0,
        notes=("transformers from 5 on ties the head of every T5, whatever the file says", *notes),
    )  # fmt: skip


def _t5_feedforward(s: Settings, usual: str) -> tuple[bool, str, tuple[str, ...]]:
    """Whether T5's feed-forward part has a gate, its activation; a note where a file is at odds.

    A saved file says it twice: ``is_gated_act`` and ``dense_act_fn``, made of ``feed_forward_proj``
    when the configuration was, win over it when the file is loaded.
    """
    kind = s.get("feed_forward_proj", default=usual)
    gated, name = kind.startswith("gated-"), kind.removeprefix("gated-")
    name = "gelu_new" if kind == "gated-gelu" else name
    told = s.get("is_gated_act", default=gated), s.get("dense_act_fn", default=name)
    if told[1] not in ACTIVATIONS:
        known, got = ", ".join(ACTIVATIONS), f"feed_forward_proj = {kind!r}"
        raise ValueError(f"model_or_config: got {got}; accepted: {known}, gated- before it")
    notes = (
        f"feed_forward_proj = {kind!r} is not what the class goes by: is_gated_act = {told[0]} and "
        f"dense_act_fn = {told[1]!r} of the same configuration are",
    ) * (told != (gated, name))
    return *told, notes


RECIPES: dict[str, Callable[[Settings], Body]] = {
    "afmoe": untied,
    "albert": albert,
    "apertus": untied,
    "arcee": partial(decoder, gated=False, activation=("hidden_act", "relu2")),
    "aria_text": untied,
    "beam": partial(untied, cap=("final_logit_softcapping", 30.0)),
    "bert": encoder,
    "bitnet": untied,
    "bloom": bloom,
    "camembert": partial(encoder, transform="gelu"),
    "codegen": partial(gpt, form="parallel"),
    "cohere": cohere,
    "cohere2": cohere,
    "cwm": untied,
    "deepseek_v2": untied,
    "deepseek_v3": untied,
    "deepseek_v4": untied,
    "diffllama": untied,
    "distilbert": distilbert,
    "doge": untied,
    "dots1": untied,
    "electra": partial(narrow_encoder, transform="gelu"),
    "ernie4_5": partial(decoder, tied=True, head=128),
    "exaone4": untied,
    "exaone_moe": untied,
    "falcon": falcon,
    "falcon_h1": partial(untied, times="lm_head_multiplier"),
    "flex_olmo": untied,
    "flint": untied,
    "gemma": partial(gemma, generation=1),
    "gemma2": partial(gemma, generation=2),
    "gemma3": partial(gemma, generation=3),
    "gemma3_text": partial(gemma, generation=3),
    "git": untied,
    "glm": partial(decoder, ε=("rms_norm_eps", 1.5625e-7), head=128),
    "glm4": partial(decoder, ε=("rms_norm_eps", 1.5625e-7), head=128, form="sandwich"),
    "glm4_moe": untied,
    "gpt-sw3": gpt2,
    "gpt2": gpt2,
    "gpt_bigcode": partial(gpt2, activation="gelu_pytorch_tanh"),
    "gpt_neo": gpt_neo,
    "gpt_neox": partial(neox, parallel=True),
    "gpt_oss": untied,
    "gptj": partial(gpt, form="parallel"),
    "granite": granite,
    "granitemoe": partial(untied, over="logits_scaling"),
    "granitemoe_swa": partial(untied, over="logits_scaling"),
    "granitemoeshared": partial(untied, over="logits_scaling"),
    "helium": partial(decoder, head=128),
    "hrm_text": untied,
    "hunyuan_v1_dense": partial(decoder, normed=True),
    "hunyuan_v1_moe": untied,
    "hy_v3": untied,
    "hy_v4": untied,
    "hyperclovax": partial(untied, times="logits_scaling"),
    "internlm3": decoder,
    "iquestcoder": untied,
    "jais2": untied,
    "kolibri1": untied,
    "laguna": untied,
    "llama": decoder,
    "llama4_text": untied,
    "mellum": untied,
    "mimo_v2_flash": untied,
    "minimax": untied,
    "minimax_m2": untied,
    "minimax_m3_vl_text": untied,
    "ministral": partial(decoder, windows=True),
    "ministral3": untied,
    "mistral": partial(decoder, windows=True),
    "mixtral": untied,
    "moshi": untied,
    "mpt": mpt,
    "mt5": partial(t5, scaled=False),
    "nanochat": partial(untied, cap=("final_logit_softcapping", 15.0)),
    "nemotron": partial(
        layered, gain=2.0, ε=("norm_eps", 1e-5), σ=("initializer_range", 0.0134),
        activation=("hidden_act", "relu2"),
        notes=("gains are two: the norms add one to a weight that starts with one",),
    ),
    "olmo": olmo,
    "olmo2": partial(decoder, form="after", normed=True),
    "olmo3": partial(decoder, form="after", normed=True, windows=True),
    "olmo_hybrid": untied,
    "olmoe": untied,
    "opt": opt,
    "persimmon": partial(
        neox, parallel=False, normed=True, activation=("hidden_act", "relu2")
    ),
    "phi": partial(neox, parallel=True),
    "phi3": partial(decoder, windows=True),
    "phimoe": untied,
    "qwen2": qwen,
    "qwen2_moe": untied,
    "qwen3": partial(qwen, normed=True, head=128),
    "qwen3_5_moe_text": untied,
    "qwen3_5_text": untied,
    "qwen3_moe": untied,
    "qwen3_next": untied,
    "roberta": partial(encoder, transform="gelu"),
    "seed_oss": partial(decoder, head=128),
    "smollm3": partial(decoder, windows=True, tied=True),
    "solar_open": untied,
    "stablelm": partial(
        neox, parallel=False, gated=True, activation=("hidden_act", "silu")
    ),
    "starcoder2": partial(
        layered, σ=("initializer_range", 0.018042), tied=True, windows=True,
        activation=("hidden_act", "gelu_pytorch_tanh"),
    ),
    "t5": partial(t5, scaled=None),
    "xlm-roberta": partial(encoder, transform="gelu"),
}  # fmt: skip
