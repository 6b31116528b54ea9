"""The gradient of a shared table is the sum of two: small models in which that can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import nn

from ....seeds import seed_of

KINDS = ("assigned", "read", "copied", "untied")


class TinyTransformer(nn.Module):
    """A causal Transformer of width 8 over 11 tokens, tied in one of several ways, or not.

    Args:
        kind: "assigned" (the head's parameter is the embedding's), "read" (the forward pass reads
            the embedding), "copied" or "untied" (parameters of their own with equal values).

    Raises:
        ValueError: another kind.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind: got {kind!r}; accepted: {', '.join(KINDS)}")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of("Transformer") % 2**63)
            self.embedding, self.kind = nn.Embedding(11, 8), kind
            layers = (
                nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
                for _ in range(2)
            )
            self.body = nn.Sequential(*layers)
            for weight in self.body.parameters():
                nn.init.normal_(weight, 0.3, 0.5)
        self.head = nn.Linear(8, 11, bias=False)
        if kind == "assigned":
            self.head.weight = self.embedding.weight
        elif kind != "read":
            self.head.weight = nn.Parameter(self.embedding.weight.detach().clone())

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits, (B, T, 11), of tokens, (B, T)."""
        h = self.embedding(tokens)
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], dtype=h.dtype)
        for layer in self.body:
            h = layer(h, src_mask=mask)
        return F.linear(h, self.embedding.weight) if self.kind == "read" else self.head(h)


def table_gradients(kind: str, tokens: torch.Tensor) -> list[torch.Tensor | None]:
    """Return the gradients of a model's embedding and head for next-token prediction, float64.

    Args:
        kind: of `TinyTransformer`.
        tokens: (B, T).
    """
    model = TinyTransformer(kind).double()
    F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    return [model.embedding.weight.grad, model.head.weight.grad]


def moved_together(shared: bool) -> bool:
    """Whether a step through either end of a tied pair moves both: two rows, or all seven.

    Args:
        shared: whether embedding and head are one parameter, or two with equal values.
    """
    found = []
    for through_head in (False, True):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of("pair") % 2**63)
            ends = nn.Embedding(7, 3), nn.Linear(3, 7, bias=False)
        start = ends[0].weight.detach().clone()
        ends[1].weight = ends[0].weight if shared else nn.Parameter(start.clone())
        tokens, h = torch.tensor([1, 4]), torch.ones(2, 3)
        loss = F.cross_entropy(ends[1](h), tokens) if through_head else ends[0](tokens).sin().sum()
        loss.backward()
        torch.optim.SGD([*{id(e.weight): e.weight for e in ends}.values()], lr=0.1).step()
        moved = [(end.weight != start).any(1) for end in ends]
        found.append(torch.equal(*moved) and torch.equal(ends[0].weight, ends[1].weight))
        found.append(bool(moved[0].sum() == (7 if through_head else 2)))
    return all(found)


Optimiser = Callable[[list[torch.Tensor]], torch.optim.Optimizer]


def step_gap(optimiser: Optimiser, first: float, second: float) -> float:
    """Return the first step of a tied number less the two steps of an untied twin together.

    Args:
        optimiser: makes one of torch's for a list of weights.
        first, second: the two parts of the gradient.
    """
    moved = []
    for tied in (True, False):
        one = torch.zeros((), dtype=torch.float64, requires_grad=True)
        other = one if tied else torch.zeros((), dtype=torch.float64, requires_grad=True)
        (first * one + second * other).backward()
        weights = [one] if tied else [one, other]
        optimiser(weights).step()
        moved.append(sum(w.item() for w in weights))
    return round(moved[0] - moved[1], 12) + 0.0


def displacement(
    optimiser: Optimiser, stream: Iterable[torch.Tensor], clip: float | None = None
) -> torch.Tensor:
    """Return how far a weight of six numbers gets on a stream of gradients.

    Args:
        optimiser: makes one of torch's for a list of weights.
        stream: gradients, (6,) each.
        clip: largest norm of a gradient, where it is clipped.
    """
    w = torch.linspace(-1, 1, 6, dtype=torch.float64).requires_grad_()
    before, descent = w.detach().clone(), optimiser([w])
    for g in stream:
        w.grad = g.clone()
        if clip is not None:
            nn.utils.clip_grad_norm_([w], clip)
        descent.step()
    return w.detach() - before


OPTIMISERS: dict[str, tuple[Optimiser, float | None]] = {
    "SGD": (lambda w: torch.optim.SGD(w, lr=0.1), None),
    "SGD, momentum": (lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9), None),
    "SGD, Nesterov": (lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, nesterov=True), None),
    "SGD, weight decay": (lambda w: torch.optim.SGD(w, lr=0.1, weight_decay=0.1), None),
    "SGD, clipped norm": (lambda w: torch.optim.SGD(w, lr=0.1), 1.0),
    "AdaGrad": (lambda w: torch.optim.Adagrad(w, lr=0.1), None),
    "RMSprop": (lambda w: torch.optim.RMSprop(w, lr=0.1), None),
    "Adam": (lambda w: torch.optim.Adam(w, lr=0.1), None),
}
