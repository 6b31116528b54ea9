"""Rotary heads: the rotations of two real models, and ways to make a head k times as large.

A pair of coordinates turns by an angle of its own. Llama pairs a coordinate with the one half a
head further on ("halves"), RoFormer with its neighbour ("interleaved").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from ...models.growth.axes import Axis, heads, repeated, rotary
from ...models.growth.rules import score_scale
from ...seeds import generator
from ..arrays import relative_error
from ..real_models.hugging_face import transformers
from ..real_models.tiny import randomised
from .layers import copied, widened

Place = Callable[[int, int, int, str], Axis]  # heads, head size, k, layout
POSITIONS = (0, 1, 2, 5, 17, 100, 101, 640, 1500, 2047, 3000, 4095)
_LLAMA = transformers.models.llama.modeling_llama
_ROFORMER = transformers.models.roformer.modeling_roformer


def each_coordinate(count: int, size: int, k: int, layout: str) -> Axis:
    """Eq. 2: every coordinate k times in a row, whatever the layout."""
    return heads(count, size, k)


def each_pair(count: int, size: int, k: int, layout: str) -> Axis:
    """Eq. 15 as printed: every block of two neighbours k times, whatever the layout."""
    source = torch.arange(count * size).view(-1, 1, 2).expand(-1, k, 2).flatten()
    return copied(source, count * size)


def every_kth_slot(count: int, size: int, k: int, layout: str) -> Axis:
    """One copy of each pair, where the grown head turns at its speed; the rest is zero."""
    return rotary(count, size, k, layout=layout)


def first_slots(count: int, size: int, k: int, layout: str) -> Axis:
    """One copy of each pair, in the first slots, which turn fastest."""
    return _moved(count, size, k, layout, lambda pair: pair)


def _moved(
    count: int, size: int, k: int, layout: str, slot: Callable[[torch.Tensor], torch.Tensor]
) -> Axis:
    pair, side = torch.arange(size // 2)[:, None], torch.arange(2)[None]
    if layout == "interleaved":
        old, new = 2 * pair + side, 2 * slot(pair) + side
    else:
        old, new = pair + side * size // 2, slot(pair) + side * k * size // 2
    head = torch.arange(count)[:, None, None]
    old, new = (old + head * size).flatten(), (new + head * k * size).flatten()
    source = torch.zeros(k * count * size, dtype=torch.long).index_copy(0, new, old)
    factor = torch.zeros(k * count * size, dtype=torch.float64).index_fill(0, new, 1.0)
    return Axis(source, factor, count * size)


def copies(axis: Axis) -> int:
    """How many copies each old coordinate has, zeros not counted."""
    return int(axis.factor.count_nonzero()) // axis.size


def scored(axis: Axis, k: int, *, scaled: bool) -> Axis:
    """The axis with the factor on queries and keys that keeps the scores.

    Args:
        axis: of a query or a key, without a factor.
        k: by which the head grows.
        scaled: whether scores are divided by the root of the head size; without it the inner
            product is kept.
    """
    factor = axis.factor * score_scale(k, copies(axis), scaled=scaled)
    return Axis(axis.source, factor, axis.size)


def angles(positions: Sequence[float] | torch.Tensor, size: int, base: float = 1e4) -> torch.Tensor:
    """The angle of each pair of a head at each position, (positions, size / 2), float64."""
    slots = torch.arange(0, size, 2, dtype=torch.float64)
    return torch.as_tensor(positions, dtype=torch.float64)[:, None] * base ** (-slots / size)


def turned(
    layout: str, query: torch.Tensor, key: torch.Tensor, angle: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries and keys turned by the model's own function, on tables of any precision.

    Args:
        layout: "interleaved" for RoFormer's, "halves" for Llama's.
        query: (…, positions, head size).
        key: in the same shape.
        angle: (positions, head size / 2) or (1, head size / 2).
    """
    if layout == "interleaved":
        table = torch.cat([angle.sin(), angle.cos()], -1)
        return by_table(table, query, key)
    twice = torch.cat([angle, angle], -1)
    query, key = _LLAMA.apply_rotary_pos_emb(query, key, twice.cos(), twice.sin(), unsqueeze_dim=0)
    return query[0], key[0]


def scores(layout: str, place: Place | None, angle: torch.Tensor, k: int = 2) -> torch.Tensor:
    """The matrix between query and key of a head, (size, size), the query turned by the angles.

    Args:
        layout: as in `turned`.
        place: how the head grows, with the factor that keeps inner products; None leaves it.
        angle: (1, pairs of the head that results).
        k: factor of growth.
    """
    size = 2 * angle.shape[-1] // (k if place else 1)
    basis = torch.eye(size, dtype=torch.float64)
    if place:
        basis = scored(place(1, size, k, layout), k, scaled=False).write(basis, -1)
    return basis @ turned(layout, basis, basis, angle)[1].T


def llama_table(size: int, base: float = 1e4, heads: int = 1) -> Any:
    """Llama's own table of frequencies, for a head size."""
    config = transformers.LlamaConfig(
        hidden_size=heads * size, num_attention_heads=heads, num_key_value_heads=heads,
        attention_bias=True, rope_parameters={"rope_type": "default", "rope_theta": base},
    )  # fmt: skip
    return _LLAMA.LlamaRotaryEmbedding(config)


def roformer_table(size: int, positions: int = 2) -> Any:
    """RoFormer's own table; its ``create_weight()`` has sines and cosines, (positions, size)."""
    return _ROFORMER.RoFormerSinusoidalPositionalEmbedding(positions, size)


