"""Where do the remedies for a tied head's first loss end? The smallest text, three lengths.

In `remedies_on_text` 200 steps were called the end, with the loss still on its way down, and in
`tied_convergence` all remedies lie within a few per cent of the floor, where all must agree. Here
three of them train on the 64 most frequent kinds of words of the text for 800, 2400 and 7200 steps,
each time afresh, with a rate that falls to zero.

Written down before this run. A length is an end if a third of its steps leave each remedy within
one per cent of the loss that it has now. Remedies that end within one per cent of each other end
alike. A trial of two seeds had spreads of 2.7, 2.0 and 1.5 per cent after 800, 2400 and 9600 steps,
0.1 per cent to either side, so that four seeds tell one per cent from one and a half. If no length
is an end, then the claim is open, and what the spread has done from length to length is said.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from verifiedbook.account.parts import part
from verifiedbook.sampling.zipf_markov import ZipfMarkov

from .laboratory.learning import by_rate
from .laboratory.tasks import Chain, Task
from .remedies_on_text import SIZES, learn, tasks

SEEDS = {"weights and batches": [8, 9, 10, 11]}
SIZE, LENGTHS, RATES = "64 tokens", (800, 2400, 7200), (0.002, 0.004)
HEADS = ("small σ", "untied", "half swap")


def ends(
    head: str, n: int, d: int, task: Task, *, steps: int, seeds: int = 4, first: int = 8
) -> dict[str, list[float]]:
    """Train a head and return where it ends: by rate and seed, the mean loss of its last tenth.

    Args:
        head: of `HEADS`.
        n, d, task: as `learn` takes them.
        steps, seeds: sizes of the run.
        first: the first seed; no other run has seen these.
    """
    losses = learn(head, n, d, task, tried=RATES, seeds=seeds, steps=steps, first=first)
    last = losses[-max(1, steps // 10) :].double().mean(0)
    return by_rate(last, RATES)


def run() -> dict[str, Any]:
    """The recorded ends, by number of steps and head."""
    (n, d) = SIZES[SIZE]
    found: dict[str, dict[str, Any]] = {}
    for steps in LENGTHS:
        for head in HEADS:
            found.setdefault(str(steps), {})[head] = part(
                f"{head}, {steps} steps",
                partial(ends, head, n, d, tasks(n)["text"], steps=steps),
                seeds=SEEDS["weights and batches"], rates=RATES,
            )  # fmt: skip
    return {"setting": {"n": n, "d": d}, "end": found}


def fingerprint() -> dict[str, Any]:
    """All heads at toy sizes on the drawn language."""
    task = Chain(ZipfMarkov(48), 8)
    return {head: ends(head, 48, 32, task, steps=6, seeds=2, first=0) for head in HEADS}
