r"""Models of a class of `transformers`, many of them side by side: each with its own weights.

Every model has its own batches, its own rate of Adam and its own dropout; none sees another. What
is learnt is a masked token, as in BERT, or an answer at every place.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch.func import functional_call, stack_module_state, vmap

from ....seeds import generator, seed_of
from .learning import Adam
from .tasks import Task

Weights = dict[str, torch.Tensor]


class Source(Protocol):
    """What batches are drawn from: tokens, answers, and where the answers count."""

    def drawn(
        self, seeds: int, count: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return tokens, answers and weights of the answers, (seeds, count, length) each."""


@dataclass(frozen=True)
class Masked:
    """A task's sequences with some tokens hidden, which are asked for.

    Attributes:
        task: whose tokens they are.
        hidden: tokens that are hidden in each sequence; their place is taken by one token more.
    """

    task: Task
    hidden: int

    def drawn(
        self, seeds: int, count: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return tokens, answers and weights of the answers, (seeds, count, length) each."""
        x, _ = self.task.batch(seeds, count, source)
        places = torch.rand(x.shape, generator=source).topk(self.hidden, -1).indices
        counts = torch.zeros(x.shape).scatter(-1, places, 1.0)
        return torch.where(counts > 0, self.task.vocabulary, x), x, counts


@dataclass(frozen=True)
class Away:
    """Random tokens; each place asks for the token some places to its left.

    Attributes:
        distance: how many places.
        vocabulary, length: number of tokens, tokens in a sequence.
    """

    distance: int
    vocabulary: int = 8
    length: int = 32

    def drawn(
        self, seeds: int, count: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return tokens, answers and weights of the answers, (seeds, count, length) each."""
        x = torch.randint(self.vocabulary, (seeds, count, self.length), generator=source)
        counts = (torch.arange(self.length) >= self.distance).float().expand(x.shape)
        return x, x.roll(self.distance, -1), counts


class Models:
    """Models of one class side by side.

    Args:
        made: the models; they share a configuration.
        dropout: probability of all their dropouts; as configured where not said.
    """

    def __init__(self, made: Sequence[Any], dropout: float | None = None) -> None:
        self.one = copy.deepcopy(made[0]).train()
        self.one.float()
        for module in self.one.modules():
            if dropout is not None and isinstance(module, torch.nn.Dropout):
                module.p = dropout
        weights, buffers = stack_module_state(list(made))
        learnt = {name for name, p in self.one.named_parameters() if p.requires_grad}
        kept = {name: w.detach() for name, w in weights.items()}
        self.weights: Weights = {name: w.float() for name, w in kept.items() if name in learnt}
        self.fixed: Weights = {
            **{n: w.float() for n, w in kept.items() if n not in learnt},
            **buffers,
        }

    def __len__(self) -> int:
        return len(next(iter(self.weights.values())))

    def each(self) -> list[Any]:
        """Return the models, with the weights that they have now."""
        found = []
        for i in range(len(self)):
            model = copy.deepcopy(self.one)
            with torch.no_grad():
                for name, weight in self.weights.items():
                    model.get_parameter(name).copy_(weight[i])
            found.append(model)
        return found

    def losses(self, batch: Sequence[torch.Tensor], weights: Weights | None = None) -> torch.Tensor:
        """Return each model's mean loss on a batch, (models,).

        Args:
            batch: tokens, answers and weights of the answers, (models, count, length) each.
            weights: that are tried; the models' own where not said.
        """

        def loss(
            w: Weights, b: Weights, x: torch.Tensor, answer: torch.Tensor, counts: torch.Tensor
        ) -> torch.Tensor:
            all_seen = torch.zeros(len(x), 1, 1, 1)  # or it looks for padding, number by number
            found = functional_call(self.one, (w, b), (x, all_seen)).logits.flatten(0, 1)
            each = F.cross_entropy(found, answer.flatten(), reduction="none")
            return (each * counts.flatten()).sum() / counts.sum()

        tried = self.weights if weights is None else weights
        found: torch.Tensor = vmap(loss, randomness="different")(tried, self.fixed, *batch)
        return found

    def learn(
        self, source: Source, name: str, *, rates: Sequence[float], seeds: int, steps: int,
        count: int, warmup: int = 1,
    ) -> torch.Tensor:  # fmt: skip
        """Train in place with Adam, every rate with every seed.

        Args:
            source: of the batches.
            name: what batches and dropout are derived from.
            rates: of Adam; there are rates times seeds models.
            seeds: how many; those of one seed get the same batches.
            steps: how many.
            count: sequences a step.
            warmup: steps until the full rate, which grows linearly.

        Returns:
            Losses before each step, (steps, rates, seeds).
        """
        draw = generator(f"side by side, batches, {name}")
        rate = torch.tensor(rates).repeat_interleave(seeds)[:, None, None]
        flat = [w.view(len(self), -1, 1) for w in self.weights.values()]
        adam, curve = Adam(flat), []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(f"side by side, dropout, {name}"))
            for step in range(steps):
                batch = [a.repeat(len(rates), 1, 1) for a in source.drawn(seeds, count, draw)]
                tried = {n: w.requires_grad_() for n, w in self.weights.items()}
                loss = self.losses(batch, tried)
                gradients = torch.autograd.grad(
                    loss.sum(), list(tried.values()), allow_unused=True, materialize_grads=True
                )
                self.weights = {n: w.detach() for n, w in tried.items()}
                pairs = zip(gradients, flat, strict=True)
                adam.step(
                    [g.reshape(w.shape) for g, w in pairs], rate * min(1.0, (step + 1) / warmup)
                )
                curve.append(loss.detach().view(len(rates), seeds))
        return torch.stack(curve)

    @torch.no_grad()
    def tested(self, source: Source, name: str, *, seeds: int, count: int) -> torch.Tensor:
        """Return each model's loss on sequences of its seed, without dropout, (rates, seeds).

        Args:
            source: of the sequences.
            name: what they are derived from.
            seeds: how many.
            count: sequences for each seed.
        """
        drawn = source.drawn(seeds, count, generator(f"side by side, test, {name}"))
        self.one.eval()
        found = self.losses([a.repeat(len(self) // seeds, 1, 1) for a in drawn])
        self.one.train()
        return found.view(-1, seeds)
