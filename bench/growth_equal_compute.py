"""What training makes of a grown Llama, at equal compute: four ways to start it, and none.

    python bench/growth_equal_compute.py     some eight processor minutes

A Llama of width 32 learns the next letter of a text (the prose of SymPy's docstrings) for 600
steps. Then it is twice as wide, in each of `WAYS`, and trained on; beside it stand a Llama of that
width which began at random, and the small one, trained on. Compute is counted in multiplications of
matrices a token, 3.9 times as many in the large model, and what the small one has used is on the
account of all that grew from it. Written down before the run: three rates of Adam, for each way the
one that is best for the other seeds; 8 sequences of 32 letters a step; losses in nats, of 64 fixed
sequences a seed; three seeds. (A first run ended at 500 steps of the large model, where the small
one led.)

Figures are kept in `growth_equal_compute.json`, of which the manual's table is written.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

from long_runs.laboratory.learning import at_best_rate, by_rate
from long_runs.laboratory.side_by_side import Models
from long_runs.laboratory.tasks import (
    ALPHABET,
    Letters,
    documentation,
    lettered,
)
from long_runs.laboratory.ways_to_grow import padded
from verifiedbook.seeds import generator, seed_of
from verifiedbook.writing import write_whole
from weightwise.growth import grow, grow_along

RESULT = Path(__file__).with_suffix(".json")
TABLE = Path(__file__).parents[1] / "book/grow-equal-compute.txt"
SEEDS, RATES, FIRST = range(3), (1e-3, 2e-3, 4e-3), 600
LENGTH, SEQUENCES, TESTS = 32, 8, 64
AT = (200, 500, 1000, 2000)  # compute, in steps of the large model


def llama(width: int, seed: int) -> Any:
    """A Llama of two layers and two heads, drawn normally with the variance one over the width."""
    torch.manual_seed(seed_of(f"equal compute, width {width}, {seed}"))
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=len(ALPHABET), hidden_size=width, intermediate_size=2 * width,
        num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=LENGTH,
        initializer_range=width**-0.5, attn_implementation="eager", use_cache=False,
        pad_token_id=0,
    ))  # fmt: skip


def zeros(model: Any) -> Any:
    """Twice as wide with zeros in all that writes the new numbers, and random readers of them.

    The small constant of the norms is halved, and their gains divided by √2, since half of the mean
    square is left.
    """
    c = model.config
    axes = dict.fromkeys(("stream", "features", "scored"), padded(1, c.hidden_size, 2))
    axes["feed-forward"] = padded(1, c.intermediate_size, 2)
    axes |= dict.fromkeys(("value", "attended"), padded(c.num_attention_heads, c.head_dim, 2))
    large = grow_along(model, 2, axes, noise=2.0, generator=generator("equal compute, readers"))
    with torch.no_grad():
        for module in large.modules():
            if hasattr(module, "variance_epsilon"):
                module.variance_epsilon /= 2
                module.weight[c.hidden_size :] = 1.0  # with 0 nothing there would ever learn
                module.weight.div_(2**0.5)
    return large.float()


def apart(model: Any, noise: float) -> Any:
    """Twice as wide by copies that noise tells apart."""
    source = generator("equal compute, noise")
    return grow(model, 2, noise=noise, generator=source, check=False)


WAYS: Mapping[str, Callable[[Any], Any]] = {
    "copies (like HyperCloning)": partial(apart, noise=0.0),
    "copies, noise of a tenth": partial(apart, noise=0.1),
    "copies, noise as large as the weights": partial(apart, noise=1.0),
    "zeros, readers drawn (like Gesmundo and Maile)": zeros,
}


def next_letter(model: Callable[..., Any], x: torch.Tensor, answer: torch.Tensor) -> torch.Tensor:
    """The mean loss of a model of `transformers`; no place sees a later one."""
    later = torch.full((x.shape[-1],) * 2, torch.finfo(torch.float32).min).triu(1)
    found = model(x, later.expand(len(x), 1, -1, -1)).logits
    return F.cross_entropy(found.flatten(0, 1), answer.flatten())


def multiplications(model: Any) -> int:
    """Of matrices, a token: their entries, the table that is looked up left out."""
    return sum(w.numel() for w in model.parameters() if w.ndim == 2) - model.lm_head.weight.numel()


class Racing:
    """Models in training, every rate with every seed, whose batches differ by seed alone."""

    def __init__(self, made: list[Any], task: Letters, rates: tuple[float, ...], name: str) -> None:
        self.models = Models([model for _ in rates for model in made], loss=next_letter)
        source, self.rates = generator(f"equal compute, {name}"), rates
        self.tests = task.batch(len(SEEDS), TESTS, generator("equal compute, tests"))
        self.curve = self.models.descent(
            lambda: task.batch(len(SEEDS), SEQUENCES, source), rates=rates, seeds=len(SEEDS),
            steps=10**6, factor=lambda step: min(1.0, (step + 1) / 20),
        )  # fmt: skip
        self.done = 0

    def at(self, step: int) -> dict[str, list[float]]:
        """Train on to a step; the losses there, by rate for each seed."""
        for _ in islice(self.curve, step - self.done):
            pass
        self.done = step
        with torch.no_grad():
            found = self.models.losses(self.tests)
        return by_rate(found.view(len(self.rates), -1), self.rates)


def main() -> None:
    """Race all, and keep the figures and the table."""
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    task = Letters(lettered(documentation()[0]), LENGTH)
    small, large = ([llama(width, seed) for seed in SEEDS] for width in (32, 64))
    dearer = multiplications(large[0]) / multiplications(small[0])
    first = Racing(small, task, (2e-3,), "first")
    losses = {"small, first": {FIRST: first.at(FIRST)}}
    small = first.models.each()
    begin = {way: [make(model.eval()) for model in small] for way, make in WAYS.items()}
    used = FIRST / dearer
    races: dict[str, tuple[Racing, Callable[[float], float]]] = {
        "small, trained on": (Racing(small, task, RATES, "on"), lambda at: dearer * (at - used)),
        "large, from random weights": (Racing(large, task, RATES, "scratch"), float),
    }
    for way, made in begin.items():
        races[way] = Racing(made, task, RATES, "on"), lambda at: at - used
    for way, (race, steps) in races.items():
        losses[way] = {"start": race.at(0)} | {at: race.at(round(steps(at))) for at in AT}
        print(way, {at: mean(found) for at, found in losses[way].items()}, flush=True)
    told = {
        "dearer": dearer, "used": used, "losses": losses,
        "made with": {"torch": torch.__version__, "transformers": transformers.__version__},
    }  # fmt: skip
    write_whole(RESULT, json.dumps(told, indent=1) + "\n")
    write_whole(TABLE, table(json.loads(RESULT.read_text(encoding="utf-8"))))


def mean(losses: Mapping[str, list[float]]) -> float:
    """Of all seeds, each at the rate that is best for the others."""
    return round(statistics.mean(at_best_rate(losses).values()), 3)


def table(told: dict[str, Any]) -> str:
    """The manual's table."""
    races = {way: found for way, found in told["losses"].items() if way != "small, first"}
    best = {at: min(mean(found[str(at)]) for found in races.values()) for at in AT}
    rows = []
    for way, found in races.items():
        told_of = [(at, mean(found[str(at)])) for at in AT]
        marked = [f"**{x:.3f}**" if x == best[at] else f"{x:.3f}" for at, x in told_of]
        rows.append(f"| {way} | {mean(found['start']):.3f} | {' | '.join(marked)} |")
    head, rule = " | ".join(map(str, AT)), "--:|" * (len(AT) + 1)
    return "\n".join([f"| | at the start | {head} |", f"|---|{rule}", *rows]) + "\n"


if __name__ == "__main__":
    main()
