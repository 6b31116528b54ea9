"""Three names of one cure, raced: logits divided by √d, a small table, a state that is shifted.

The models and the words are those of `remedies_on_text`, in its middle size, with 24 seeds that no
other recording has. Each head has two rates, the best of a few that were tried with other seeds.

- BOOK-92, start: divided logits have the lower first loss than the small table.
- BOOK-92, small and shifted: their mean loss over the run is higher than that of either.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from verifiedbook.account.parts import part
from verifiedbook.sampling.zipf_markov import ZipfMarkov

from .laboratory.tasks import Chain, Task
from .remedies_on_text import DIVIDED, SHIFTED, SIZES, learn, measured, tasks

SEEDS = {"weights and batches": list(range(8, 32))}
SIZE = "192 tokens"
TRIED = {DIVIDED: (0.016, 0.032), SHIFTED: (0.004, 0.008), "small σ": (0.004, 0.008)}


def race(n: int, d: int, task: Task, *, seeds: int, **setting: Any) -> dict[str, Any]:
    """Train the three heads, each at its two rates, and say how they start.

    Args:
        n, d: tokens and width.
        task: what is learnt.
        seeds: how many, from 8 on.
        setting: of `learn`.
    """
    of, every = {"first": 8, "seeds": seeds, **setting}, range(8, 8 + seeds)

    def starts(head: str) -> list[float]:
        row = learn(head, n, d, task, **of | {"tried": (0.01,), "steps": 1})[0, 0]
        return [round(x, 4) for x in row.tolist()]

    def raced(head: str, tried: Sequence[float]) -> dict[str, Any]:
        return measured(head, n, d, task, tried=tried, **of)

    return {
        "starts": {
            head: part(f"{head}, start", partial(starts, head), seeds=every) for head in TRIED
        },
        "runs": {
            head: part(head, partial(raced, head, tried), seeds=every, rates=tried)
            for head, tried in TRIED.items()
        },
    }


def run() -> dict[str, Any]:
    """The recorded race on words of the text."""
    n, d = SIZES[SIZE]
    return race(n, d, tasks(n)["text"], seeds=len(SEEDS["weights and batches"]))


def fingerprint() -> dict[str, Any]:
    """All heads at toy sizes on the drawn language."""
    return race(48, 32, Chain(ZipfMarkov(48), 8), seeds=2, steps=6, sequences=2)
