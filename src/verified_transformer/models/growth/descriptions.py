"""Descriptions: for each class that can grow, the role and the axes of every module.

A path has its layer numbers replaced by ``#``. A parameter whose module has no row is refused, so
that nothing is grown by guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import axes as ax
from . import rules
from .rules import Axes, Row


class GrowthRefused(ValueError):
    """A model, a module or an option is outside what the rules are known to grow exactly."""


@dataclass(frozen=True)
class Description:
    """What is known of one class.

    ``widths`` are the options of the configuration that are multiplied by k; ``axes`` makes the
    axes from the configuration, k, and whether the head is tied; ``rows`` gives each module its
    role; ``options`` are the values that an option may have.
    """

    widths: tuple[str, ...]
    axes: Callable[[Any, int, bool], Axes]
    rows: dict[str, Row]
    options: dict[str, tuple[Any, ...]]


def described(model: Any) -> Description:
    """Return the description of a model's class.

    Raises:
        GrowthRefused: the class has none, or an option has a value that is not covered.
    """
    kind = type(model)
    found = DESCRIPTIONS.get(f"{kind.__module__}.{kind.__qualname__}")
    if found is None:
        known = ", ".join(sorted(name.rpartition(".")[2] for name in DESCRIPTIONS))
        raise GrowthRefused(
            f"model: got {kind.__module__}.{kind.__qualname__}; accepted: {known} of "
            "transformers, and no subclass"
        )
    for option, accepted in found.options.items():
        value = _option(model.config, option)
        if value not in accepted:
            raise GrowthRefused(
                f"config.{option} of {kind.__name__}: got {value!r}; accepted: "
                + ", ".join(map(repr, accepted))
            )
    return found


def _option(config: Any, path: str) -> Any:
    for name in path.split("."):
        config = config.get(name) if isinstance(config, dict) else getattr(config, name, None)
    return config


def _widths(
    k: int,
    tied: bool,
    *,
    stream: int,
    feed_forward: int,
    count: int,
    size: int,
    vocabulary: int,
    embedding: int | None = None,
    groups: int | None = None,
    layout: str | None = None,
    turned_value: bool = False,
    scaled_scores: bool = True,
    scaled_head: bool = False,
) -> Axes:
    """The axes of a Transformer; ``groups`` is the number of key and value heads."""
    groups, embedding = groups or count, embedding or stream
    c = rules.score_scale(k, 1 if layout else k, scaled=scaled_scores)

    def head_axis(heads: int, *, turned: bool, scale: float = 1.0) -> ax.Axis:
        if turned and layout:
            return ax.rotary(heads, size, k, layout=layout, scale=scale)
        return ax.heads(heads, size, k, scale=scale)

    return {
        "vocabulary": ax.unchanged(vocabulary),
        "heads": ax.unchanged(count),
        "embedding": ax.repeated(embedding, k),
        "stream": ax.repeated(stream, k),
        "feed-forward": ax.repeated(feed_forward, k),
        "query": head_axis(count, turned=True, scale=c),
        "key": head_axis(groups, turned=True, scale=c),
        "value": head_axis(groups, turned=turned_value),
        "attended": head_axis(count, turned=turned_value),
        "features": ax.repeated(
            embedding, k, scale=rules.features_scale(k, tied=tied, scaled=scaled_head)
        ),
        "scored": ax.repeated(embedding, k, scale=rules.scored_scale(k, tied=tied)),
    }


def _bert_axes(config: Any, k: int, tied: bool) -> Axes:
    return _widths(
        k,
        tied,
        stream=config.hidden_size,
        feed_forward=config.intermediate_size,
        count=config.num_attention_heads,
        size=config.hidden_size // config.num_attention_heads,
        vocabulary=config.vocab_size,
        embedding=getattr(config, "embedding_size", None),
        layout="interleaved" if config.model_type == "roformer" else None,
        turned_value=getattr(config, "rotary_value", False),
    )


def _gpt2_axes(config: Any, k: int, tied: bool) -> Axes:
    found = _widths(
        k,
        tied,
        stream=config.n_embd,
        feed_forward=config.n_inner or 4 * config.n_embd,
        count=config.n_head,
        size=config.n_embd // config.n_head,
        vocabulary=config.vocab_size,
        scaled_scores=config.scale_attn_weights,
    )
    parts = (found[name] for name in ("query", "key", "value"))
    return {**found, "query, key, value": ax.concatenated(*parts)}


def _llama_axes(config: Any, k: int, tied: bool) -> Axes:
    return _widths(
        k,
        tied,
        stream=config.hidden_size,
        feed_forward=config.intermediate_size,
        count=config.num_attention_heads,
        groups=config.num_key_value_heads,
        size=config.head_dim,
        vocabulary=config.vocab_size,
        layout="halves",
    )


def _t5_axes(config: Any, k: int, tied: bool) -> Axes:
    return _widths(
        k,
        tied,
        stream=config.d_model,
        feed_forward=config.d_ff,
        count=config.num_heads,
        size=config.d_kv,
        vocabulary=config.vocab_size,
        scaled_scores=False,
        scaled_head=config.model_type == "t5" and getattr(config, "scale_decoder_outputs", False),
    )


def _bert_rows(body: str, position: dict[str, Row]) -> dict[str, Row]:
    """BERT and RoFormer; the axis "embedding" is the stream where the class has no other."""
    layer, head = f"{body}.encoder.layer.#", "cls.predictions"
    return {
        f"{body}.embeddings.word_embeddings": Row("embedding", "embedding"),
        f"{body}.embeddings.token_type_embeddings": Row("embedding", "embedding"),
        f"{body}.embeddings.LayerNorm": Row("norm", "embedding", "embedding"),
        **position,
        f"{layer}.attention.self.query": Row("linear", "query", "stream"),
        f"{layer}.attention.self.key": Row("linear", "key", "stream"),
        f"{layer}.attention.self.value": Row("linear", "value", "stream"),
        f"{layer}.attention.output.dense": Row("linear", "stream", "attended"),
        f"{layer}.attention.output.LayerNorm": Row("norm", "stream", "stream"),
        f"{layer}.intermediate.dense": Row("linear", "feed-forward", "stream"),
        f"{layer}.output.dense": Row("linear", "stream", "feed-forward"),
        f"{layer}.output.LayerNorm": Row("norm", "stream", "stream"),
        f"{head}.transform.dense": Row("linear", "embedding", "stream"),
        f"{head}.transform.LayerNorm": Row("norm", "features", "embedding"),
        f"{head}.decoder": Row("linear", "vocabulary", "scored"),
        head: Row("kept", "vocabulary"),
    }


def _gpt2_rows() -> dict[str, Row]:
    layer = "transformer.h.#"
    return {
        "transformer.wte": Row("embedding", "stream"),
        "transformer.wpe": Row("embedding", "stream"),
        f"{layer}.ln_1": Row("norm", "stream", "stream"),
        f"{layer}.attn.c_attn": Row("transposed", "query, key, value", "stream"),
        f"{layer}.attn.c_proj": Row("transposed", "stream", "attended"),
        f"{layer}.ln_2": Row("norm", "stream", "stream"),
        f"{layer}.mlp.c_fc": Row("transposed", "feed-forward", "stream"),
        f"{layer}.mlp.c_proj": Row("transposed", "stream", "feed-forward"),
        "transformer.ln_f": Row("norm", "features", "stream"),
        "lm_head": Row("linear", "vocabulary", "scored"),
    }


def _llama_rows() -> dict[str, Row]:
    layer = "model.layers.#"
    return {
        "model.embed_tokens": Row("embedding", "stream"),
        "model.rotary_emb": Row("frequencies", "query"),
        f"{layer}.input_layernorm": Row("norm", "stream", "stream"),
        f"{layer}.self_attn.q_proj": Row("linear", "query", "stream"),
        f"{layer}.self_attn.k_proj": Row("linear", "key", "stream"),
        f"{layer}.self_attn.v_proj": Row("linear", "value", "stream"),
        f"{layer}.self_attn.o_proj": Row("linear", "stream", "attended"),
        f"{layer}.post_attention_layernorm": Row("norm", "stream", "stream"),
        f"{layer}.mlp.gate_proj": Row("linear", "feed-forward", "stream"),
        f"{layer}.mlp.up_proj": Row("linear", "feed-forward", "stream"),
        f"{layer}.mlp.down_proj": Row("linear", "stream", "feed-forward"),
        "model.norm": Row("norm", "features", "stream"),
        "lm_head": Row("linear", "vocabulary", "scored"),
    }


def _t5_rows() -> dict[str, Row]:
    rows = {
        "shared": Row("embedding", "stream"),
        "encoder.final_layer_norm": Row("norm", "stream", "stream"),
        "decoder.final_layer_norm": Row("norm", "features", "stream"),
        "lm_head": Row("linear", "vocabulary", "scored"),
    }
    for stack in ("encoder", "decoder"):
        sublayer = f"{stack}.block.#.layer.#"
        rows[f"{stack}.embed_tokens"] = Row("embedding", "stream")
        rows[f"{sublayer}.layer_norm"] = Row("norm", "stream", "stream")
        for attention in ("SelfAttention", "EncDecAttention"):
            for part, axis in (("q", "query"), ("k", "key"), ("v", "value")):
                rows[f"{sublayer}.{attention}.{part}"] = Row("linear", axis, "stream")
            rows[f"{sublayer}.{attention}.o"] = Row("linear", "stream", "attended")
            rows[f"{sublayer}.{attention}.relative_attention_bias"] = Row("kept", "heads")
        for part in ("wi", "wi_0", "wi_1"):
            rows[f"{sublayer}.DenseReluDense.{part}"] = Row("linear", "feed-forward", "stream")
        rows[f"{sublayer}.DenseReluDense.wo"] = Row("linear", "stream", "feed-forward")
    return rows


_T5 = Description(
    ("d_model", "d_kv", "d_ff"), _t5_axes, _t5_rows(), {"is_encoder_decoder": (True,)}
)
_ENCODER = {"is_decoder": (False,), "add_cross_attention": (False,)}
_MODELS = "transformers.models"

DESCRIPTIONS = {
    f"{_MODELS}.bert.modeling_bert.BertForMaskedLM": Description(
        ("hidden_size", "intermediate_size"),
        _bert_axes,
        _bert_rows("bert", {"bert.embeddings.position_embeddings": Row("embedding", "embedding")}),
        # an old configuration may ask for relative positions, which the class ignores today
        {**_ENCODER, "position_embedding_type": (None, "absolute")},
    ),
    f"{_MODELS}.roformer.modeling_roformer.RoFormerForMaskedLM": Description(
        ("hidden_size", "intermediate_size", "embedding_size"),
        _bert_axes,
        _bert_rows(
            "roformer",
            {
                "roformer.encoder.embed_positions": Row("frequencies", "query"),
                "roformer.embeddings_project": Row("linear", "stream", "embedding"),
            },
        ),
        _ENCODER,
    ),
    f"{_MODELS}.gpt2.modeling_gpt2.GPT2LMHeadModel": Description(
        ("n_embd", "n_inner"),
        _gpt2_axes,
        _gpt2_rows(),
        # upcasting rounds scores to float32, and no check could see through it
        {"add_cross_attention": (False,), "reorder_and_upcast_attn": (False,)},
    ),
    f"{_MODELS}.llama.modeling_llama.LlamaForCausalLM": Description(
        ("hidden_size", "intermediate_size", "head_dim"),
        _llama_axes,
        _llama_rows(),
        # these change each frequency alone; the others look at the head size or at the length
        {"rope_parameters.rope_type": ("default", "linear", "llama3")},
    ),
    f"{_MODELS}.t5.modeling_t5.T5ForConditionalGeneration": _T5,
    f"{_MODELS}.mt5.modeling_mt5.MT5ForConditionalGeneration": _T5,
}
