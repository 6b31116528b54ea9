"""Ways to make a model of `transformers` k times as wide, besides the lossless one of `grow`."""

from __future__ import annotations

from typing import Any

import torch

from weightwise.growth import Axis, grow_along, heads, score_scale


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


def by_zeros(model: Any, k: int, readers: torch.Generator | None = None) -> Any:
    """Return a BERT whose vectors are padded with zeros, as eq. 1 of kexue 8444 has it.

    Heads are padded each by itself. Queries and keys take the root that keeps the scores, gains the
    root by which a norm divides a padded vector of mean zero: so far as padding can be lossless, it
    is, and all that is lost is what a LayerNorm makes of the mean (GROW-04).

    Args:
        model: a BertForMaskedLM, tied.
        k: factor of growth.
        readers: draws the weights that read the new coordinates (and the new keys, for which no
            query asks), as large as the old ones; without it they are zeros as well. What is read
            there is zero, so that the function is the same.
    """
    count, size = _heads(model.config)
    stream = padded(1, model.config.hidden_size, k)
    inner, scored = padded(count, size, k), score_scale(k, 1, scaled=True)
    names = ("stream", "embedding", "features", "scored")
    large = grow_along(model, k, {
        **dict.fromkeys(names, stream),
        **dict.fromkeys(("value", "attended"), inner),
        **dict.fromkeys(("query", "key"), padded(count, size, k, scored)),
        "feed-forward": padded(1, model.config.intermediate_size, k),
    }, noise=k if readers else 0.0, generator=readers)  # fmt: skip
    with torch.no_grad():
        for module in large.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.div_(k**0.5)
    return large


def padded(count: int, size: int, k: int, scale: float = 1.0) -> Axis:
    """Return the axis along which each of some heads has zeros behind it.

    Args:
        count, size: heads, and numbers in each; one head for an axis that has none.
        k: factor of growth.
        scale: of what is kept.
    """
    source = torch.arange(count * size).view(count, 1, size).expand(-1, k, -1)
    factor = torch.zeros(count, k, size, dtype=torch.float64)
    factor[:, 0] = scale
    return Axis(source.flatten(), factor.flatten(), count * size)


def _heads(config: Any) -> tuple[int, int]:
    return config.num_attention_heads, config.hidden_size // config.num_attention_heads
