"""The axes of a Transformer: which vectors it has, and how each becomes k times as long."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from . import axes as ax
from . import rules
from .rules import Axes


class Attention(NamedTuple):
    """What the axes depend on, beside the sizes in a configuration.

    Args:
        rotary: how the pairs of a head lie, "halves" or "interleaved"; empty without rotation.
        scaled: an option that says whether scores are divided by √(head size); or whether they are.
        fused: whether query, key and value share a weight. Then the value has the query's scale, so
            that gradients of all its entries grow by one number.
        rotary_value: an option that says whether the value is turned as well.
        scaled_head: an option that says whether the head's input is multiplied by d^(-1/2).
    """

    rotary: str = ""
    scaled: str | bool = True
    fused: bool = False
    rotary_value: str | bool = False
    scaled_head: str | bool = False


PLAIN = Attention()


def option(config: Any, *names: str) -> Any:
    """The first of some options that is there and neither zero nor None; else None."""
    return next(filter(None, (getattr(config, name, None) for name in names)), None)


def widened(config: Any, k: int, tied: bool, attention: Attention, *, table: float = 1.0) -> Axes:
    """The axes of a Transformer by name, from the configuration of the small model.

    ``table`` is the factor on the embedding table, where the class multiplies what it looks up by a
    number that depends on the width, as Gemma by √d.

    Raises:
        ValueError: only a part of each head is rotary, and k times as large a head has not k times
            as large a part.
    """
    stream, count = option(config, "hidden_size"), option(config, "num_attention_heads")
    groups = option(config, "num_key_value_heads") or count
    size = option(config, "head_dim") or stream // count
    inner = option(config, "intermediate_size", "ffn_dim", "n_inner", "d_ff") or 4 * stream
    embedding = option(config, "embedding_size", "word_embed_proj_dim") or stream
    turned = _turned(config, size, k) if attention.rotary else 0

    def head_axis(heads: int, turned: int, slots: float = 1.0, copies: float = 1.0) -> ax.Axis:
        """Rotary pairs in their slots, times one scale, and copies of the rest, times another."""
        if turned == size:
            return ax.rotary(heads, size, k, layout=attention.rotary, scale=slots)
        if not turned:
            return ax.heads(heads, size, k, scale=copies)
        one = ax.rotary(1, turned, k, layout=attention.rotary, scale=slots)
        rest = ax.heads(1, size - turned, k, scale=copies)
        return ax.concatenated(*[one, rest] * heads)

    scaled = _told(config, attention.scaled)
    scales = [rules.score_scale(k, copies, scaled=scaled) for copies in (1, k)]
    c = scales[0 if turned else 1]
    alone = not attention.fused and power_of_two(c**2) and not power_of_two(c)
    on_query, on_key = [[c**power for c in scales] for power in ((2, 0) if alone else (1, 1))]
    of_value = scales[1] if attention.fused else 1.0
    value_turned = turned if _told(config, attention.rotary_value) else 0

    def query_key_value(count: int, groups: int) -> list[ax.Axis]:
        return [
            head_axis(count, turned, *on_query),
            head_axis(groups, turned, *on_key),
            head_axis(groups, value_turned, copies=of_value),
        ]

    query, key, value = query_key_value(count, groups)
    scored = rules.scored_scale(k, tied=tied) / table if tied else 1.0
    features = rules.features_scale(k, tied=tied, scaled=_told(config, attention.scaled_head))
    whole, unnormed = ax.repeated(stream, k), (k**0.5, 1.0)
    gate = ax.repeated(inner, k)
    last = ax.repeated(embedding, k, scale=features / table if tied else features)
    return {
        "vocabulary": ax.unchanged(option(config, "vocab_size") or 0),
        "classes": ax.unchanged(option(config, "num_labels") or 0),
        "channels": ax.unchanged(option(config, "num_channels") or 0),
        "experts": ax.unchanged(option(config, "num_local_experts") or 0),
        "heads": ax.unchanged(count),
        "embedding": ax.repeated(embedding, k),
        "table": ax.repeated(embedding, k, scale=table),
        "stream": whole,
        "pooled": ax.repeated(option(config, "pooler_output_size") or stream, k),
        "feed-forward": gate,
        "gate, up": ax.concatenated(gate, gate),
        "query": query,
        "key": key,
        "value": value,
        "query before its norm": head_axis(count, turned, *unnormed),
        "key before its norm": head_axis(groups, turned, *unnormed),
        "query of a head": head_axis(1, turned, *on_query),
        "key of a head": head_axis(1, turned, *on_key),
        "query of a head before its norm": head_axis(1, turned, *unnormed),
        "key of a head before its norm": head_axis(1, turned, *unnormed),
        "query, key, value": ax.concatenated(query, key, value),
        "query, key, value of each head": ax.concatenated(*query_key_value(1, 1) * count),
        "attended": head_axis(count, value_turned, copies=of_value),
        "features": last,
        "last of the stream": last if embedding == stream else whole,
        "scored": ax.repeated(embedding, k, scale=scored),
    }


def _told(config: Any, what: str | bool) -> bool:
    """An option's value, or what is known without one."""
    return bool(getattr(config, what, False)) if isinstance(what, str) else what


def power_of_two(scale: float) -> bool:
    """Whether a factor rounds nothing, in any dtype; to 12 digits."""
    return math.frexp(round(scale, 12))[0] == 0.5


def _turned(config: Any, size: int, k: int) -> int:
    """How many coordinates of each head are rotary."""
    told = getattr(config, "rope_parameters", None) or {}
    share = told.get("partial_rotary_factor") or 1.0
    if int(k * size * share) != k * int(size * share):
        raise ValueError(
            f"partial_rotary_factor: got {share} for heads of {size} coordinates, of which "
            f"{int(size * share)} are turned; accepted: one of which heads of {k * size} turn "
            f"{k * int(size * share)}, and not {int(k * size * share)}"
        )
    return int(size * share)
