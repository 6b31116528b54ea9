r"""Causal Transformers of one kind, many independent ones side by side, as tensors with an axis.

A branch $F$ is added to the stream $x$ in one of the ways of `SCHEMES`: Post Norm
$N(x+F(x))$, Pre Norm $x+F(N(x))$, a learned factor $x+\alpha F(x)$ that starts at 0 (ReZero), or a
factor that is given from outside, alone or with either norm. One norm more stands before the
readout, except after Post Norm, the learned factor, and where a scheme says that it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F

SCHEMES = {
    "post": "norm after the sum",
    "pre": "norm before the branch",
    "learned": "a learned factor from 0, no norm",
    "schedule": "a given factor, no norm but the last",
    "schedule, bare": "a given factor, no norm at all",
    "schedule, pre": "a given factor, norm before the branch",
    "schedule, post": "a given factor, norm after the sum",
}


@dataclass(frozen=True)
class Shape:
    """Sizes of a Transformer and how its branches are added.

    Attributes:
        layers, width, head: one head a layer; the feed-forward branch is twice as wide as the
            stream.
        vocabulary, length: number of tokens, tokens in a sequence.
        scheme: one of `SCHEMES`.
        divide: whether logits of attention are divided by the root of the head's size.
        biases: whether norms subtract the mean and have a shift, and dense layers a bias.
    """

    layers: int
    width: int
    head: int
    vocabulary: int
    length: int
    scheme: str = "post"
    divide: bool = True
    biases: bool = False

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ValueError(f"scheme: got {self.scheme!r}; accepted: {', '.join(SCHEMES)}")

    @property
    def branches(self) -> list[str]:
        """Names of the residual branches, in their order."""
        return [f"{kind} {i}" for i in range(self.layers) for kind in ("attention", "forward")]


def drawn_weights(shape: Shape, seeds: int, source: torch.Generator) -> dict[str, torch.Tensor]:
    """Draw the weights of one Transformer for each seed.

    Embeddings are standard normal; every weight has the variance one over its fan-in (two over it
    before the relu), the readout a hundredth of that, so that all start at the uniform guess.

    Args:
        shape: of the Transformer; its scheme changes no draw.
        seeds: how many.
        source: of the draws.

    Returns:
        Weights by name, each (seeds, …).
    """
    d = shape.width

    def dense(fan_in: int, fan_out: int, gain: float = 1.0) -> torch.Tensor:
        return torch.randn(seeds, fan_in, fan_out, generator=source) * (gain / fan_in) ** 0.5

    weights = {
        "tokens": torch.randn(seeds, shape.vocabulary, d, generator=source),
        "places": torch.randn(seeds, shape.length, d, generator=source),
        "readout": dense(d, shape.vocabulary, 0.01),
    }
    for i in range(shape.layers):
        weights[f"qkv {i}"], weights[f"out {i}"] = dense(d, 3 * shape.head), dense(shape.head, d)
        weights[f"up {i}"], weights[f"down {i}"] = dense(d, 2 * d, 2.0), dense(2 * d, d)
    if shape.scheme == "learned":
        weights |= {f"factor {branch}": torch.zeros(seeds, 1, 1) for branch in shape.branches}
    if shape.biases:
        for name in [name for name in weights if name not in ("tokens", "places")]:
            weights[f"bias {name}"] = torch.zeros(seeds, 1, weights[name].shape[-1])
        for branch in (*shape.branches, "last"):
            weights[f"shift {branch}"] = torch.zeros(seeds, 1, d)
    return weights


def logits(
    shape: Shape, weights: Mapping[str, torch.Tensor], x: torch.Tensor, factor: float = 1.0
) -> torch.Tensor:
    """Return the logits of what is asked for at every place.

    Args:
        shape: of the Transformers.
        weights: of `drawn_weights`, (runs, …).
        x: tokens, (runs, batch, length).
        factor: of all branches, where the scheme is given one.

    Returns:
        Logits, (runs, batch · length, vocabulary).
    """
    runs, _, length = x.shape
    after = shape.scheme in ("post", "schedule, post")
    before = shape.scheme in ("pre", "schedule, pre")
    rows = weights["tokens"].gather(1, x.flatten(1)[..., None].expand(-1, -1, shape.width))
    h = (rows.unflatten(1, (-1, length)) + weights["places"][:, None]).flatten(1, 2)

    def norm(name: str, u: torch.Tensor) -> torch.Tensor:
        if not shape.biases:
            return F.rms_norm(u, u.shape[-1:], eps=1e-6)
        return F.layer_norm(u, u.shape[-1:], eps=1e-6) + weights[f"shift {name}"]

    def dense(name: str, u: torch.Tensor) -> torch.Tensor:
        if shape.biases:
            return torch.baddbmm(weights[f"bias {name}"], u, weights[name])
        return u @ weights[name]

    def attention(i: str, u: torch.Tensor) -> torch.Tensor:
        q, k, v = dense(f"qkv {i}", u).view(runs, -1, length, 3 * shape.head).chunk(3, -1)
        scale = None if shape.divide else 1.0  # the default is one over the root
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
        return dense(f"out {i}", mixed.flatten(1, 2))

    if not before:
        h = F.rms_norm(h, h.shape[-1:], eps=1e-6)
    for branch in shape.branches:
        kind, i = branch.split()
        u = norm(branch, h) if before else h
        if kind == "attention":
            out = attention(i, u)
        else:
            out = dense(f"down {i}", torch.relu(dense(f"up {i}", u)))
        if shape.scheme == "learned":
            out = weights[f"factor {branch}"] * out
        elif shape.scheme.startswith("schedule"):
            out = factor * out
        h = norm(branch, h + out) if after else h + out
    last = before or shape.scheme == "schedule"
    return dense("readout", norm("last", h) if last else h)
