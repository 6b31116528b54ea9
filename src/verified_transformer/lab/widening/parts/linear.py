"""A linear layer made wider, by the rule of `models.growth` and with further factors."""

from __future__ import annotations

import torch
from torch import nn

from ....models.growth.axes import Axis
from ....models.growth.rules import Part, linear


def widened(
    layer: nn.Linear, writes: Axis, reads: Axis, *, weight: float = 1.0, bias: float = 1.0
) -> nn.Linear:
    """Return a linear layer grown by W̃ = E_out W E_in⁺, b̃ = E_out b.

    Args:
        layer: the small one.
        writes: axis of its outputs.
        reads: axis of its inputs.
        weight, bias: further factors; 1 is the exact rule.

    Returns:
        A new layer; without a bias where the small one has none.

    Raises:
        ValueError: an axis has another size than the layer.

    Example:
        >>> from verified_transformer.models.growth.axes import repeated
        >>> widened(nn.Linear(3, 2), repeated(2, 4), repeated(3, 4))
        Linear(in_features=12, out_features=8, bias=True)
    """
    if (writes.size, reads.size) != (layer.out_features, layer.in_features):
        raise ValueError(
            f"writes, reads: got sizes {writes.size}, {reads.size}; accepted: the layer's "
            f"{layer.out_features}, {layer.in_features}"
        )
    factors = {"weight": weight, "bias": bias}
    large = nn.Linear(
        len(reads.source), len(writes.source), layer.bias is not None, dtype=layer.weight.dtype
    )
    with torch.no_grad():
        for leaf, value in layer.named_parameters():
            part = Part(leaf, value.detach(), writes, reads, value.detach())
            getattr(large, leaf).copy_(factors[leaf] * linear(part))
    return large
