"""The article's model, and modules built with torch seeded from a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from verifiedbook.seeds import seed_of


class TiedModel(nn.Module):
    """The article's model, quiet, and small.

    Args:
        tie: whether the head's parameter is the embedding's.
        n: size of the vocabulary.
        d: width.
    """

    def __init__(self, tie: bool = True, n: int = 7, d: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d)
        self.body = nn.Linear(d, d)
        self.lm_head = nn.Linear(d, n, bias=False)
        if tie:
            self.lm_head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits, (…, n), of tokens, (…)."""
        logits: torch.Tensor = self.lm_head(self.body(self.embedding(ids)))
        return logits


def seeded(name: str, build: Callable[[], Any]) -> Any:
    """Build a module with torch seeded from a name, and leave torch's generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        return build()
