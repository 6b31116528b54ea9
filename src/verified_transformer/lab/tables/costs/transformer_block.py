"""A Transformer block, written out so that the counter knows every call."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """Attention and feed-forward layer, each after a normalisation and with a way around it.

    Args:
        width: d; the feed-forward layer has 4 d inner units.
        heads: of attention; they divide the width.

    Raises:
        ValueError: they do not.
    """

    def __init__(self, width: int, heads: int = 2) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise ValueError(f"heads: got {heads}; accepted: divisors of the width {width}")
        self.heads, self.norms = heads, nn.ModuleList(nn.LayerNorm(width) for _ in "af")
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's output, (…, T, d) like its input."""
        parts = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = parts.movedim(-3, 0).transpose(-2, -3)
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        mixed = scores.softmax(-1) @ value
        x = x + self.out(mixed.transpose(-2, -3).flatten(-2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))
