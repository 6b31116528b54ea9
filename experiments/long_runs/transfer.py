"""Does a prior that is stored in centers, shifts and biases harm the transfer to another one?

kexue 8620 guesses so. A Pre Norm Transformer with center, shift and biases wherever PyTorch has
them, and one with RMS Norm and no bias, learn a task and then another one with another prior:
tokens of a steep law, then of the reversed law; the prose of a program's documentation, then the
program.

Written down before the run: the real text and the deepest model decide; every leg counts and is
shown. NORM-13 predicts a higher mean loss over the second task with center, shift and biases, each
arm at the rate that is best for the other seeds.
"""

from __future__ import annotations

from typing import Any

from verifiedbook.account.parts import part

from .laboratory.family import family
from .laboratory.learning import Runs, by_rate
from .laboratory.tasks import Letters, Sums, Task, described, documentation, lettered
from .laboratory.transformers import Shape
from .residual_schemes import HEAD, SIZES, TOKENS, rates

SEEDS = {"weights and batches": list(range(16))}
BEFORE, AFTER = 200, 60
RATES = rates(1e-3, 3.2e-2)
ARMS = {"with center, shift and biases": True, "without": False}


def tasks() -> dict[str, tuple[Task, Task]]:
    """What is learnt first, and then."""
    prose, code = documentation()
    return {
        "sums": (Sums(exponent=1.5), Sums(exponent=1.5, reversed=True)),
        "text": (Letters(lettered(prose)), Letters(lettered(code))),
    }


def moved(
    biases: bool, size: tuple[int, int], both: tuple[Task, Task], *, head: int = HEAD,
    before: int = BEFORE, after: int = AFTER, seeds: int = 16,
    tried: list[float] = RATES,
) -> dict[str, Any]:  # fmt: skip
    """Train on one task, then on the other, at the same rate.

    Args:
        biases: whether there are center, shift and biases.
        size: layers and width.
        both: the two tasks.
        head, before, after, seeds: sizes of the run.
        tried: rates of Adam.

    Returns:
        By rate, for each seed: ``before``, the mean loss of the last tenth of the first task;
        ``after``, that of all steps of the second.
    """
    first, second = both
    shape = Shape(*size, head, first.vocabulary, first.length, "pre", biases=biases)
    runs = Runs(shape, "transfer", tried, seeds)
    batch = TOKENS // first.length
    learnt = runs.learn(first, "transfer, before", steps=before, batch=batch)
    carried = runs.learn(second, "transfer, after", steps=after, batch=batch)
    kept = {"before": learnt[-max(1, before // 10) :], "after": carried}
    return {when: by_rate(losses.double().mean(0), tried) for when, losses in kept.items()}


def run() -> dict[str, Any]:
    """The recorded comparison."""
    return {
        "setting": {"steps before": BEFORE, "steps after": AFTER, "tokens a step": TOKENS},
        "text": part("text", lambda: described("".join(documentation()))),
        "runs": family(
            SIZES, lambda _: tasks(), ARMS, moved,
            seeds=SEEDS["weights and batches"], rates=lambda _: RATES,
        ),
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """Both arms at toy sizes; the texts are sentences, so that no version of SymPy moves them."""
    one, other = ("the quick brown fox jumps. " * 4, "pack my box with five dozen jugs. " * 4)
    toy: dict[str, tuple[Task, Task]] = {
        "sums": (Sums(5, 4, 1.5), Sums(5, 4, 1.5, reversed=True)),
        "text": (Letters(lettered(one), 4), Letters(lettered(other), 4)),
    }
    small: dict[str, Any] = {"head": 4, "before": 6, "after": 4, "tried": [0.01, 0.03]}
    return family(
        {"toy": (2, 8)}, lambda _: toy, ARMS, moved, seeds=range(2),
        rates=lambda _: small["tried"], **small,
    )  # fmt: skip
