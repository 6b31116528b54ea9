"""What a RoFormer loses that is made twice as wide by pairs, and how soon training mends it.

kexue 8444 reports that a RoFormer which was enlarged by its eq. 15, every pair of coordinates
twice, loses some performance, but not much, and recovers quickly. Here RoFormers of `transformers`,
with heads of their usual size 64, learn hidden letters of a real text in three sizes; and, in an
artificial task, the token that stands so many places to the left, the distance being swept. Each is
enlarged by pairs, by coordinates (eq. 2), and without loss, and trained on.

Written down before the run. Every leg counts and is shown; the real text and the deepest model
decide, since the article speaks of a RoFormer, which is trained on hidden tokens of a text. Losses
are of fixed sequences; a seed's rate is the one that is best, before growing, for the other seeds.

- GROW-44, loses: right after growing by pairs the loss is higher than after growing without loss.
- GROW-44, little: the rise is less than half of what training had gained over guessing.
- GROW-44, recovers: after two fifteenths as many further steps (20 for 150) the loss is what it was
  before, up to a quarter of the rise. Shown beside it: the same against the model that was grown
  without loss and trained on as far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from ...models.growth import grow
from ...seeds import seed_of
from ..laboratory.parts import part
from ..laboratory.side_by_side import Away, Masked, Models, Source, by_rate
from ..laboratory.tasks import Letters, described, documentation, lettered
from ..laboratory.ways_to_grow import by_coordinates, by_pairs

SEEDS = {"weights and batches": [0, 1, 2, 3, 4, 5, 6, 7]}
RATES = [5e-4, 1e-3, 2e-3, 4e-3]
STEPS, FURTHER, WARMUP = 300, 40, 20
HEAD, LENGTH, SEQUENCES, HIDDEN = 64, 32, 8, 5  # of 32 letters 5 are hidden, as BERT's 15 %
SIZES = {"1 layer": 1, "2 layers": 2, "4 layers": 4}
DISTANCES = (1, 2, 4, 8, 16)
WAYS: Mapping[str, Callable[[Any, int], Any]] = {
    "pairs": by_pairs,
    "coordinates": by_coordinates,
    "lossless": partial(grow, check=False),
}
ON = ("pairs", "lossless")  # are trained on


def sources(text: str) -> dict[str, tuple[Source, int, list[str]]]:
    """Return what is learnt: by task its batches, its number of tokens, the sizes that learn it.

    Args:
        text: whose letters are hidden.
    """
    letters = Letters(lettered(text), LENGTH)
    found: dict[str, tuple[Source, int, list[str]]] = {
        "text": (Masked(letters, HIDDEN), letters.vocabulary, list(SIZES))
    }
    for distance in DISTANCES:
        away = Away(distance, length=LENGTH)
        found[f"{distance} to the left"] = (away, away.vocabulary, ["1 layer"])
    return found


def roformer(layers: int, vocabulary: int, seed: int, head: int = HEAD) -> Any:
    """Return a RoFormerForMaskedLM of one head a layer, without dropout.

    Args:
        layers: how many.
        vocabulary: number of tokens, to which one is added that hides.
        seed: of the weights, normal of the variance one over the width.
        head: its size, which is the width.
    """
    from transformers import RoFormerConfig, RoFormerForMaskedLM

    config = RoFormerConfig(
        vocab_size=vocabulary + 1, embedding_size=head, hidden_size=head, num_hidden_layers=layers,
        num_attention_heads=1, intermediate_size=2 * head, max_position_embeddings=LENGTH,
        type_vocab_size=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        initializer_range=head**-0.5,
    )  # fmt: skip
    config._attn_implementation = "eager"  # the fused one has no rule for many models at once
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(f"rotary growth, weights {seed}"))
        return RoFormerForMaskedLM(config)


def measured(
    layers: int, source: Source, vocabulary: int, *, rates: Sequence[float] = RATES,
    seeds: int = 8, steps: int = STEPS, further: int = FURTHER, head: int = HEAD,
    sequences: int = SEQUENCES, tests: int = 64,
) -> dict[str, Any]:  # fmt: skip
    """Train RoFormers, enlarge them in every way, and train on.

    Args:
        layers: of each.
        source: of the batches.
        vocabulary: number of tokens.
        rates: of Adam.
        seeds, steps, further, head, sequences, tests: sizes of the run.

    Returns:
        By rate, for each seed: ``before``, the loss after training; and for each way of `WAYS` the
        loss right after growing, and (ways of `ON`) after training on.
    """
    name = f"rotary growth, {layers} layers, {source}"
    test = {"seeds": seeds, "count": tests}
    made = [roformer(layers, vocabulary, seed, head) for _ in rates for seed in range(seeds)]
    models = Models(made)
    how: dict[str, Any] = {"rates": rates, "seeds": seeds, "count": sequences}
    models.learn(source, name, steps=steps, warmup=min(WARMUP, steps), **how)
    found: dict[str, Any] = {"before": models.tested(source, name, **test)}
    small = models.each()
    for way, make in WAYS.items():
        large = Models([make(model, 2) for model in small])
        found[way] = large.tested(source, name, **test)
        if way in ON:
            large.learn(source, f"{name}, further", steps=further, **how)
            found[f"{way}, trained on"] = large.tested(source, name, **test)
    return {what: by_rate(losses, rates) for what, losses in found.items()}


def compare(
    learnt: Mapping[str, tuple[Source, int, Sequence[str]]], sizes: Mapping[str, int],
    **setting: Any,
) -> dict[str, Any]:  # fmt: skip
    """Train and enlarge in every size on every task.

    Args:
        learnt: as `sources` returns it.
        sizes: layers by name.
        setting: of `measured`.

    Returns:
        By task and size, what `measured` returns.
    """
    found: dict[str, Any] = {}
    for task, (source, vocabulary, names) in learnt.items():
        for size in names:
            name = f"rotary growth, {task}, {size}, {setting}"
            work = partial(measured, sizes[size], source, vocabulary, **setting)
            found.setdefault(task, {})[size] = part(name, work)
    return found


def run() -> dict[str, Any]:
    """The recorded family."""
    text = documentation()[0]
    learnt = sources(text)
    return {
        "setting": {
            "steps": STEPS, "further": FURTHER, "head": HEAD, "length": LENGTH,
            "sequences": SEQUENCES, "hidden": HIDDEN,
        },
        "text": described(text),
        "guessing": {task: math.log(vocabulary) for task, (_, vocabulary, _) in learnt.items()},
        "runs": compare(learnt, SIZES),
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """Both kinds of task at toy sizes; the text is a sentence, which no version of SymPy moves."""
    letters = Letters(lettered("the quick brown fox jumps over the lazy dog. " * 4), 8)
    toy: dict[str, tuple[Source, int, list[str]]] = {
        "text": (Masked(letters, 2), letters.vocabulary, ["toy"]),
        "2 to the left": (Away(2, 5, 8), 5, ["toy"]),
    }
    small = {"steps": 6, "further": 3, "head": 8, "sequences": 2, "tests": 4}
    return compare(toy, {"toy": 2}, rates=[0.01, 0.03], seeds=2, **small)
