"""Ways to make a model of `transformers` k times as wide, besides the lossless one of `grow`."""

from __future__ import annotations

from typing import Any

import torch

from ...models.growth import Axis, grow_along, heads, score_scale


def by_pairs(model: Any, k: int) -> Any:
    """Return a RoFormer whose queries and keys are repeated by pairs, as eq. 15 of kexue 8444 says.

    Args:
        model: a RoFormerForMaskedLM.
        k: factor of growth.
    """
    count, size = _heads(model.config)
    source = torch.arange(count * size).view(-1, 1, 2).expand(-1, k, 2).flatten()
    scale = score_scale(k, k, scaled=True)
    axis = Axis(source, torch.full((len(source),), scale, dtype=torch.float64), count * size)
    return grow_along(model, k, {"query": axis, "key": axis})


def by_coordinates(model: Any, k: int) -> Any:
    """Return a RoFormer whose queries and keys are repeated by coordinates, as eq. 2 says.

    Args:
        model: a RoFormerForMaskedLM.
        k: factor of growth.
    """
    axis = heads(*_heads(model.config), k, scale=score_scale(k, k, scaled=True))
    return grow_along(model, k, {"query": axis, "key": axis})


def _heads(config: Any) -> tuple[int, int]:
    return config.num_attention_heads, config.hidden_size // config.num_attention_heads
