"""Which sizes a Transformer has, and how each of its vectors becomes longer between two of them.

A small and a large configuration say all: how many copies of the stream, of whole heads, inside a
head, and of feed-forward units there are.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypedDict

from ..accepted import require_whole
from . import axes as ax
from . import rules
from .rules import Axes

# by what a size is, the names that configurations have for it
SIZES: dict[str, tuple[str, ...]] = {
    "stream": ("hidden_size", "n_embd", "d_model", "dim"),
    "heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "key-value heads": ("num_key_value_heads", "n_kv_heads", "n_kv_head"),
    "head size": ("head_dim", "d_kv"),
    "rotary part": ("rotary_dim",),
    "feed-forward": (
        "ffn_dim",
        "n_inner",
        "d_ff",
        "intermediate_size",
        "hidden_dim",
        "encoder_ffn_dim",
    ),
    "expert": ("moe_intermediate_size",),
    "shared expert": ("shared_expert_intermediate_size",),
    "embedding": ("embedding_size", "word_embed_proj_dim"),
    "pooled": ("pooler_output_size",),
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "vocabulary": ("vocab_size",),
    "channels": ("num_channels",),
    "experts": ("num_local_experts", "num_experts"),
    "positions": ("max_position_embeddings", "n_positions", "block_size", "max_seq_len", "n_ctx"),
}
_OF_WIDTH = (
    "stream", "feed-forward", "expert", "shared expert", "head size", "rotary part", "embedding",
    "pooled",
)  # fmt: skip


class Sizes(TypedDict, total=False):
    """Sizes of the large model, besides those that k multiplies; what is left out stays usual.

    Args:
        width: of the stream, any number that is at least the small one. One that is no multiple
            needs norms that subtract no mean (RMSNorm), and heads that are no part of the width.
        heads: how many the large model has, a multiple. Heads are then copied whole, and the head
            size grows by what is left of k: with k times as many it stays, and rotary frequencies
            of any kind stay with it.
        key_value_heads: how many; without it, as many heads as before share one.
        feed_forward: how many units, any number that is at least the small one.
        layers: how many. Those between begin as the identity: a copy of the layer before, whose
            last maps are zero. Not where a layer ends in the norm of a sum, as BERT's.
        vocabulary: how many words. Logits of the old ones stay; rows of the new ones are the mean
            of the old, so that each begins with the mean logit, which is never the largest.
    """

    width: int | None
    heads: int | None
    key_value_heads: int | None
    feed_forward: int | None
    layers: int | None
    vocabulary: int | None


# by argument, what it is the size of
ASKS = {
    "width": "stream",
    "heads": "heads",
    "key_value_heads": "key-value heads",
    "feed_forward": "feed-forward",
    "layers": "layers",
    "vocabulary": "vocabulary",
}
# why a size grows to multiples alone
_COPIED = {
    "heads": "heads are copied whole (section 4.3)",
    "key-value heads": "heads are copied whole (section 4.3)",
    "head size": "copies stay inside their head (section 4.3), and of the larger head's slots only "
    "every k-th turns as the rotary pair that it takes (section 4.5)",
}
_ARGUMENT = {what: argument for argument, what in ASKS.items()}
Names = Mapping[str, str]  # what a configuration calls a size, where it is none of the usual names


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


def size_name(config: Any, what: str, names: Names = MappingProxyType({})) -> str:
    """The option that holds a size in a configuration; empty where there is none."""
    usual = (names[what],) if what in names else SIZES[what]
    fixed = [name for name in usual if isinstance(getattr(type(config), name, None), property)]
    return next((name for name in usual if hasattr(config, name) and name not in fixed), "")


def size_of(config: Any, what: str, names: Names = MappingProxyType({})) -> Any:
    """A size in a configuration; None where it has none."""
    return getattr(config, size_name(config, what, names) or "_", None) or None


def enlarged(
    config: Any, k: int, sizes: Mapping[str, Any], names: Names = MappingProxyType({})
) -> Any:
    """A configuration k times as wide, with other sizes as they are asked for.

    Args:
        config: of the small model.
        k: factor of the stream.
        sizes: of the large model, as `Sizes` has them; None is the usual one.
        names: what the configuration calls its sizes, where that is not usual.

    Raises:
        TypeError, ValueError: a size is no whole number; the class has no such size; or it is none
            that the small one can grow to.
    """
    if isinstance(k, bool) or not isinstance(k, int):
        raise TypeError(
            f"k: got {k!r}; accepted: an integer of at least 2, as {_COPIED['head size']}; width= "
            "takes any larger number where the norms subtract no mean"
        )
    if strange := sorted(set(sizes) - set(ASKS)):
        raise TypeError(f"{strange[0]}: got {sizes[strange[0]]!r}; accepted: {', '.join(ASKS)}")
    wanted = {ASKS[name]: value for name, value in sizes.items() if value is not None}
    require_whole(**{_ARGUMENT[what]: value for what, value in wanted.items()})
    if k < 1 or (k == 1 and not wanted):
        raise ValueError(f"k: got {k}; accepted: an integer of at least 2, or 1 with another size")
    _require_known(config, names)
    found = copy.deepcopy(config)
    for what in _OF_WIDTH:
        name = size_name(config, what, names)
        if name and getattr(config, name) is not None:
            _set(found, name, k * getattr(config, name))
    count, size = size_of(config, "heads", names), head_size(config, names)
    own = size_name(config, "head size", names)
    if "stream" in wanted and own:  # it may be unset, and would then follow the stream
        setattr(found, own, k * size)
    if "heads" in wanted:
        times = _times("heads", count, wanted["heads"])
        if k % times and (times % k or not own):
            raise ValueError(
                f"heads: got {wanted['heads']}; accepted: {count} times a divisor of {k}, by which "
                f"the stream grows" + (f", or times a multiple of {k}" if own else "")
            )
        if groups := size_of(config, "key-value heads", names):
            wanted.setdefault("key-value heads", times * groups)
        for what, old in (("head size", size), ("rotary part", size_of(config, "rotary part"))):
            if (name := size_name(config, what, names)) and old:
                setattr(found, name, max(1, k // times) * old)
    for what, value in wanted.items():
        name = size_name(config, what, names)
        old = size_of(config, what, names) or (_inner(config, names) if name else None)
        if old is None:
            raise ValueError(
                f"{_ARGUMENT[what]}: got {value}; accepted: None, as {type(config).__name__} has "
                f"none of {', '.join(SIZES[what])}"
            )
        if value < old:
            raise ValueError(f"{_ARGUMENT[what]}: got {value}; accepted: at least {old}")
        _set(found, name, value)
    if "layers" in wanted:
        _lengthen(config, found, size_of(config, "layers", names), wanted["layers"])
    if wanted:
        _require_loadable(found, {_ARGUMENT[what]: value for what, value in wanted.items()})
    return found


def _set(config: Any, name: str, value: int) -> None:
    """Set an option, and the decoder's beside that of an encoder."""
    setattr(config, name, value)
    if name.startswith("encoder"):
        setattr(config, name.replace("encoder", "decoder"), value)


