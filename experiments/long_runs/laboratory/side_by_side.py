r"""Models of one class, many of them side by side: each with its own weights.

Every model has its own batches, its own rate of Adam and its own dropout; none sees another. What
is learnt is the next token, a masked one, as in BERT, or an answer at every place.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from verifiedbook.seeds import generator, seed_of

from .learning import descent
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


def where_it_counts(
    model: Callable[..., Any], x: torch.Tensor, answer: torch.Tensor, counts: torch.Tensor
) -> torch.Tensor:
    """Return the mean loss of a model of `transformers` over the answers, by their weights."""
    all_seen = torch.zeros(len(x), 1, 1, 1)  # or it looks for padding, number by number
    found = model(x, all_seen).logits.flatten(0, 1)
    each = F.cross_entropy(found, answer.flatten(), reduction="none")
    return (each * counts.flatten()).sum() / counts.sum()


def everywhere(model: Callable[..., Any], x: torch.Tensor, answer: torch.Tensor) -> torch.Tensor:
    """Return the mean loss of a model that gives logits, over all places."""
    return F.cross_entropy(model(x).flatten(0, 1), answer.flatten())


class Models:
    """Models of one class side by side.

    Args:
        made: the models; they share a configuration.
        dropout: probability of all their dropouts; as configured where not said.
        loss: of a model and its part of a batch.
    """

    def __init__(
        self, made: Sequence[Any], dropout: float | None = None,
        loss: Callable[..., torch.Tensor] = where_it_counts,
    ) -> None:  # fmt: skip
        self.loss = loss
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

    def losses(self, batch: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return each model's loss on a batch, (models,).

        Args:
            batch: of each seed, (seeds, count, length) each; there may be several models a seed.
        """
        each = len(self) // len(batch[0])

        def one(w: Weights, fixed: Weights, *part: torch.Tensor) -> torch.Tensor:
            return self.loss(lambda *x: functional_call(self.one, (w, fixed), x), *part)

        with sdpa_kernel(SDPBackend.MATH):  # the fused one has no rule for many models at once
            found: torch.Tensor = vmap(one, randomness="different")(
                self.weights, self.fixed, *(a.repeat(each, 1, 1) for a in batch)
            )
        return found

    def descent(
        self, batch: Callable[[], Sequence[torch.Tensor]], **how: Any
    ) -> Iterator[torch.Tensor]:
        """Train in place with Adam; yield losses before each step, as `learning.descent` does.

        Args:
            batch: draws one, as `losses` takes it.
            how: of `learning.descent`; there are rates times seeds models.
        """
        return descent(list(self.weights.values()), lambda _: self.losses(batch()), **how)

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
        curve = self.descent(
            lambda: source.drawn(seeds, count, draw), rates=rates, seeds=seeds, steps=steps,
            factor=lambda step: min(1.0, (step + 1) / warmup),
        )  # fmt: skip
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(f"side by side, dropout, {name}"))
            return torch.stack(list(curve))

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
        found = self.losses(drawn)
        self.one.train()
        return found.view(-1, seeds)
