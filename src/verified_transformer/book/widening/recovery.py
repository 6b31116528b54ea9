"""Does an enlarged rotary model recover? Small models that need positions, trained side by side.

Each position names the token a few places to its left and the one a few places to its right; only
the rotation tells where that is. One layer, width 32, two heads, a ReLU branch, RMS norms.
"""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from ...models.growth.axes import repeated
from ...models.growth.rules import score_scale
from ...seeds import generator
from ..training import train
from .rotary import Place, angles, copies, turned

VOCABULARY, WIDTH, HEADS, LENGTH = 8, 32, 2, 16
RATE = 5e-3  # at 0.01 a model's loss jumps from step to step by as much as the enlarging costs
GUESSING = math.log(VOCABULARY)  # the loss of one who knows nothing

Weights = dict[str, torch.Tensor]
Reach = tuple[int, int]  # how far to the left and to the right the answers stand


def drawn(name: str, *, seeds: int, head: int = 64, k: int = 1) -> Weights:
    """Weights of models that are k times as wide, each (seeds, …), float32.

    Args:
        name: what the draws are derived from.
        seeds: how many models side by side.
        head: size of a head.
        k: factor of the width.
    """
    source, width, inner = generator(name), k * WIDTH, k * HEADS * head

    def dense(fan_in: int, fan_out: int, gain: float = 1.0) -> torch.Tensor:
        return torch.randn(seeds, fan_in, fan_out, generator=source) * (gain / fan_in) ** 0.5

    found = {"tokens": torch.randn(seeds, VOCABULARY, width, generator=source)}
    found |= {x: dense(width, inner) for x in "qkv"} | {"o": dense(inner, width)}
    found |= {"up": dense(width, 2 * width, 2.0), "down": dense(2 * width, width)}
    found["readout"] = dense(width, 2 * VOCABULARY, 0.1)
    return found | {f"gain {x}": torch.ones(seeds, 1, width) for x in ("a", "f", "last")}


def enlarged(p: Weights, place: Place, k: int = 2) -> Weights:
    """The models made k times as wide by the article's table; ``place`` lays out the heads."""
    head, grown = p["q"].shape[-1] // HEADS, {}
    slots = place(HEADS, head, k, "interleaved")
    root = score_scale(k, copies(slots), scaled=True) / k**0.5
    for name, weight in p.items():
        if name in "qk":
            grown[name] = root * slots.write(weight.repeat_interleave(k, -2), -1).float()
        elif name in ("v", "o", "up", "down"):
            grown[name] = weight.repeat_interleave(k, -1).repeat_interleave(k, -2) / k
        else:  # tokens and gains are repeated along their rows, the readout along its columns
            axis = -2 if name == "readout" else -1
            grown[name] = repeated(weight.shape[axis], k, scale=k**-0.5).write(weight, axis)
    return grown


def logits(p: Weights, tokens: torch.Tensor) -> torch.Tensor:
    """Logits for left and right, (seeds, batch, length, 2, vocabulary), of (…, length) tokens."""
    seeds, _, length = tokens.shape
    h = p["tokens"][torch.arange(seeds)[:, None, None], tokens].flatten(1, 2)
    q, key, v = (
        _sequences(_normed(p, "a", h) @ p[w], length).unflatten(-1, (HEADS, -1)).transpose(2, 3)
        for w in "qkv"
    )
    q, key = turned("interleaved", q, key, angles(range(length), q.shape[-1]).float())
    seen = F.scaled_dot_product_attention(q, key, v)
    h = h + seen.transpose(2, 3).flatten(1, 2).flatten(2) @ p["o"]
    h = h + (_normed(p, "f", h) @ p["up"]).relu() @ p["down"]
    return _sequences(_normed(p, "last", h) @ p["readout"], length).unflatten(-1, (2, -1))


def _sequences(x: torch.Tensor, length: int) -> torch.Tensor:
    return x.unflatten(1, (-1, length))


def _normed(p: Weights, name: str, x: torch.Tensor) -> torch.Tensor:
    return x / (x.square().mean(-1, keepdim=True) + 1e-12).sqrt() * p[f"gain {name}"]


def losses(p: Weights, source: torch.Generator, reach: Reach, batch: int) -> torch.Tensor:
    """Loss of each model on a batch of random sequences, (seeds,)."""
    left, right = reach
    seeds = len(p["tokens"])
    x = torch.randint(VOCABULARY, (seeds, batch, LENGTH + left + right), generator=source)
    answer = torch.stack([x[..., :LENGTH], x[..., left + right :]], -1)
    found = logits(p, x)[:, :, left : left + LENGTH]
    loss = F.cross_entropy(found.flatten(0, 3), answer.flatten(), reduction="none")
    return loss.view(seeds, -1).mean(1)


def trained(p: Weights, steps: int, reach: Reach, name: str) -> tuple[Weights, torch.Tensor]:
    """The models after some steps of Adam, and the losses before each, (steps, seeds)."""
    p = {key: weight.clone().requires_grad_() for key, weight in p.items()}
    source = generator(f"batches {name}")
    curve = train(
        list(p.values()), lambda _: losses(p, source, reach, 8), steps=steps, rate=RATE, warmup=20
    )
    return {key: weight.detach() for key, weight in p.items()}, curve


@torch.no_grad()
def tested(p: Weights, reach: Reach) -> torch.Tensor:
    """Loss of each model on one fixed set of sequences, (seeds,)."""
    return losses(p, generator("test"), reach, 32)
