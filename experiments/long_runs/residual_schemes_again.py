"""Some legs of `residual_schemes` once more, with sixteen fresh seeds.

In the first run two of the legs that decide, on the text with eight layers, had the predicted sign
with an interval that nearly touches zero: Post Norm without the division of attention's logits, and
Post Norm at the rate that suits Pre Norm best (eight seeds; differences of 0.04 and 0.05 nats).

Written down before this run: sixteen seeds that the first run has not seen, all else as it was;
for ATTN-01 and both cases of RES-09 these legs decide instead of the first ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .laboratory.family import family
from .laboratory.tasks import Letters, Task, lettered
from .residual_schemes import SIZES, WAYS, tasks, trained

SEEDS = {"weights and batches": list(range(8, 24))}
NAME = "residual schemes, again"  # of the draws
AGAIN = ("Post Norm", "Post Norm, warm-up", "Post Norm, warm-up, undivided", "Pre Norm")


def ended(
    sizes: Mapping[str, tuple[int, int]], task: Task, seeds: Sequence[int], name: str, **how: int
) -> dict[str, Any]:
    """Train the ways of `AGAIN` at all of their rates.

    Args:
        sizes: layers and width, by name.
        task: what is learnt.
        seeds: of the runs.
        name: what weights and batches are drawn from.
        how: of `trained`.

    Returns:
        By size and way what `trained` returns.
    """
    ways, train = {way: WAYS[way] for way in AGAIN}, partial(trained, name=name)
    made = family(
        sizes, lambda _: {"text": task}, ways, train,
        seeds=seeds, rates=lambda way: way.rates, **how,
    )  # fmt: skip
    return dict(made["text"])


def run() -> dict[str, Any]:
    """The recorded legs, by way."""
    (seeds,), size = SEEDS.values(), "8 layers"
    return dict(ended({size: SIZES[size]}, tasks()["text"], seeds, NAME)[size])


def fingerprint(name: str = NAME) -> dict[str, Any]:
    """The same at toy sizes, on a sentence."""
    toy = Letters(lettered("the quick brown fox jumps over the lazy dog. " * 4), 4)
    return dict(ended({"toy": (1, 8)}, toy, range(2), name, head=4, steps=6)["toy"])
