"""Does a tied model train as one with a single matrix? Not if the tie is of memory only."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from ..keeping.ties import TiedModel, seeded

OPTIMISERS: dict[str, tuple[type[torch.optim.Optimizer], dict[str, Any]]] = {
    "SGD": (torch.optim.SGD, {}),
    "SGD, momentum": (torch.optim.SGD, {"momentum": 0.9}),
    "SGD, weight decay": (torch.optim.SGD, {"weight_decay": 0.1}),
    "Adam": (torch.optim.Adam, {}),
    "AdamW": (torch.optim.AdamW, {"weight_decay": 0.1}),
}
KINDS = ("tied", "half tie", "copy")


class OneMatrix(nn.Module):
    """The tied model written with one matrix, which the forward pass reads twice.

    Args:
        like: whose values it starts with.
    """

    def __init__(self, like: TiedModel) -> None:
        super().__init__()
        self.matrix = nn.Parameter(like.embedding.weight.detach().clone())
        self.body = copy.deepcopy(like.body)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits, (…, n), of tokens, (…)."""
        hidden: torch.Tensor = self.body(self.matrix[ids])
        return hidden @ self.matrix.T


def distance_from_one_matrix(kind: str, optimiser: str) -> float:
    """Return the largest distance of a weight from the single-matrix model after five steps.

    Args:
        kind: "tied"; "half tie", two parameters over one memory; or "copy".
        optimiser: a key of `OPTIMISERS`.

    Raises:
        ValueError: another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: got {kind!r}; accepted: {', '.join(KINDS)}")
    start = seeded("half tie", TiedModel).double()
    model = copy.deepcopy(start)
    if kind != "tied":
        data = model.embedding.weight.data
        model.lm_head.weight = nn.Parameter(data if kind == "half tie" else data.clone())
    single = OneMatrix(start)
    for trained in (single, model):
        _five_steps(trained, optimiser)
    pairs = [(model.embedding.weight, single.matrix)]
    pairs += zip(model.body.parameters(), single.body.parameters(), strict=True)
    return max((one - other).abs().max().item() for one, other in pairs)


def _five_steps(model: nn.Module, optimiser: str) -> None:
    ids, following = torch.tensor([0, 3, 1, 6, 2, 3]), torch.tensor([3, 1, 6, 2, 3, 5])
    cls, settings = OPTIMISERS[optimiser]
    steps = cls(model.parameters(), lr=0.05, **settings)  # type: ignore[call-arg]
    for _ in range(5):
        steps.zero_grad()
        nn.functional.cross_entropy(model(ids), following).backward()
        steps.step()