def rotary_attention(layout: str, size: int, heads: int = 2) -> nn.Module:
    """The attention of RoFormer or Llama, with biases, in float64.

    Args:
        layout: "interleaved" or "halves".
        size: of a head.
        heads: how many.
    """
    if layout == "halves":
        config = llama_table(size, heads=heads).config
        config._attn_implementation = "eager"
        return _LLAMA.LlamaAttention(config, 0).double().eval()
    config = transformers.RoFormerConfig(
        hidden_size=heads * size, num_attention_heads=heads, embedding_size=heads * size
    )
    return _ROFORMER.RoFormerSelfAttention(config).double().eval()


def attended(module: nn.Module, hidden: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """The outputs of a `rotary_attention` for hidden states and angles of a head's pairs."""
    if isinstance(module, _ROFORMER.RoFormerSelfAttention):
        table = torch.cat([angle.sin(), angle.cos()], -1)
        return module(hidden, sinusoidal_pos=table)[0]
    twice = torch.cat([angle, angle], -1)[None]
    tables = twice.cos(), twice.sin()
    return module(hidden, position_embeddings=tables, attention_mask=None)[0]


def wider_attention(
    small: nn.Module, layout: str, place: Place, k: int, *, noise: float = 0.0
) -> nn.Module:
    """A rotary attention whose heads are k times as large; states are divided by the root of k.

    Args:
        small: from `rotary_attention`, of two heads.
        layout: its layout.
        place: where queries and keys go.
        k: factor of growth.
        noise: standard deviation of what the keys get where the queries are zero.
    """
    width = next(small.parameters()).shape[0]
    stream = repeated(width, k, scale=k**-0.5)
    slots = scored(place(2, width // 2, k, layout), k, scaled=True)
    large, source = rotary_attention(layout, k * width // 2), generator("empty slots")
    for name, layer in small.named_modules():
        if isinstance(layer, nn.Linear):
            wide = widened(layer, slots if name[0] in "qk" else stream, stream)
            if name[0] == "k":
                for value in wide.parameters():
                    drawn = torch.randn(value.shape, generator=source, dtype=torch.float64)
                    value.data[slots.factor == 0] += noise * drawn[slots.factor == 0]
            setattr(large, name, wide)
    return large


def drawn_attention(layout: str, size: int, heads: int = 2, *, name: str = "") -> nn.Module:
    """A `rotary_attention` with random weights and biases, its scores of moderate size."""
    return randomised(rotary_attention(layout, size, heads), name or layout, scale=heads**-0.5 / 2)


def by_table(
    table: torch.Tensor, query: torch.Tensor, key: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """RoFormer's rotation with any numbers for sines and cosines, (…, head size)."""
    return _ROFORMER.RoFormerSelfAttention.apply_rotary_position_embeddings(table, query, key)


def enlarged_pair(
    name: str, layout: str, place: Place, k: int, *, base: float = 1e4
) -> tuple[torch.Tensor, torch.Tensor]:
    """The outputs of a model's attention with heads k times as large, and those that are wanted.

    Args:
        name: what weights and states are drawn from.
        layout: of the model.
        place: where queries and keys go.
        k: factor of growth.
        base: of the grown head's frequencies.
    """
    small, hidden = drawn_attention(layout, 8, name=name), _hidden(name)
    stream = repeated(16, k, scale=k**-0.5)
    large = wider_attention(small, layout, place, k, noise=1.0)
    found = attended(large, stream.write(hidden, -1), angles(POSITIONS, 8 * k, base))
    return found, stream.write(attended(small, hidden, angles(POSITIONS, 8)), -1)


def enlarging_error(layout: str, place: Place, k: int, *, base: float = 1e4) -> float:
    """Relative error of the outputs of an `enlarged_pair`."""
    return relative_error(*enlarged_pair("", layout, place, k, base=base))


def more_heads_error(k: int) -> float:
    """The same in RoFormer, where heads of the old size are repeated as a whole."""
    small, large = (drawn_attention("interleaved", 8, heads) for heads in (2, 2 * k))
    stream, hidden = repeated(16, k, scale=k**-0.5), _hidden()
    order = torch.arange(16).view(2, 8).repeat_interleave(k, 0).flatten()
    whole = copied(order, 16)
    for name in ("query", "key", "value"):
        setattr(large, name, widened(getattr(small, name), whole, stream))
    found = attended(large, stream.write(hidden, -1), angles(POSITIONS, 8))
    return relative_error(found, whole.write(attended(small, hidden, angles(POSITIONS, 8)), -1))


def empty_slots_learn(*, noise: float) -> bool:
    """Whether the query's empty slots get a gradient, with some noise in the keys' ones."""
    small, stream = drawn_attention("interleaved", 8), repeated(16, 2, scale=2**-0.5)
    large = wider_attention(small, "interleaved", every_kth_slot, 2, noise=noise)
    wide = stream.write(_hidden(), -1)
    attended(large, wide, angles(POSITIONS, 16)).square().sum().backward()
    bias = large.get_parameter("query.bias")
    seen = bias.grad[bias.detach() == 0] if bias.grad is not None else torch.zeros(1)
    return bool((seen != 0).all())


def _hidden(name: str = "") -> torch.Tensor:
    source = generator(f"{name} hidden states at some positions".strip())
    return torch.randn(1, len(POSITIONS), 16, generator=source, dtype=torch.float64)
