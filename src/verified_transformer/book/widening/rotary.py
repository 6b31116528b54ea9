"""Queries and keys turned by the models' own functions, and one slot for each pair of a grown head.

Layouts are those of `layers`: ``every_kth_slot`` stands beside ``each_coordinate`` and
``each_pair``.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from weightwise.growth.axes import Axis, rotary
from weightwise.growth.rules import score_scale

from ..real_models.hugging_face import transformers


def every_kth_slot(count: int, size: int, k: int, layout: str) -> Axis:
    """One copy of each pair, where the grown head turns at its speed; the rest is zero."""
    return rotary(count, size, k, layout=layout)


def angles(positions: Sequence[int], size: int, base: float = 1e4) -> torch.Tensor:
    """The angle of each pair of a head at each position: (positions, size / 2), in float64.

    Example:
        >>> angles([0, 2], 4)
        tensor([[0.0000, 0.0000],
                [2.0000, 0.0200]], dtype=torch.float64)
    """
    slots = torch.arange(0, size, 2, dtype=torch.float64)
    return torch.as_tensor(positions, dtype=torch.float64)[:, None] * base ** (-slots / size)


def rotated_by(
    table: torch.Tensor, query: torch.Tensor, key: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """RoFormer's own rotation of queries and keys, with any numbers for sines and cosines.

    Args:
        table: (…, size), the sines of all pairs and then their cosines.
        query, key: (…, size), neighbours being a pair.
    """
    attention = transformers.models.roformer.modeling_roformer.RoFormerSelfAttention
    turned_pair: tuple[torch.Tensor, ...] = attention.apply_rotary_position_embeddings(
        table, query, key
    )
    return turned_pair


def turned(
    layout: str, query: torch.Tensor, key: torch.Tensor, angle: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Queries and keys turned by the function of RoFormer ("interleaved") or Llama ("halves").

    Args:
        layout: which coordinates are a pair.
        query, key: (…, size).
        angle: (…, size / 2), of each pair.
    """
    if layout == "interleaved":
        return rotated_by(torch.cat([angle.sin(), angle.cos()], -1), query, key)
    cos, sin = (f(torch.cat([angle, angle], -1)) for f in (torch.cos, torch.sin))
    turn = transformers.models.llama.modeling_llama.apply_rotary_pos_emb
    return tuple(x[0] for x in turn(query, key, cos, sin, unsqueeze_dim=0))


def copies(axis: Axis) -> int:
    """How many copies of each old coordinate an axis has, zeros not counted."""
    return int(axis.factor.count_nonzero()) // axis.size


def scored(axis: Axis, k: int, *, scaled: bool) -> Axis:
    """The axis with the factor on queries and keys that keeps the scores.

    Args:
        axis: of a layout.
        k: factor of growth of the head.
        scaled: whether attention divides scores by the root of the head's size.
    """
    return Axis(axis.source, axis.factor * score_scale(k, copies(axis), scaled=scaled), axis.size)
