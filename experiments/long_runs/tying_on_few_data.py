"""Does a tied head keep a model from over-fitting, and does it make more of few data?

An article says that tying may improve performance, that it can act as regularisation, and that it
prevents over-fitting. A tied Transformer of one layer and its untied twin, which starts as the same
function, learn few words of a real text, or few tokens of a drawn chain, over and over, at many
rates and in two sizes, while their loss on other parts is looked at.

Written down before the run. Every leg counts and is shown; the real text and the largest vocabulary
decide, since both articles' sentences are about language models as they are used, and their
vocabularies are many times their widths.

- TIE-15, prevents: the tied model's held-out loss ends more than 0.02 nats above its lowest value.
- TIE-15, truth: it has risen less than the twin's, after as many steps at the same rate, the one
  at which the twin has the lowest held-out loss (for the other seeds).
- TIE-14, regularise: at that rate, where the tied model's training loss passes that of the twin at
  the twin's lowest held-out loss, its held-out loss is lower.
- TIE-14, better: the lowest held-out loss of the tied model, at its best rate, is lower than that
  of the twin at its own.

Power. Arms that come no lower than the frequencies of the words in what they learn, told beside
them, decide nothing. In a trial of two seeds, on other parts of the text read backwards, both came
more than 0.3 nats lower and rose again by a tenth and more, and the twin was ahead by 0.09 with a
standard deviation of 0.06 from seed to seed: with eight seeds the 99 % interval is 0.07 to either
side, so that a tenth of a nat is seen. (A first run had 1024 tokens for each seed, and widths of a
quarter of the vocabulary and more: on the text neither arm came below the frequencies.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any

import torch

from verifiedbook.account.parts import part
from verifiedbook.sampling.zipf_markov import ZipfMarkov
from verifiedbook.seeds import generator

from .laboratory.learning import bounded, by_rate
from .laboratory.side_by_side import Models, everywhere
from .laboratory.tasks import described, documentation, worded
from .remedies_on_text import TWIN, model
from .residual_schemes import rates

SEEDS = {"weights, data and batches": [0, 1, 2, 3, 4, 5, 6, 7]}
HEADS = {"tied": "small σ", "untied": TWIN}
STEPS, EVERY, SEQUENCES, LENGTH = 800, 20, 8, 16
FEW, HELD_OUT = 8192, 64  # tokens that are learnt; windows on which it is looked at
SIZES = {"192 tokens": (192, 48), "512 tokens": (512, 64)}  # n, d
RATES = rates(5e-4, 4e-3)


@dataclass(frozen=True)
class Parts:
    """What each seed learns, and what it is tested on.

    Attributes:
        few: (seeds, tokens).
        held_out: windows of other parts, (seeds, windows, length + 1).
    """

    few: torch.Tensor
    held_out: torch.Tensor

    def batch(
        self, count: int, length: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return windows at random places of each seed's part, and the next tokens.

        Args:
            count, length: of the windows.
            source: of the places.

        Returns:
            Tokens and answers, (seeds, count, length) each.
        """
        seeds, size = self.few.shape
        first = torch.randint(size - length, (seeds, count, 1), generator=source)
        window = self.few[torch.arange(seeds)[:, None, None], first + torch.arange(length + 1)]
        return window[..., :-1], window[..., 1:]


def cut(stream: torch.Tensor, seeds: int, few: int, windows: int, length: int) -> Parts:
    """Cut a stream into what each seed learns and, from its end, what all are tested on.

    Args:
        stream: of tokens.
        seeds, few, windows, length: sizes.

    Raises:
        ValueError: the stream is too short.
    """
    needed = seeds * few + windows * (length + 1)
    if len(stream) < needed:
        raise ValueError(f"stream: got {len(stream)} tokens; accepted: at least {needed}")
    last = stream[-windows * (length + 1) :].view(windows, length + 1)
    return Parts(stream[: seeds * few].view(seeds, few), last.expand(seeds, -1, -1))


TASKS = ("text", "chain")


@cache
def data(task: str, n: int, seeds: int = 8) -> Parts:
    """Return the parts of the real text or of the drawn chain, in n kinds of tokens.

    Args:
        task: of `TASKS`.
        n: number of tokens.
        seeds: how many.
    """
    length = seeds * FEW + HELD_OUT * (LENGTH + 1)
    stream = (
        worded(documentation()[0], n) if task == "text"
        else ZipfMarkov(n).sample(1, length, generator("tying on few data, chain")).view(-1)
    )  # fmt: skip
    return cut(stream, seeds, FEW, HELD_OUT, LENGTH)


