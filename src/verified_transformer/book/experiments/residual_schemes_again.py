"""Some legs of `residual_schemes` once more, with sixteen fresh seeds.

In the first run two of the legs that decide, on the text with eight layers, had the predicted sign
with an interval that nearly touches zero: Post Norm without the division of attention's logits, and
Post Norm at the rate that suits Pre Norm best (eight seeds; differences of 0.04 and 0.05 nats).

Written down before this run: sixteen seeds that the first run has not seen, all else as it was;
for ATTN-01 and both cases of RES-09 these legs decide instead of the first ones.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...engine.account.parts import part
from .laboratory.tasks import Letters, Task, lettered
from .residual_schemes import SIZES, WAYS, tasks, trained

SEEDS = {"weights and batches": list(range(8, 24))}
AGAIN = ("Post Norm", "Post Norm, warm-up", "Post Norm, warm-up, undivided", "Pre Norm")


def ended(way: str, size: tuple[int, int], task: Task, **setting: int) -> dict[str, Any]:
    """Train a way at all of its rates, from draws of its own.

    Args:
        way: of `WAYS`.
        size: layers and width.
        task: what is learnt.
        setting: of `trained`.

    Returns:
        ``final``, as `trained` returns it.
    """
    setting = {"seeds": 16, **setting}
    found = trained(WAYS[way], size, task, name="residual schemes, again", **setting)
    return {"final": found["final"]}


def run() -> dict[str, Any]:
    """The recorded legs, by way."""
    text, size = tasks()["text"], SIZES["8 layers"]
    return {
        way: part(
            way, partial(ended, way, size, text),
            seeds=SEEDS["weights and batches"], rates=WAYS[way].rates,
        )
        for way in AGAIN
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """The same at toy sizes, on a sentence."""
    toy = Letters(lettered("the quick brown fox jumps over the lazy dog. " * 4), 4)
    return {way: ended(way, (1, 8), toy, head=4, steps=6, seeds=2) for way in AGAIN}
