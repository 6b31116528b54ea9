"""The remedies for a tied head's first loss, on words of a real text and on the drawn language.

kexue 9698 reports that the start from σ = (log n)/d converges slowest, that the other remedies
converge at about the same speed, and that all end alike; another article, that tying raises
learning efficiency. The models are those of `tied_convergence`, many seeds and rates side by side,
in three sizes, with a further one: an untied twin of the small standard deviation, which starts as
the same function.

Written down before the run. Every leg counts and is shown; the real text and the largest size
decide. Speed is the mean loss over the run; the end, the mean of its last tenth; a seed's best rate
is the one that is best for the other seeds.

- LOSS-48, slowest: the small σ is slower than the slowest of the four other remedies.
- LOSS-48, others alike: it is further from that one than these are from each other.
- LOSS-49: at the end the five lie within one per cent of the loss.
- TIE-17, text: the tied small σ has a lower mean loss over the run than its untied twin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from verifiedbook.account.parts import part
from verifiedbook.sampling.zipf_markov import ZipfMarkov
from verifiedbook.seeds import generator
from weightwise.heads import ShuffledHead, TiedHead, UntiedHead

from .laboratory.family import family
from .laboratory.learning import bounded, by_rate
from .laboratory.side_by_side import Models, everywhere
from .laboratory.tasks import Chain, Letters, Task, described, documentation, guess, worded
from .residual_schemes import rates
from .tied_convergence import REMEDIES, Model, Setting

SEEDS = {"weights and batches": [0, 1, 2, 3, 4, 5, 6, 7]}
TWIN = "small σ, untied twin"
HEADS = (*REMEDIES, TWIN)
DIVIDED, SHIFTED = "logits / √d", "shift"  # further ones, of `divided_logits`
STEPS, SEQUENCES, LENGTH = 200, 4, 16
SIZES = {"64 tokens": (64, 64), "192 tokens": (192, 96), "512 tokens": (512, 128)}  # n, d
RATES = rates(2e-3, 3.2e-2)


def tasks(n: int) -> dict[str, Task]:
    """The drawn language and the real text, in n kinds of tokens.

    Args:
        n: number of tokens.
    """
    words = worded(documentation()[0], n)
    return {"chain": Chain(ZipfMarkov(n), LENGTH), "text": Letters(words, LENGTH, n)}


def model(head: str, n: int, d: int, seed: int) -> Model:
    """Return a Transformer of one layer with one of `HEADS`.

    Args:
        head: the remedy, the twin, or one of the two further heads: `DIVIDED` or `SHIFTED`.
        n, d: tokens and width.
        seed: of the weights, which all heads share as far as they have them.
    """
    start = {TWIN: "small σ", DIVIDED: "tied", SHIFTED: "tied"}.get(head, head)
    made = Model(start, Setting(n=n, d=d, layers=1), seed)
    if head == DIVIDED:
        made.head = TiedHead(made.embedding, scale=d**-0.5)
    if head == SHIFTED:
        made.head = ShuffledHead(made.embedding, torch.arange(d).roll(1))
    if head == TWIN:
        made.head = UntiedHead(n, d, σ=1.0)
        with torch.no_grad():
            made.head.weight.copy_(made.embedding.weight)
    return made


def learn(
    head: str, n: int, d: int, task: Task, *, tried: Sequence[float] = RATES, seeds: int = 8,
    steps: int = STEPS, sequences: int = SEQUENCES, first: int = 0,
) -> torch.Tensor:  # fmt: skip
    """Train a head at every rate with every seed, Adam's rate falling to zero along a cosine.

    Args:
        head: of `HEADS`, `DIVIDED` or `SHIFTED`.
        n, d: tokens and width.
        task: what is learnt.
        tried: largest rates of Adam.
        seeds, steps, sequences: sizes of the run.
        first: the first seed; other seeds than the recorded ones get other batches.

    Returns:
        Losses before each step, (steps, rates, seeds).
    """
    models = [model(head, n, d, first + seed) for _ in tried for seed in range(seeds)]
    source = generator("remedies on text, batches" + (f" from {first}" if first else ""))
    curve = Models(models, loss=everywhere).descent(
        lambda: task.batch(seeds, sequences, source), rates=tried, seeds=seeds, steps=steps,
        factor=lambda step: (1 + math.cos(math.pi * step / steps)) / 2,
    )  # fmt: skip
    return bounded(torch.stack(list(curve)), guess(task))


def measured(head: str, n: int, d: int, task: Task, **setting: Any) -> dict[str, Any]:
    """Train a head and say how fast it learnt and where it ended.

    Args:
        head, n, d, task: as in `learn`.
        setting: of `learn`.

    Returns:
        By rate and for each seed ``mean``, over the run, and ``end``, over its last tenth.
    """
    losses, tried = learn(head, n, d, task, **setting), setting.get("tried", RATES)
    last = losses[-max(1, len(losses) // 10) :]
    return {
        "mean": by_rate(losses.double().mean(0), tried),
        "end": by_rate(last.double().mean(0), tried),
    }


def run() -> dict[str, Any]:
    """The recorded comparison."""

    def made(head: str, size: tuple[int, int], task: Task, seeds: int) -> dict[str, Any]:
        return measured(head, *size, task, seeds=seeds)

    heads = {head: head for head in HEADS}
    return {
        "setting": {"steps": STEPS, "sequences": SEQUENCES, "length": LENGTH},
        "text": part("text", lambda: described(documentation()[0])),
        "runs": family(
            SIZES, lambda size: tasks(size[0]), heads, made,
            seeds=SEEDS["weights and batches"], rates=lambda _: RATES,
        ),
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """All heads at toy sizes on the drawn language, with a rate that moves every branch."""
    task = Chain(ZipfMarkov(48), 8)
    toy = {"tried": [0.002, 0.03], "seeds": 2, "steps": 6, "sequences": 2}
    return {head: measured(head, 48, 32, task, **toy) for head in HEADS}
