"""How a residual branch is added, and what training makes of it: rate, warm-up, division, factor.

kexue 8620 says that Post Norm usually needs warm-up and a small enough rate, that Pre Norm is
easier to optimise, that a forgotten division of the attention logits keeps a Transformer from
converging however it is trained, and that a factor which grows by a fixed small step to 1 did best.
Every way is trained at many rates, in three sizes, on an artificial language and on a real text.

Written down before the run. Every leg counts and is shown; for each claim the real text and the
deepest model decide, since the articles speak of language models of many layers. The loss is the
mean of the last tenth of the steps; a seed's best rate is the one that is best for the other seeds.

- ATTN-01: Post Norm, warm-up, undivided ends higher than the same divided, each at its best rate.
- RES-09, rate: at the rate that suits Pre Norm best, Post Norm ends higher than at its own best.
- RES-09, warm-up: Post Norm ends higher without warm-up than with it, each at its best rate.
- RES-13: Post Norm ends higher than Pre Norm, each at its best rate, both without warm-up.
- RES-24: the best of Post Norm with warm-up, Pre Norm and the learned factor ends higher than the
  better of the two factors that grow to 1 with no norm in the branches. With a norm as well, the
  growing factor is shown beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from verifiedbook.account.parts import part

from .laboratory.family import family
from .laboratory.learning import Runs, by_rate
from .laboratory.tasks import Letters, Sums, Task, described, documentation, lettered
from .laboratory.transformers import Shape

SEEDS = {"weights and batches": [0, 1, 2, 3, 4, 5, 6, 7]}
STEPS, WARMUP, TOKENS = 240, 60, 64
SIZES = {"2 layers": (2, 16), "4 layers": (4, 24), "8 layers": (8, 32)}  # layers, width
HEAD = 64  # the article: "d is usually at least 64"


@dataclass(frozen=True)
class Tried:
    """A scheme and a way of training, at rates among which its best should lie.

    Attributes:
        scheme: of the Transformer.
        divide: whether attention's logits are divided.
        warmup, ramp: as parts of the run; 0 for none.
        rates: of Adam.
    """

    scheme: str
    rates: Sequence[float]
    divide: bool = True
    warmup: float = 0.0
    ramp: float = 0.0


def rates(first: float, last: float) -> list[float]:
    """Return rates from the first to the last, each twice the one before.

    Args:
        first, last: the smallest and the largest.
    """
    found = [first]
    while found[-1] < 0.99 * last:
        found.append(2 * found[-1])
    return found


_POST, _NORMED = rates(2.5e-4, 8e-3), rates(1e-3, 3.2e-2)
_BARE = [1.25e-4, 5e-4, 2e-3, 8e-3]
_QUARTER = WARMUP / STEPS
WAYS = {
    "Post Norm": Tried("post", _POST),
    "Post Norm, warm-up": Tried("post", _POST, warmup=_QUARTER),
    "Post Norm, warm-up, undivided": Tried("post", _POST, divide=False, warmup=_QUARTER),
    "Pre Norm": Tried("pre", _NORMED),
    "Pre Norm, undivided": Tried("pre", _NORMED, divide=False),
    "learned factor": Tried("learned", _NORMED),
    "factor to 1 in 60 steps": Tried("schedule", _BARE, ramp=0.25),
    "factor to 1 in 180 steps": Tried("schedule", _BARE, ramp=0.75),
    "factor to 1 in 120 steps, Pre Norm": Tried("schedule, pre", _NORMED, ramp=0.5),
    "factor to 1 in 120 steps, Post Norm": Tried("schedule, post", _POST, ramp=0.5),
}


def tasks() -> dict[str, Task]:
    """The artificial language and the real text."""
    return {"sums": Sums(), "text": Letters(lettered(documentation()[0]))}


def trained(
    tried: Tried, size: tuple[int, int], task: Task, *, head: int = HEAD, steps: int = STEPS,
    seeds: int = 8, name: str = "residual schemes",
) -> dict[str, Any]:  # fmt: skip
    """Train a scheme at all of its rates.

    Args:
        tried: scheme and way.
        size: layers and width.
        task: what is learnt.
        head, steps, seeds: sizes of the run.
        name: what weights and batches are drawn from.

    Returns:
        ``final``: by rate, the mean loss of the last tenth of the steps, for each seed.
    """
    shape = Shape(*size, head, task.vocabulary, task.length, tried.scheme, tried.divide)
    losses = Runs(shape, name, tried.rates, seeds).learn(
        task, name, steps=steps, batch=TOKENS // task.length,
        warmup=max(1, round(tried.warmup * steps)), ramp=max(1, round(tried.ramp * steps)),
    )  # fmt: skip
    last = losses[-max(1, steps // 10) :].double().mean(0)
    return {"final": by_rate(last, tried.rates)}


def run() -> dict[str, Any]:
    """The recorded family."""
    return {
        "setting": {"steps": STEPS, "warm-up": WARMUP, "tokens a step": TOKENS, "head": HEAD},
        "text": part("text", lambda: described(documentation()[0])),
        "runs": family(
            SIZES, lambda _: tasks(), WAYS, trained,
            seeds=SEEDS["weights and batches"], rates=lambda tried: tried.rates,
        ),
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """All ways at toy sizes; the text is a sentence, so that no other version of SymPy moves it."""
    sentence = "the quick brown fox jumps over the lazy dog. " * 4
    few = {name: replace(tried, rates=[0.01, 0.03]) for name, tried in WAYS.items()}
    toy: dict[str, Task] = {"sums": Sums(5, 4), "text": Letters(lettered(sentence), 4)}
    return family(
        {"toy": (2, 8)}, lambda _: toy, few, trained, seeds=range(2),
        rates=lambda tried: tried.rates, head=4, steps=8,
    )  # fmt: skip
