"""Some legs of `residual_schemes` four times as long, so that Post Norm has learnt something.

In the first runs Post Norm with eight layers ended within 0.04 nats of a model that knows only how
often each letter comes, with the division and without it, with warm-up and without it. A leg of two
models that have hardly begun decides nothing, whatever the sign of its interval.

Written down before this run: 960 steps instead of 240, a quarter of them warm-up, two and four
layers, the text, twelve seeds that no other run has seen, the rates and all else as they were. A
leg has power if the better of its two arms ends 0.3 nats or more below the entropy of the letters;
an effect of 0.05 nats would count. Three trial seeds, which are none of the twelve, ended 0.45 nats
below it with four layers and the division, and spread by 0.02 nats, which twelve seeds tell apart.
(Eight layers did not, at any rate that was tried, and so are not run.) The leg with four layers
decides for ATTN-01 and both cases of RES-09; that with two layers stands beside it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...engine.account.parts import part
from .laboratory.tasks import Letters, Task, lettered
from .residual_schemes import SIZES, WAYS, tasks, trained

SEEDS = {"weights and batches": list(range(24, 36))}
STEPS, LONGER = 960, ("2 layers", "4 layers")
COMPARED = ("Post Norm", "Post Norm, warm-up", "Post Norm, warm-up, undivided", "Pre Norm")


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
    setting = {"seeds": 12, "steps": STEPS, **setting}
    found = trained(WAYS[way], size, task, name="residual schemes, longer", **setting)
    return {"final": found["final"]}


def run() -> dict[str, Any]:
    """The recorded legs, by size and way."""
    text = tasks()["text"]
    return {
        size: {
            way: part(
                f"{size}, {way}", partial(ended, way, SIZES[size], text),
                seeds=SEEDS["weights and batches"], rates=WAYS[way].rates,
            )
            for way in COMPARED
        }
        for size in LONGER
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """The same at toy sizes, on a sentence."""
    toy = Letters(lettered("the quick brown fox jumps over the lazy dog. " * 4), 4)
    return {way: ended(way, (1, 8), toy, head=4, steps=6, seeds=2) for way in COMPARED}
