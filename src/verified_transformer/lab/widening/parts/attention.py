"""PyTorch's attention made wider, with any layout of the heads."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from ....models.growth.axes import Axis, concatenated, heads
from ....seeds import generator
from ...arrays.comparing import largest_error
from ...real_models.tiny import randomised
from .layouts import Layout
from .linear import widened


def states(width: int, *, tokens: int = 5) -> torch.Tensor:
    """Two sequences of standard normal states, (2, tokens, width), in float64."""
    source = generator(f"states of width {width}")
    return torch.randn(2, tokens, width, generator=source, dtype=torch.float64)


def stream(width: int, k: int, layout: Layout = heads) -> Axis:
    """The axis of the article's stream: repeated and divided by √k."""
    return layout(1, width, k, scale=k**-0.5)


def multihead(count: int, size: int, name: str = "multihead") -> nn.MultiheadAttention:
    """PyTorch's attention with ``count`` heads of ``size``, all parameters drawn from a name."""
    layer = nn.MultiheadAttention(count * size, count, batch_first=True)
    return randomised(layer, f"{name} {count} {size}", scale=0.4).requires_grad_(False)


def wider_multihead(
    layer: nn.MultiheadAttention,
    k: int,
    *,
    layout: Layout = heads,
    around: Layout = heads,
    more_heads: bool = False,
    out_bias: float = 1.0,
) -> nn.MultiheadAttention:
    """PyTorch's attention, k times as wide by eqs. 6 and 14.

    Args:
        layer: the small one.
        k: factor of growth.
        layout: of queries, keys and values in their heads.
        around: of the states that go in and out.
        more_heads: k times as many heads of the old size, in the place of larger ones; their
            inner products and their scale stay, so that queries and keys are only repeated.
        out_bias: a further factor on the last bias.
    """
    count, size = layer.num_heads, layer.head_dim
    scored = layout(count, size, k, scale=1.0 if more_heads else k**-0.25)
    value, outer = layout(count, size, k, scale=k**-0.5), stream(layer.embed_dim, k, around)
    packed = concatenated(scored, scored, value)
    number = count * k if more_heads else count
    large = nn.MultiheadAttention(
        k * layer.embed_dim, number, batch_first=True, dtype=torch.float64
    ).requires_grad_(False)
    large.in_proj_weight.copy_(outer.read(packed.write(layer.in_proj_weight, 0), 1))
    large.in_proj_bias.copy_(packed.write(layer.in_proj_bias, 0))
    large.out_proj = widened(layer.out_proj, outer, value, bias=out_bias)  # type: ignore[assignment]
    return large.requires_grad_(False)


def attended(layer: nn.MultiheadAttention, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs and attention matrices of two sequences: causal, the second one padded by two."""
    causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    padding = torch.zeros(2, x.shape[1], dtype=torch.bool)
    padding[1, -2:] = True
    return layer(x, x, x, attn_mask=causal, key_padding_mask=padding, average_attn_weights=False)


def multihead_pairs(
    k: int,
    *,
    count: int = 4,
    size: int = 3,
    around: Layout = heads,
    name: str = "multihead",
    **options: Any,
) -> tuple[tuple[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    """Outputs and matrices of a `wider_multihead` with ``options``, each with what is wanted."""
    layer, axis = multihead(count, size, name), stream(count * size, k, around)
    large, x = wider_multihead(layer, k, around=around, **options), states(count * size)
    out, matrix = attended(layer, x)
    out_new, matrix_new = attended(large, axis.write(x, -1))
    old_head = torch.arange(large.num_heads) % count
    return (out_new, axis.write(out, -1)), (matrix_new, matrix[:, old_head])


def multihead_errors(k: int, **options: Any) -> tuple[float, float]:
    """Largest relative errors of the outputs and matrices of `multihead_pairs`."""
    outputs, matrices = multihead_pairs(k, **options)
    return largest_error(*outputs), largest_error(*matrices)


def share_of_best_key(lead: float, tokens: int, size: int, k: int) -> float:
    """The attention of a key that stands out, by torch; head, query and keys grown by eq. 6.

    Args:
        lead: by how much its logit is above all others, before growing.
        tokens: number of keys.
        size: of the small head.
        k: factor of growth.
    """
    query = torch.full((size,), lead**0.5 * size**-0.25, dtype=torch.float64)
    query = heads(1, size, k, scale=k**-0.5).write(query, 0)
    keys = torch.zeros(tokens, len(query), dtype=torch.float64)
    keys[0] = query
    values = torch.eye(tokens, dtype=torch.float64)
    return scaled_dot_product_attention(query[None, None], keys[None], values[None])[0, 0, 0].item()


def head_outputs(layer: nn.MultiheadAttention, x: torch.Tensor) -> torch.Tensor:
    """What each head puts out, before the last layer, (2, tokens, heads, size)."""
    plain = wider_multihead(layer, 1)
    plain.out_proj.weight.copy_(torch.eye(layer.embed_dim))
    plain.out_proj.bias.zero_()
    return attended(plain, x)[0].unflatten(-1, (layer.num_heads, -1))


def grouped_error(
    k: int,
    layout: Layout,
    *,
    count: int = 6,
    shared: int = 2,
    size: int = 3,
    name: str = "grouped",
) -> float:
    """Error of the outputs where ``count`` heads of queries share ``shared`` of keys and values."""
    numbers, source = (count, shared, shared), generator(name)
    small = [torch.randn(2, 5, m * size, generator=source).double() for m in numbers]

    def run(tensors: list[torch.Tensor]) -> torch.Tensor:
        q, key, v = (
            z.unflatten(-1, (m, -1)).transpose(1, 2) for z, m in zip(tensors, numbers, strict=True)
        )
        found = scaled_dot_product_attention(q, key, v, is_causal=True, enable_gqa=True)
        return found.transpose(1, 2).flatten(-2)

    scales = (k**-0.25, k**-0.25, k**-0.5)
    axes = [layout(m, size, k, scale=s) for m, s in zip(numbers, scales, strict=True)]
    large = [axis.write(z, -1) for axis, z in zip(axes, small, strict=True)]
    wanted = layout(count, size, k, scale=k**-0.5).write(run(small), -1)
    return largest_error(run(large), wanted)


def heads_exchanged_error(*, last_layer: bool, name: str = "multihead") -> float:
    """Error where heads are in another order in q, k and v, and in the last layer or not."""
    small, other = multihead(4, 3, name), multihead(4, 3, name)
    order = torch.arange(12).view(4, 3)[[2, 0, 3, 1]].flatten()
    packed = torch.cat([order + 12 * third for third in range(3)])
    other.in_proj_weight.copy_(small.in_proj_weight[packed])
    other.in_proj_bias.copy_(small.in_proj_bias[packed])
    if last_layer:
        other.out_proj.weight.copy_(small.out_proj.weight[:, order])
    return largest_error(attended(other, states(12))[0], attended(small, states(12))[0])


def heads_changed(first_row: int, name: str = "multihead") -> int:
    """How many heads' outputs change with three rows of q, k and v, from ``first_row`` on."""
    small, other = multihead(4, 3, name), multihead(4, 3, name)
    for start in range(first_row, 36, 12):
        other.in_proj_weight[start : start + 3] += 0.5
        other.in_proj_bias[start : start + 3] -= 0.5
    apart = head_outputs(small, states(12)) - head_outputs(other, states(12))
    return int((apart.abs().amax((0, 1, 3)) > 1e-9).sum())
