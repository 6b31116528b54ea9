"""How fast do the remedies for a tied head's first loss converge, and where do they end?

kexue 9698 reports, without figures, that starting from σ = (log n)/d converges slowest, that the
other remedies converge at about the same speed, and that all end alike. Here a small Transformer
whose residual branches start at zero, so that it starts as the article's two-gram model, learns a
Zipf-Markov language. Its loss is known up to the noise of the tokens it is tested on, because the
law of the next token is: the loss is the cross-entropy of that law, and its floor the entropy rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from verifiedbook.account.parts import part
from verifiedbook.sampling.zipf_markov import ZipfMarkov
from verifiedbook.seeds import seed_of
from weightwise.heads import (
    Head,
    ProjectedHead,
    ShuffledHead,
    TiedHead,
    UntiedHead,
    channel_shuffle,
    half_swap,
)
from weightwise.normalisation import normalised

SEEDS = {"choice of the rate": [0, 1], "comparison": [2, 3, 4, 5, 6]}
REMEDIES = ("tied", "small σ", "untied", "projected", "half swap", "channel shuffle")
RATES = (0.001, 0.002, 0.004, 0.008)


@dataclass(frozen=True)
class Setting:
    """Sizes of the language, the model and the run."""

    n: int = 256
    d: int = 128
    layers: int = 2
    sequences: int = 8
    length: int = 32
    steps: int = 1000
    look_every: int = 20
    strength: float = 2.0


class Block(nn.Module):
    """Attention and a feed-forward branch, each behind a factor that starts at zero (ReZero)."""

    def __init__(self, d: int, generator: torch.Generator) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, d), nn.Linear(d, d, bias=False)
        for layer in (self.qkv, self.out, self.up, self.down):
            nn.init.normal_(layer.weight, std=d**-0.5, generator=generator)
        nn.init.zeros_(self.up.bias)
        self.factors = nn.Parameter(torch.zeros(2))

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        """Residual stream to residual stream, (batch, length, d)."""
        q, k, v = self.qkv(normalised(h, ε=1e-8)).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + self.factors[0] * self.out(mixed.transpose(1, 2).flatten(2))
        return h + self.factors[1] * self.down(F.relu(self.up(normalised(h, ε=1e-8))))


class Model(nn.Module):
    """Embedding, blocks, final normalisation and one of the remedies' heads."""

    def __init__(self, remedy: str, setting: Setting, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed_of(f"tied convergence weights {seed}"))
        n, d = setting.n, setting.d
        σ = math.log(n) / d if remedy == "small σ" else d**-0.5
        self.embedding = nn.Embedding(n, d)
        nn.init.normal_(self.embedding.weight, std=1.0, generator=generator)
        with torch.no_grad():
            self.embedding.weight *= σ
        self.blocks = nn.ModuleList(Block(d, generator) for _ in range(setting.layers))
        self.head = head(remedy, self.embedding, generator)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (batch, length, n) of tokens (batch, length)."""
        h = self.embedding(tokens)
        for block in self.blocks:
            h = block(h)
        return self.head(normalised(h, ε=1e-8))


def head(remedy: str, embedding: nn.Embedding, generator: torch.Generator) -> Head:
    """Return the remedy's head on an embedding."""
    n, d = embedding.weight.shape
    if remedy in ("tied", "small σ"):
        return TiedHead(embedding)
    if remedy == "untied":
        return UntiedHead(n, d, σ=d**-0.5, generator=generator)
    if remedy == "projected":
        return ProjectedHead(embedding, generator=generator)
    if remedy == "half swap":
        return ShuffledHead(embedding, half_swap(d))
    if remedy == "channel shuffle":
        return ShuffledHead(embedding, channel_shuffle(d, 16))
    raise ValueError(f"remedy: got {remedy!r}; accepted: {', '.join(REMEDIES)}")


def excess(model: Model, language: ZipfMarkov, tokens: torch.Tensor) -> float:
    """Nats above the floor: the mean divergence of the model's law from the true one."""
    with torch.no_grad():
        log_model = model(tokens).log_softmax(-1).double()
    true = language.transition[tokens]
    return float((torch.special.xlogy(true, true) - true * log_model).sum(-1).mean())


def train(remedy: str, rate: float, seed: int, setting: Setting) -> list[float]:
    """Train one model with Adam, the rate falling to zero along a cosine.

    Args:
        remedy: one of `REMEDIES`.
        rate: the largest learning rate.
        seed: of the weights and of the batches, which are the same for every remedy.
        setting: sizes.

    Returns:
        The excess at step 0, ``look_every``, …, ``steps``.
    """
    language = ZipfMarkov(setting.n, strength=setting.strength)
    generator = torch.Generator().manual_seed(seed_of(f"tied convergence batches {seed}"))
    held_out = language.sample(16, setting.length, generator)
    model, looks = Model(remedy, setting, seed), []
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(setting.steps + 1):
        if step % setting.look_every == 0:
            looks.append(round(excess(model, language, held_out), 5))
        adam.param_groups[0]["lr"] = rate * (1 + math.cos(math.pi * step / setting.steps)) / 2
        tokens = language.sample(setting.sequences, setting.length + 1, generator)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return looks


def entropies(setting: Setting) -> dict[str, float]:
    """The floor, and the loss of the tokens' own frequencies."""
    language = ZipfMarkov(setting.n, strength=setting.strength)
    return {"entropy rate": language.entropy_rate, "unigram entropy": language.unigram_entropy}


def compare(
    setting: Setting,
    *,
    remedies: Sequence[str] = REMEDIES,
    rates: Sequence[float] = RATES,
    choosing: Sequence[int] = tuple(SEEDS["choice of the rate"]),
    comparing: Sequence[int] = tuple(SEEDS["comparison"]),
) -> dict[str, Any]:
    """Choose each remedy's rate by the mean excess over the run, then compare on fresh seeds.

    Returns:
        The floor, and by remedy the curves of the sweep by rate, the chosen rate, and the curves
        of the comparison.
    """
    found: dict[str, Any] = {
        "setting": vars(setting), **part("language", partial(entropies, setting)),
        "sweep": {}, "rate": {}, "curves": {},
    }  # fmt: skip

    def trained(remedy: str, rate: float, seeds: Sequence[int]) -> list[list[float]]:
        return [train(remedy, rate, seed, setting) for seed in seeds]

    for remedy in remedies:
        sweep = {
            rate: part(
                f"{remedy}, {rate}", partial(trained, remedy, rate, choosing), seeds=choosing
            )
            for rate in rates
        }
        means = {rate: sum(map(sum, curves)) for rate, curves in sweep.items()}
        best = min(means, key=means.__getitem__)
        found["sweep"][remedy] = {str(rate): curves for rate, curves in sweep.items()}
        found["rate"][remedy] = best
        make = partial(trained, remedy, best, comparing)
        found["curves"][remedy] = part(f"{remedy}, best", make, seeds=comparing)
    return found


def run() -> dict[str, Any]:
    """The recorded comparison."""
    return compare(Setting())


def fingerprint() -> dict[str, Any]:
    """The comparison of all remedies at toy sizes, with a rate that moves every branch."""
    small = Setting(n=48, d=32, sequences=4, length=8, steps=8, look_every=4)
    return compare(small, rates=(0.002, 0.03), choosing=[0], comparing=[2])
