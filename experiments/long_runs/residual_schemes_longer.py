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

from typing import Any

from . import residual_schemes_again
from .residual_schemes import SIZES, tasks
from .residual_schemes_again import ended

SEEDS = {"weights and batches": list(range(24, 36))}
NAME = "residual schemes, longer"  # of the draws
STEPS, LONGER = 960, ("2 layers", "4 layers")


def run() -> dict[str, Any]:
    """The recorded legs, by size and way."""
    (seeds,), sizes = SEEDS.values(), {size: SIZES[size] for size in LONGER}
    return ended(sizes, tasks()["text"], seeds, NAME, steps=STEPS)


def fingerprint() -> dict[str, Any]:
    """The same at toy sizes, on a sentence."""
    return residual_schemes_again.fingerprint(NAME)
