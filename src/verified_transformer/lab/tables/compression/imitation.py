"""Teachers and students: small networks, and models that a table serves."""

from __future__ import annotations

import torch
from torch import nn

from ....seeds import seed_of
from ..costs.sequence_layers import random
from .made import cut, thin


class TinyModel(nn.Module):
    """A table, a layer and a head: the smallest language model, width 24, 60 tokens.

    Args:
        table: an embedding layer of width 24.
    """

    def __init__(self, table: nn.Module) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of("tiny") % 2**63)
            self.table = table
            self.layer, self.head = nn.Linear(24, 24), nn.Linear(24, 60, bias=False)
        self.double()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores, (T, 60), of tokens, (T,)."""
        scores: torch.Tensor = self.head(torch.tanh(self.layer(self.table(tokens))))
        return scores


Network = tuple[torch.Tensor, torch.Tensor]


def drawn_network(hidden: int, name: str) -> Network:
    """Draw a network of one hidden layer, 4 inputs, 3 outputs, with the seed of a name."""
    first, last = random(4, hidden, name=f"{name} first"), random(hidden, 3, name=f"{name} last")
    return first / 4, last / hidden**0.5


def outputs(network: Network, x: torch.Tensor) -> torch.Tensor:
    """Return the outputs, (B, 3), of inputs, (B, 4)."""
    first, last = network
    return torch.tanh(x @ first) @ last


def student_of(teacher: Network, hidden: int = 12) -> Network:
    """Fit the last layer of a smaller network to a teacher's outputs."""
    first, x = random(4, hidden, name="student") / 4, random(400, 4, name="inputs")
    return first, torch.linalg.lstsq(torch.tanh(x @ first), outputs(teacher, x)).solution


def unexplained(student: Network, teacher: Network) -> float:
    """Return the share of the teacher's outputs that the student misses, on new inputs."""
    x = random(200, 4, name="new inputs")
    wanted = outputs(teacher, x)
    return ((outputs(student, x) - wanted).square().sum() / wanted.square().sum()).item()


def turned_pair(table: torch.Tensor, name: str, *, along: bool = True) -> list[TinyModel]:
    """Return two models: one with the best factors of a table, one whose table is turned.

    Args:
        table: (60, 24).
        name: seed of the turn.
        along: whether the layer behind the turned table is turned along with it.
    """
    best = cut(table, 6)
    turn = torch.linalg.qr(random(24, 24, name=name))[0]
    first, second = TinyModel(best), TinyModel(thin(best.codes.detach(), best.basis @ turn))
    with torch.no_grad():
        behind = turn if along else torch.eye(24, dtype=turn.dtype)
        second.layer.weight.copy_(first.layer.weight @ behind)
    return [first, second]