def learn(
    head: str, n: int, d: int, parts: Parts, *, tried: Sequence[float], steps: int, every: int,
    sequences: int, length: int,
) -> torch.Tensor:  # fmt: skip
    """Train a head at every rate with every seed on its few data.

    Args:
        head: of `HEADS`.
        n, d: tokens and width.
        parts: what is learnt.
        tried: rates of Adam.
        steps, every, sequences, length: sizes of the run.

    Returns:
        For each span of ``every`` steps the mean training loss in it and the held-out loss at its
        end, (spans, 2, rates, seeds).
    """
    seeds = len(parts.few)
    made = [model(HEADS[head], n, d, seed) for _ in tried for seed in range(seeds)]
    models, source = Models(made, loss=everywhere), generator("tying on few data, batches")
    curve = models.descent(
        lambda: parts.batch(sequences, length, source), rates=tried, seeds=seeds, steps=steps,
        factor=lambda _: 1.0,
    )  # fmt: skip
    found = []
    while span := list(islice(curve, every)):
        with torch.no_grad():
            other = models.losses([parts.held_out[..., :-1], parts.held_out[..., 1:]])
        found.append(torch.stack([torch.stack(span).mean(0), other.view(len(tried), seeds)]))
    return bounded(torch.stack(found), float(torch.tensor(n).log()))


def at_equal_training_loss(tied: torch.Tensor, untied: torch.Tensor) -> torch.Tensor:
    """Return the tied held-out loss at the training loss of the twin's lowest held-out loss.

    Args:
        tied, untied: of `learn`; between two spans the line counts, and where the tied model's
            training loss never comes so low, its last span.

    Returns:
        (rates, seeds).
    """
    lowest = untied[:, 1].argmin(0, keepdim=True)
    level = untied[:, 0].gather(0, lowest)[0]
    training, held_out = tied.unbind(1)
    passed = training <= level
    after = torch.where(passed.any(0), passed.float().argmax(0), len(training) - 1)
    before = (after - 1).clamp(min=0)[None]
    high, low = training.gather(0, before)[0], training.gather(0, after[None])[0]
    share = ((high - level) / (high - low).clamp(min=1e-6)).clamp(0, 1)
    return torch.lerp(held_out.gather(0, before)[0], held_out.gather(0, after[None])[0], share)


def by_frequency(parts: Parts, n: int) -> list[float]:
    """Return, for each seed, the held-out loss of the frequencies of what it learns, one added.

    Args:
        parts: what is learnt.
        n: number of tokens.
    """
    counts = torch.stack([row.bincount(minlength=n) for row in parts.few]).double() + 1
    chances = (counts / counts.sum(1, keepdim=True)).log()
    answers = parts.held_out[..., 1:].flatten(1)
    return [round(x, 4) for x in (-chances.gather(1, answers).mean(1)).tolist()]


def measured(
    n: int, d: int, parts: Parts, *, tried: Sequence[float] = RATES, steps: int = STEPS,
    every: int = EVERY, sequences: int = SEQUENCES, length: int = LENGTH,
) -> dict[str, Any]:  # fmt: skip
    """Train both heads and say how low they come, how far they rise again, and at what price.

    Args:
        n, d: tokens and width.
        parts: what is learnt.
        tried, steps, every, sequences, length: of `learn`.

    Returns:
        By head, and there by rate for each seed, ``lowest``, the lowest held-out loss; ``rise``,
        from it to the end; ``equal``, the held-out loss where the training loss is that of the twin
        at its lowest.
    """
    sizes = {"steps": steps, "every": every, "sequences": sequences, "length": length}
    runs = {head: learn(head, n, d, parts, tried=tried, **sizes) for head in HEADS}
    tied, untied = runs["tied"], runs["untied"]
    equal = {"tied": at_equal_training_loss(tied, untied), "untied": untied[:, 1].amin(0)}
    found: dict[str, Any] = {}
    for head, curves in runs.items():
        held_out = curves[:, 1]
        told_of = {
            "lowest": held_out.amin(0), "rise": held_out[-1] - held_out.amin(0),
            "equal": equal[head],
        }  # fmt: skip
        found[head] = {what: by_rate(values, tried) for what, values in told_of.items()}
    return found


def run() -> dict[str, Any]:
    """The recorded comparison: by task and size, what `by_frequency` and `measured` return."""
    known: dict[str, dict[str, list[float]]] = {task: {} for task in TASKS}
    runs: dict[str, dict[str, Any]] = {task: {} for task in TASKS}
    (seeds,) = SEEDS.values()

    def guessed(n: int, task: str) -> list[float]:
        return by_frequency(data(task, n), n)

    def trained(n: int, d: int, task: str) -> dict[str, Any]:
        return measured(n, d, data(task, n))

    for size, (n, d) in SIZES.items():
        for task in TASKS:
            leg = f"{task}, {size}"
            known[task][size] = part(f"by frequency, {leg}", partial(guessed, n, task), seeds=seeds)
            runs[task][size] = part(leg, partial(trained, n, d, task), seeds=seeds, rates=RATES)
    return {
        "setting": {
            "steps": STEPS, "every": EVERY, "sequences": SEQUENCES, "length": LENGTH,
            "tokens learnt": FEW, "windows held out": HELD_OUT,
        },
        "text": part("text", lambda: described(documentation()[0])),
        "by frequency": known,
        "runs": runs,
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """Both heads at toy sizes on a drawn chain, so that no version of SymPy moves them."""
    stream = ZipfMarkov(24).sample(1, 200, generator("tying on few data, toy")).view(-1)
    parts = cut(stream, 2, 48, 4, 8)
    toy: dict[str, Any] = {
        "tried": [0.002, 0.03],
        "steps": 6,
        "every": 2,
        "sequences": 2,
        "length": 8,
    }
    return measured(24, 16, parts, **toy)
