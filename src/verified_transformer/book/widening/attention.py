"""PyTorch's attention made wider, with any layout of the heads."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from verifiedbook.seeds import generator
from weightwise.growth.axes import Axis, concatenated, heads

from ..arrays import largest_error
from ..real_models.tiny import randomised
from .layers import Layout, widened


def states(width: int) -> torch.Tensor:
    """Two sequences of standard normal states, (2, 5, width), in float64."""
    source = generator(f"states of width {width}")
    return torch.randn(2, 5, width, generator=source, dtype=torch.float64)


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
) -> nn.MultiheadAttention:
    """PyTorch's attention, k times as wide by eqs. 6 and 14.

    Args:
        layer: the small one.
        k: factor of growth.
        layout: of queries, keys and values in their heads.
        around: of the states that go in and out.
        more_heads: k times as many heads of the old size, instead of larger ones; their
            inner products and their scale stay, so that queries and keys are only repeated.
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
    large.out_proj = widened(layer.out_proj, outer, value)  # type: ignore[assignment]
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
