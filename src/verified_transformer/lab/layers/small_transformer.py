r"""A small Transformer, many independent ones side by side, and the task that they learn.

Each position names the sum of its own token and the first token of the sequence, modulo the number
of tokens: attention has to fetch, the feed-forward branch has to add. Guessing has the loss
$\ln V$.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from ...seeds import generator
from ..training import train

SCHEMES = ("post", "pre", "learned", "schedule")


class SmallTransformers:
    r"""Independent Transformers of one kind, one for each seed, as tensors with a leading axis.

    Embeddings are standard normal, every weight has the variance one over its fan-in (two over it
    before the relu), the readout a hundredth of that.

    Args:
        name: what the draws of the weights are derived from; models of one name start alike.
        scheme: how a branch is added: ``"post"`` (Post Norm), ``"pre"`` (Pre Norm), ``"learned"``
            (a factor for each branch, which starts at 0), ``"schedule"`` (one factor, given from
            outside); the last two have no norm.
        divide: whether logits of attention are divided by the root of the head's size.
        biases: whether norms subtract the mean and have a shift, and dense layers a bias; Pre Norm.
        seeds, layers, width, head, hidden: sizes; one head.
        vocabulary, length: number of tokens, tokens in a sequence.

    Raises:
        ValueError: another scheme, or biases without Pre Norm.
    """

    def __init__(
        self,
        name: str,
        scheme: str = "post",
        *,
        divide: bool = True,
        biases: bool = False,
        seeds: int = 14,
        layers: int = 6,
        width: int = 32,
        head: int = 64,
        hidden: int = 64,
        vocabulary: int = 8,
        length: int = 6,
    ) -> None:
        if scheme not in SCHEMES:
            raise ValueError(f"scheme: got {scheme!r}; accepted: {', '.join(SCHEMES)}")
        if biases and scheme != "pre":
            raise ValueError(f"biases: got True with scheme {scheme!r}; accepted: with 'pre'")
        self.scheme, self.divide, self.biases = scheme, divide, biases
        self.seeds, self.layers, self.vocabulary, self.length = seeds, layers, vocabulary, length
        source = generator(name)

        def dense(fan_in: int, fan_out: int, gain: float = 1.0) -> torch.Tensor:
            return torch.randn(seeds, fan_in, fan_out, generator=source) * (gain / fan_in) ** 0.5

        self.weights = {
            "tokens": torch.randn(seeds, vocabulary, width, generator=source),
            "places": torch.randn(seeds, length, width, generator=source),
            "readout": dense(width, vocabulary, 0.01),
        }
        for i in range(layers):
            self.weights[f"qkv{i}"] = dense(width, 3 * head)
            self.weights |= {f"o{i}": dense(head, width), f"up{i}": dense(width, hidden, 2.0)}
            self.weights[f"down{i}"] = dense(hidden, width)
        if scheme == "learned":
            for branch in self._branches():
                self.weights[f"factor {branch}"] = torch.zeros(seeds, 1, 1, 1)
        if biases:
            layers_with_bias = [n for n in self.weights if n not in ("tokens", "places")]
            for place in (*layers_with_bias, *(f"norm {b}" for b in (*self._branches(), "last"))):
                size = self.weights[place].shape[-1] if place in self.weights else width
                self.weights[f"bias {place}"] = torch.zeros(seeds, 1, 1, size)
        for weight in self.weights.values():
            weight.requires_grad_()

    def _branches(self) -> list[str]:
        return [f"{kind}{i}" for i in range(self.layers) for kind in ("attention", "forward")]

    def logits(self, x: torch.Tensor, factor: float = 1.0) -> torch.Tensor:
        """Return the logits of every next token.

        Args:
            x: tokens, (seeds, batch, length).
            factor: of all branches, in the scheme ``"schedule"``.

        Returns:
            Logits, (seeds, batch, length, vocabulary).
        """
        seed = torch.arange(self.seeds)[:, None, None]
        h = self.weights["tokens"][seed, x] + self.weights["places"][:, None]
        if self.scheme != "pre":
            h = self._norm("first", h)
        for branch in self._branches():
            u = self._norm(branch, h) if self.scheme == "pre" else h
            i = branch.lstrip("ateniofrwd")
            out = self._attention(i, u) if branch.startswith("attention") else self._forward(i, u)
            if self.scheme == "learned":
                out = self.weights[f"factor {branch}"] * out
            elif self.scheme == "schedule":
                out = factor * out
            h = self._norm(branch, h + out) if self.scheme == "post" else h + out
        return self._dense("readout", self._norm("last", h) if self.scheme == "pre" else h)

    def _attention(self, i: str, u: torch.Tensor) -> torch.Tensor:
        q, k, v = self._dense(f"qkv{i}", u).chunk(3, -1)
        scale = None if self.divide else 1.0  # the default is one over the root
        return self._dense(f"o{i}", F.scaled_dot_product_attention(q, k, v, scale=scale))

    def _forward(self, i: str, u: torch.Tensor) -> torch.Tensor:
        return self._dense(f"down{i}", torch.relu(self._dense(f"up{i}", u)))

    def _dense(self, name: str, u: torch.Tensor) -> torch.Tensor:
        y = (u.flatten(1, 2) @ self.weights[name]).unflatten(1, u.shape[1:3])
        return y + self.weights[f"bias {name}"] if self.biases else y

    def _norm(self, name: str, u: torch.Tensor) -> torch.Tensor:
        if not self.biases:
            return F.rms_norm(u, u.shape[-1:], eps=1e-6)
        return F.layer_norm(u, u.shape[-1:], eps=1e-6) + self.weights[f"bias norm {name}"]


def learn_sums(
    models: SmallTransformers,
    name: str,
    *,
    steps: int,
    rate: float,
    warmup: int = 1,
    batch: int = 16,
    law: torch.Tensor | None = None,
    factor: Callable[[int], float] = lambda step: 1.0,
) -> torch.Tensor:
    """Train the models with Adam, in place, each on its own sequences.

    Args:
        models: Transformers side by side.
        name: what the sequences are derived from.
        steps: how many.
        rate, warmup: learning rate, and the steps until it is reached.
        batch: sequences a step, for each seed.
        law: weights of the tokens; uniform without it.
        factor: of all branches at a step, for the scheme ``"schedule"``.

    Returns:
        Losses before each step, (steps, seeds).
    """
    source = generator(name)
    chances = torch.ones(models.vocabulary) if law is None else law
    shape = models.seeds, batch, models.length

    def loss(step: int) -> torch.Tensor:
        drawn = torch.multinomial(chances, models.seeds * batch * models.length, True,
                                  generator=source)  # fmt: skip
        x = drawn.view(shape)
        answer = (x + x[..., :1]) % models.vocabulary
        logits = models.logits(x, factor(step)).flatten(0, 2)
        each = F.cross_entropy(logits, answer.flatten(), reduction="none")
        return each.view(models.seeds, -1).mean(1)

    return train(models.weights.values(), loss, steps=steps, rate=rate, warmup=warmup, fused=True)
