"""Training with Adam, with a rate for each of many runs side by side; the choice of the rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
import torch.nn.functional as F

from verifiedbook.seeds import generator

from .tasks import Task, guess
from .transformers import Shape, drawn_weights, logits


class Runs:
    """Transformers in training: every rate with every seed, the seeds' weights and batches alike.

    Args:
        shape: of the Transformers.
        name: what the draws are derived from; those of one name start alike.
        rates: of Adam.
        seeds: how many.
    """

    def __init__(self, shape: Shape, name: str, rates: Sequence[float], seeds: int) -> None:
        self.shape, self.rates, self.seeds = shape, rates, seeds
        weights = drawn_weights(shape, seeds, generator(f"laboratory, weights, {name}"))
        self.weights = {k: w.repeat(len(rates), 1, 1) for k, w in weights.items()}

    def learn(
        self, task: Task, name: str, *, steps: int, batch: int, warmup: int = 1, ramp: int = 1
    ) -> torch.Tensor:
        """Train in place and return the loss before each step, (steps, rates, seeds).

        Args:
            task: what is learnt.
            name: what the batches are derived from.
            steps: how many.
            batch: sequences a step, for each seed.
            warmup: steps until the full rate, which grows linearly; 1 starts with it.
            ramp: steps until a given factor of the branches, which grows linearly, is 1.
        """
        source = generator(f"laboratory, batches, {name}")

        def losses(step: int) -> torch.Tensor:
            x, answer = (
                part.repeat(len(self.rates), 1, 1) for part in task.batch(self.seeds, batch, source)
            )
            found = logits(self.shape, self.weights, x, min(1.0, step / ramp))
            loss = F.cross_entropy(found.flatten(0, 1), answer.flatten(), reduction="none")
            return loss.view(len(x), -1).mean(1)

        curve = descent(
            list(self.weights.values()), losses, rates=self.rates, seeds=self.seeds,
            steps=steps,
            factor=lambda step: min(1.0, (step + 1) / warmup),
        )  # fmt: skip
        return bounded(torch.stack(list(curve)), guess(task))


def descent(
    weights: Sequence[torch.Tensor], losses: Callable[[int], torch.Tensor], *,
    rates: Sequence[float], seeds: int, steps: int, factor: Callable[[int], float],
) -> Iterator[torch.Tensor]:  # fmt: skip
    """Train every rate with every seed by Adam, and yield the losses before each step.

    Args:
        weights: the runs, rates times seeds, as first axis; changed in place.
        losses: of a step, from 0, one for each run; no run's depends on another's weights.
        rates: of Adam.
        seeds: how many.
        steps: how many.
        factor: of a step, by which all rates are multiplied in it.

    Yields:
        Losses, (rates, seeds).
    """
    for w in weights:
        w.requires_grad_()
    adam = Adam([w.detach() for w in weights])
    rate = torch.tensor(rates).repeat_interleave(seeds)[:, None, None]
    for step in range(steps):
        found = losses(step)
        gradients = torch.autograd.grad(
            found.sum(), weights, allow_unused=True, materialize_grads=True
        )
        adam.step(gradients, rate * factor(step))
        yield found.detach().view(len(rates), seeds)


def bounded(curve: torch.Tensor, guessing: float) -> torch.Tensor:
    """Return losses that are finite: one above twice the guess counts as twice the guess.

    Args:
        curve: losses, any shape.
        guessing: loss of the uniform guess.
    """
    return torch.nan_to_num(curve, nan=torch.inf).clamp(max=2 * guessing)


class Adam:
    """Adam with the usual constants, in place, with a rate for each run.

    Args:
        weights: tensors with the runs as first axis.
    """

    def __init__(self, weights: Sequence[torch.Tensor]) -> None:
        self.weights, self.t = [w.view(len(w), -1, 1) for w in weights], 0
        self.states = [(torch.zeros_like(w), torch.zeros_like(w)) for w in self.weights]

    @torch.no_grad()
    def step(self, gradients: Sequence[torch.Tensor], rate: torch.Tensor) -> None:
        """Take a step.

        Args:
            gradients: of each weight.
            rate: (runs, 1, 1).
        """
        self.t += 1
        root = (1 - 0.999**self.t) ** 0.5
        for w, given, (mean, square) in zip(self.weights, gradients, self.states, strict=True):
            g = given.reshape(w.shape)
            mean.lerp_(g, 0.1)
            square.mul_(0.999).addcmul_(g, g, value=0.001)
            w.sub_(mean.mul(rate / (1 - 0.9**self.t)).div_(square.sqrt().div_(root).add_(1e-8)))


def at_best_rate(losses: Mapping[str, Sequence[float]]) -> dict[int, float]:
    """Return each seed's loss at the rate that is best for the other seeds.

    A seed that chose its own rate would look better than a further run at that rate.

    Args:
        losses: by rate, one for each seed.

    Raises:
        ValueError: fewer than two seeds.
    """
    rows = torch.tensor(list(losses.values()), dtype=torch.float64)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ValueError(f"losses: got shape {tuple(rows.shape)}; accepted: two seeds and more")
    others = rows.sum(1, keepdim=True) - rows
    return dict(enumerate(rows.gather(0, others.argmin(0, keepdim=True))[0].tolist()))


def by_rate(found: torch.Tensor, rates: Sequence[float]) -> dict[str, list[float]]:
    """Return losses by rate, for each seed, rounded to four places.

    Args:
        found: (rates, seeds).
        rates: of Adam.
    """
    return {
        f"{rate:g}": [round(x, 4) for x in row.tolist()]
        for rate, row in zip(rates, found.double(), strict=True)
    }
