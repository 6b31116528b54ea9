"""Some legs of `residual_schemes` once more, with sixteen fresh seeds.

In the first run two of the legs that decide, on the text with eight layers, had the predicted sign
with an interval that nearly touches zero: Post Norm without the division of attention's logits, and
Post Norm at the rate that suits Pre Norm best (eight seeds; differences of 0.04 and 0.05 nats).

Written down before this run: sixteen seeds that the first run has not seen, all else as it was;
for ATTN-01 and both cases of RES-09 these legs decide in the place of the first ones.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .laboratory.learning import Runs, Way
from .laboratory.parts import part
from .laboratory.tasks import Letters, Task, lettered
from .laboratory.transformers import Shape
from .residual_schemes import HEAD, SIZES, STEPS, TOKENS, WAYS, Tried, tasks

SEEDS = {"weights and batches": list(range(8, 24))}
AGAIN = ("Post Norm", "Post Norm, warm-up", "Post Norm, warm-up, undivided", "Pre Norm")


def trained(
    tried: Tried, size: tuple[int, int], task: Task, *, head: int = HEAD, steps: int = STEPS,
    seeds: int = 16,
) -> dict[str, Any]:  # fmt: skip
    """Train a scheme at all of its rates, from draws of its own.

    Args:
        tried: scheme and way.
        size: layers and width.
        task: what is learnt.
        head, steps, seeds: sizes of the run.

    Returns:
        ``final``: by rate, the mean loss of the last tenth of the steps, for each seed.
    """
    shape = Shape(*size, head, task.vocabulary, task.length, tried.scheme, tried.divide)
    way = Way(steps, warmup=max(1, round(tried.warmup * steps)), batch=TOKENS // task.length)
    runs = Runs.started(shape, "residual schemes, again", tried.rates, seeds)
    losses = runs.learn(task, "residual schemes, again", way)
    last = losses[-max(1, steps // 10) :].double().mean(0)
    rows = zip(tried.rates, last, strict=True)
    return {"final": {f"{rate:g}": [round(x, 4) for x in row.tolist()] for rate, row in rows}}


def run() -> dict[str, Any]:
    """The recorded legs, by way."""
    text, size = tasks()["text"], SIZES["8 layers"]
    return {
        way: part(f"residual schemes again, {way}", partial(trained, WAYS[way], size, text))
        for way in AGAIN
    }


def fingerprint() -> dict[str, Any]:
    """The same at toy sizes, on a sentence."""
    toy = Letters(lettered("the quick brown fox jumps over the lazy dog. " * 4), 4)
    return {way: trained(WAYS[way], (1, 8), toy, head=4, steps=6, seeds=2) for way in AGAIN}
