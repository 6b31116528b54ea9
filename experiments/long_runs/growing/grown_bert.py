"""Does a BERT that was made twice as wide gain more by further training than the small one?

kexue 8444 argues that lossless enlarging starts from the small model's loss, and that training on
is then a gain; and it chooses repetition over zero-padding. Equal copies get equal gradients, so a
large model can only gain over the small one if something tells them apart, as BERT's own dropout
does. Here BERTs of `transformers` learn hidden letters of a real text, and, in an artificial task,
the token two places to the left; they are made twice as wide and trained on, beside the small
model, at six rates, with dropout and without.

Written down before the run. All is pre-training by Adam: 200 steps of the small model at one rate,
then as many of each, from the same function, on the same batches. Every leg counts and is shown;
the real text and the deeper model, with BERT's own dropout, decide. Losses are of fixed sequences,
without dropout; a seed's rate is the one that is best for the other seeds. (A first run had rates
from 5e-4 on, where the text's best was the smallest. Its range was moved down; nothing else was
changed. It had not settled the deciding leg either.)

- GROW-02, laboratory: with dropout the doubled model ends lower than the small one.
- Shown beside it: the same without dropout, where the copies stay equal but for rounding; a lead is
  there only what Adam's longer steps of a larger model give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from verifiedbook.account.parts import part
from verifiedbook.seeds import seed_of
from weightwise.growth import grow

from ..laboratory.learning import by_rate
from ..laboratory.side_by_side import Away, Masked, Models, Source
from ..laboratory.tasks import Letters, described, documentation, lettered
from ..residual_schemes import rates

Learnt = Mapping[str, tuple[Source, int, Sequence[float]]]
SEEDS = {"weights, batches and dropout": [0, 1, 2, 3, 4, 5, 6, 7]}
FIRST = 4e-3  # of the small model; of training on:
RATES = {"text": rates(1.25e-4, 4e-3), "places": rates(5e-4, 1.6e-2)}
STEPS, WIDTH, LENGTH, SEQUENCES, HIDDEN = 200, 24, 32, 8, 5
SIZES = {"1 layer": 1, "2 layers": 2}
DROPOUT = {"with dropout": 0.1, "without": 0.0}  # a tenth is BERT's own


def bert(layers: int, vocabulary: int, seed: int, width: int = WIDTH) -> Any:
    """Return a BertForMaskedLM with two heads a layer.

    Args:
        layers: how many.
        vocabulary: number of tokens, to which one is added that hides.
        seed: of the weights, normal of the variance one over the width.
        width: of the states; a hidden layer is twice as wide.
    """
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocabulary + 1, hidden_size=width, num_hidden_layers=layers,
        num_attention_heads=2, intermediate_size=2 * width, max_position_embeddings=LENGTH,
        type_vocab_size=1, initializer_range=width**-0.5,
    )  # fmt: skip
    config._attn_implementation = "eager"  # the fused one has no rule for many models at once
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(f"grown bert, weights {seed}"))
        return BertForMaskedLM(config)


def measured(
    layers: int, source: Source, vocabulary: int, tried: Sequence[float], *, dropout: float,
    seeds: int = 8, steps: int = STEPS, width: int = WIDTH, sequences: int = SEQUENCES,
    tests: int = 64,
) -> dict[str, Any]:  # fmt: skip
    """Train small BERTs, double them, and train both on.

    Args:
        layers: of each.
        source: of the batches.
        vocabulary: number of tokens.
        tried: rates of Adam, of training on.
        dropout: of both, all the time.
        seeds, steps, width, sequences, tests: sizes of the run.

    Returns:
        For ``small`` and ``doubled`` each seed's loss right away, ``start``, and by rate that after
        training on, ``final``.
    """
    name, test = f"grown bert, {layers} layers, {source}", {"seeds": seeds, "count": tests}
    first = Models([bert(layers, vocabulary, seed, width) for seed in range(seeds)], dropout)
    how: dict[str, Any] = {"seeds": seeds, "steps": steps, "count": sequences, "warmup": 20}
    first.learn(source, name, rates=[FIRST], **how)
    small = first.each()
    ways = {"small": small, "doubled": [grow(model.eval(), 2, check=False) for model in small]}
    found: dict[str, Any] = {}
    for way, made in ways.items():
        models = Models([model for _ in tried for model in made], dropout)
        start = models.tested(source, name, **test)[0]
        models.learn(source, f"{name}, further", rates=tried, **how)
        final = by_rate(models.tested(source, name, **test), tried)
        found[way] = {"start": [round(x, 4) for x in start.tolist()], "final": final}
    return found


def compare(
    learnt: Learnt, sizes: Mapping[str, int], *, seeds: Sequence[int],
    measured: Callable[..., dict[str, Any]] = measured, **setting: Any,
) -> dict[str, Any]:  # fmt: skip
    """Train and grow in every size on every task, with dropout and without.

    Args:
        learnt: by task its batches, its number of tokens, and rates of training on.
        sizes: layers by name.
        seeds: of each.
        measured: what is done in each, such as `measured` here.
        setting: of ``measured``.

    Returns:
        By task and size, ``"text, 2 layers"``, and by dropout, what ``measured`` returns.
    """
    return {
        f"{task}, {size}": {
            kind: part(
                f"{task}, {size}, {kind}",
                partial(
                    measured, layers, source, words, tried, dropout=probability,
                    seeds=len(seeds), **setting,
                ),
                seeds=seeds, rates=tried,
            )
            for kind, probability in DROPOUT.items()
        }
        for task, (source, words, tried) in learnt.items()
        for size, layers in sizes.items()
    }  # fmt: skip


def both_tasks(text: str) -> Learnt:
    """Hidden letters of a text, and the token two places to the left."""
    letters, away = Letters(lettered(text), LENGTH), Away(2, length=LENGTH)
    return {
        "text": (Masked(letters, HIDDEN), letters.vocabulary, RATES["text"]),
        "places": (away, away.vocabulary, RATES["places"]),
    }


def at_toy_sizes(**how: Any) -> dict[str, Any]:
    """`compare` at toy sizes; the text is a sentence, which no version of SymPy moves.

    Args:
        how: ``measured``.
    """
    letters = Letters(lettered("the quick brown fox jumps over the lazy dog. " * 4), 8)
    tried = (0.01, 0.03)
    learnt: Learnt = {
        "text": (Masked(letters, 2), letters.vocabulary, tried),
        "places": (Away(2, 5, 8), 5, tried),
    }
    sizes: dict[str, Any] = {"steps": 6, "width": 8, "sequences": 2, "tests": 4}
    return compare(learnt, {"toy": 1}, seeds=range(2), **how, **sizes)


def run() -> dict[str, Any]:
    """The recorded family."""
    text = documentation()[0]
    return {
        "setting": {
            "steps": STEPS, "width": WIDTH, "length": LENGTH, "sequences": SEQUENCES,
            "hidden": HIDDEN, "first rate": FIRST,
        },
        "text": part("text", partial(described, text)),
        "runs": compare(both_tasks(text), SIZES, seeds=SEEDS["weights, batches and dropout"]),
    }  # fmt: skip


def fingerprint() -> dict[str, Any]:
    """Both tasks at toy sizes."""
    return at_toy_sizes()