def _require_loadable(config: Any, asked: Mapping[str, int]) -> None:
    """Refuse sizes with which the class would not load its own configuration."""
    try:
        getattr(config, "validate", lambda: None)()
    except Exception as error:  # of a class of the library's own
        kind, why = type(config).__name__, error.__cause__ or error
        names, values = ", ".join(asked), " and ".join(map(str, asked.values()))
        raise ValueError(f"{names}: got {values}; accepted: what {kind} loads: {why}") from error


def _lengthen(config: Any, found: Any, old: int, new: int) -> None:
    """Let options that hold a value for each layer hold one for those that are put between."""
    for name, value in list(vars(config).items()):
        if "layer" in name and isinstance(value, list) and len(value) == old:
            setattr(found, name, [value[layer * old // new] for layer in range(new)])
    if (decoder := getattr(config, "num_decoder_layers", None)) is not None:
        found.num_decoder_layers = max(decoder, new)


def shortened(config: Any, layers: int, names: Names = MappingProxyType({})) -> Any:
    """A configuration of no more than some layers."""
    found = copy.deepcopy(config)
    for option in {size_name(config, "layers", names), "num_decoder_layers"}:
        if (getattr(config, option or "_", None) or 0) > layers:
            setattr(found, option, layers)
    if getattr(config, "layer_types", None):
        found.layer_types = config.layer_types[: size_of(found, "layers", names)]
    return found


def head_size(config: Any, names: Names = MappingProxyType({})) -> int:
    """How many coordinates a head has."""
    found: int = size_of(config, "head size", names) or (
        size_of(config, "stream", names) // size_of(config, "heads", names)
    )
    return found


def _require_known(config: Any, names: Names) -> None:
    missing = [what for what in ("stream", "heads") if not size_of(config, what, names)]
    if missing:
        raise ValueError(
            f"config: got {type(config).__name__} without {' and '.join(missing)}; accepted: one "
            "with " + "; ".join(" or ".join(SIZES[what]) for what in missing)
        )


def _inner(config: Any, names: Names) -> int:
    found: int = size_of(config, "feed-forward", names) or 4 * size_of(config, "stream", names)
    return found


def _times(name: str, small: int, large: int) -> int:
    if large % small or not large:
        raise ValueError(
            f"{name}: got {large}; accepted: a multiple of {small}, as {_COPIED[name]}"
        )
    return large // small


def widened(
    small: Any,
    large: Any,
    tied: bool,
    attention: Attention,
    *,
    table: float = 1.0,
    names: Names = MappingProxyType({}),
) -> Axes:
    """The axes by which a Transformer grows from one configuration to another, by name.

    ``table`` is the factor on the embedding table, where the class multiplies what it looks up by a
    number that depends on the width, as Gemma by √d. ``names`` says what the configurations call
    their sizes, where that is not usual.

    Raises:
        ValueError: a size is no multiple of the small one; or only a part of each head is rotary,
            and a larger head has not as much larger a part.
    """

    def sizes(what: str) -> tuple[Any, Any]:
        return size_of(small, what, names), size_of(large, what, names)

    _require_known(small, names)
    stream, count = size_of(small, "stream", names), size_of(small, "heads", names)
    grown, more = sizes("stream")[1], _times("heads", *sizes("heads"))
    if grown < stream:
        raise ValueError(f"stream: got {grown}; accepted: at least {stream}")
    groups, grown_groups = sizes("key-value heads")
    groups, grown_groups = groups or count, grown_groups or more * count
    more_groups = _times("key-value heads", groups, grown_groups)
    if more * count % grown_groups or more * count // groups % more_groups:
        raise ValueError(
            f"key_value_heads: got {grown_groups}; accepted: one that divides {more * count} heads"
        )
    size = head_size(small, names)
    grown_size = head_size(large, names)
    if not size_of(large, "head size", names) and grown_size % size:
        raise ValueError(
            f"width: got {grown} for {more * count} heads; accepted: a multiple of "
            f"{size * more * count}, as {_COPIED['head size']}"
        )
    inside = _times("head size", size, grown_size)
    inner, grown_inner = _inner(small, names), _inner(large, names)
    if grown_inner < inner:
        raise ValueError(f"feed-forward: got {grown_inner}; accepted: at least {inner}")
    embedding, grown_embedding = sizes("embedding")
    embedding, grown_embedding = embedding or stream, grown_embedding or grown
    k = grown_embedding / embedding
    pooled, grown_pooled = sizes("pooled")
    turned = _turned(small, large, size, inside, names) if attention.rotary else 0

    def in_order(axis: ax.Axis) -> ax.Axis:
        """Copies of whole heads, so that the copies of a key-value head serve the same heads."""
        if more % more_groups:  # no such order
            return axis.in_blocks(count, more)
        return axis.in_blocks(count, more // more_groups).in_blocks(groups, more_groups)

    def head_axis(heads: int, turned: int, slots: float = 1.0, copies: float = 1.0) -> ax.Axis:
        """Rotary pairs in their slots, times one scale, and copies of the rest, times another."""
        if turned == size:
            return ax.rotary(heads, size, inside, layout=attention.rotary, scale=slots)
        if not turned:
            return ax.heads(heads, size, inside, scale=copies)
        one = ax.rotary(1, turned, inside, layout=attention.rotary, scale=slots)
        rest = ax.heads(1, size - turned, inside, scale=copies)
        return ax.concatenated(*[one, rest] * heads)

    scaled = _told(small, attention.scaled)
    scales = [rules.score_scale(inside, copies, scaled=scaled) for copies in (1, inside)]
    c = scales[0 if turned else 1]
    alone = not attention.fused and power_of_two(c**2) and not power_of_two(c)
    on_query, on_key = [[c**power for c in scales] for power in ((2, 0) if alone else (1, 1))]
    of_value = scales[1] if attention.fused else 1.0
    value_turned = turned if _told(small, attention.rotary_value) else 0

    def query_key_value(count: int, groups: int) -> list[ax.Axis]:
        return [
            head_axis(count, turned, *on_query),
            head_axis(groups, turned, *on_key),
            head_axis(groups, value_turned, copies=of_value),
        ]

    query, key, value = query_key_value(count, groups)
    query = in_order(query)
    key, value = (axis.in_blocks(groups, more_groups) for axis in (key, value))
    of_each = ax.concatenated(*query_key_value(1, 1) * count).in_blocks(count, more)
    quarter = count // 4 or 1
    one, two, three = (axis.in_blocks(quarter, more) for axis in query_key_value(quarter, quarter))
    of_quarters = ax.concatenated(*[one, three, two] * (count // quarter))
    scored = rules.scored_scale(k, tied=tied) / table if tied else 1.0
    features = rules.features_scale(k, tied=tied, scaled=_told(small, attention.scaled_head))
    whole, unnormed = ax.isometric(stream, grown), (inside**0.5, 1.0)
    gate = ax.stretched(inner, grown_inner)
    (expert, shared) = (ax.stretched(*sizes(what)) if sizes(what)[0] else ax.unchanged(0)
                        for what in ("expert", "shared expert"))  # fmt: skip
    end = features / table if tied else features
    table_axis, last, head = (
        ax.isometric(embedding, grown_embedding, scale=scale) for scale in (table, end, scored)
    )
    return {
        **{
            what: ax.unchanged(size_of(large, what, names) or 0)
            for what in ("vocabulary", "channels", "experts")
        },
        "classes": ax.unchanged(getattr(small, "num_labels", 0)),
        "heads": in_order(ax.unchanged(count)),
        "key-value heads": ax.repeated(groups, more_groups),
        "embedding": ax.isometric(embedding, grown_embedding),
        "table": table_axis,
        "stream": whole,
        "branch": whole,
        "sum": whole,
        "pooled": ax.stretched(pooled or stream, grown_pooled or grown),
        "feed-forward": gate,
        "gate, up": ax.concatenated(gate, gate),
        "gate, up by turns": ax.by_turns(gate, 2),
        "expert": expert,
        "gate, up of an expert": ax.concatenated(expert, expert),
        "shared expert": shared,
        "one number": ax.unchanged(1),
        "query": query,
        "key": key,
        "value": value,
        "query before its norm": in_order(head_axis(count, turned, *unnormed)),
        "key before its norm": head_axis(groups, turned, *unnormed).in_blocks(groups, more_groups),
        "query of a head": head_axis(1, turned, *on_query),
        "key of a head": head_axis(1, turned, *on_key),
        "query of a head before its norm": head_axis(1, turned, *unnormed),
        "key of a head before its norm": head_axis(1, turned, *unnormed),
        "query, key, value": ax.concatenated(query, key, value),
        "query, key, value of each head": of_each,
        "query, value, key of each quarter": of_quarters,
        "attended": in_order(head_axis(count, value_turned, copies=of_value)),
        "features": last,
        "last of the stream": last if embedding == stream else whole,
        "scored": head,
    }


def _told(config: Any, what: str | bool) -> bool:
    """An option's value, or what is known without one."""
    return bool(getattr(config, what, False)) if isinstance(what, str) else what


def power_of_two(scale: float) -> bool:
    """Whether a factor rounds nothing but subnormal numbers; to 12 digits."""
    return math.frexp(round(scale, 12))[0] == 0.5


def _turned(small: Any, large: Any, size: int, inside: int, names: Names) -> int:
    """How many coordinates of each head are rotary."""
    part: int | None = size_of(small, "rotary part", names)
    if part:
        return part
    told = getattr(small, "rope_parameters", None) or {}
    share = told.get("partial_rotary_factor") or 1.0
    if int(inside * size * share) != inside * int(size * share):
        raise ValueError(
            f"partial_rotary_factor: got {share} for heads of {size} coordinates, of which "
            f"{int(size * share)} are turned; accepted: one of which heads of {inside * size} turn "
            f"{inside * int(size * share)}, and not {int(inside * size * share)}: every slot of a "
            "pair has its own speed (section 4.5)"
        )
    return int(size * share)
