"""The feed-forward block made wider: exactly, and with further factors on its second layer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from ....models.growth.axes import repeated
from ....seeds import generator
from .linear import widened

Activation = Callable[[torch.Tensor], torch.Tensor]
SECOND_BIASES = ("none", "zero", "PyTorch's default", "random")


class FeedForward(nn.Module):
    """Two linear layers and an activation between them."""

    def __init__(self, first: nn.Linear, second: nn.Linear, activation: Activation) -> None:
        super().__init__()
        self.first, self.second, self.activation = first, second, activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the block on the last axis."""
        return self.second(self.activation(self.first(x)))


def feed_forward(
    name: str, activation: Activation, *, width: int = 6, second_bias: str = "random"
) -> FeedForward:
    """Return a block in float64 with PyTorch's weights and a random first bias.

    Args:
        name: what the draws are derived from.
        activation: between the layers.
        width: of input and output; the hidden width is twice that less two.
        second_bias: one of `SECOND_BIASES`.

    Raises:
        ValueError: another kind of bias.
    """
    if second_bias not in SECOND_BIASES:
        raise ValueError(f"second_bias: got {second_bias!r}; accepted: {', '.join(SECOND_BIASES)}")
    source, hidden = generator(name), 2 * width - 2
    first = nn.Linear(width, hidden).double()
    second = nn.Linear(hidden, width, bias=second_bias != "none").double()
    for layer, kind in ((first, "random"), (second, second_bias)):
        bound = layer.in_features**-0.5  # of PyTorch's own draw
        nn.init.uniform_(layer.weight, -bound, bound, generator=source)
        if kind == "random":
            nn.init.normal_(layer.bias, generator=source)
        elif kind == "zero":
            nn.init.zeros_(layer.bias)
        elif layer.bias is not None:
            nn.init.uniform_(layer.bias, -bound, bound, generator=source)
    return FeedForward(first, second, activation).requires_grad_(False)


def wider(
    block: FeedForward,
    k: int,
    *,
    hidden: float = 1.0,
    m: int | None = None,
    weight: float = 1.0,
    bias: float = 1.0,
) -> FeedForward:
    """Return the block whose input and output are repeated k times and divided by √k.

    Args:
        block: the small one.
        k: factor of the stream.
        hidden: scale of the hidden copies: 1 is the rule of eqs. 9 and 11, 1/√k that of eq. 6.
        m: factor of the hidden width; k where none is given.
        weight, bias: further factors on the second layer. Eq. 11 as printed has bias 1/√k.
    """
    first, second = block.first, block.second
    stream = repeated(first.in_features, k, scale=k**-0.5)
    inner = repeated(first.out_features, m or k, scale=hidden)
    grown = widened(second, stream, inner, weight=weight, bias=bias)
    return FeedForward(widened(first, inner, stream), grown, block.activation)
