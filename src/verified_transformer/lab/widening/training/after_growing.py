"""What training makes of a grown model: which copies stay equal, and what parts them."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from ....models.growth import grow
from ....seeds import generator
from ...arrays.comparing import largest_error
from ...real_models.tiny import randomised, tiny
from ...training import train

_HIDDEN = {
    "bert": "bert.encoder.layer.0.intermediate.dense.weight",
    "t5": "encoder.block.0.layer.1.DenseReluDense.wi.weight",
}


def taught(model: Any, *, steps: int = 5, rate: float = 0.01, **settings: Any) -> Any:
    """Train a model of transformers in place for a few steps on one small text.

    Args:
        model: in the mode in which it is to run.
        steps, rate: of the optimiser.
        settings: of `train`, such as ``optimiser``.

    Returns:
        The model.
    """
    tokens = torch.arange(18).view(2, 9)
    more = {"decoder_input_ids": tokens.flip(1)} if model.config.is_encoder_decoder else {}

    def loss(_: int) -> torch.Tensor:
        logits = model(tokens, **more).logits.flatten(0, 1)
        return F.cross_entropy(logits, tokens.flatten() + 1)

    with torch.enable_grad():
        weights = list(model.requires_grad_().parameters())
        train(weights, loss, steps=steps, rate=rate, **settings)
    return model.requires_grad_(False)


def by_momentum(model: Any) -> Any:
    """`taught` by gradient descent with momentum and weight decay."""
    return taught(model, optimiser=torch.optim.SGD, momentum=0.9, weight_decay=0.01)


def all_weights(model: Any) -> torch.Tensor:
    """Every parameter of a model with 24 columns or a multiple, (…, 24)."""
    return torch.cat([value.flatten() for value in model.parameters()]).view(-1, 24)


def twins(kind: str, name: str, *, k: int = 2) -> torch.Tensor:
    """The incoming weights of the copies of hidden units, after five steps with dropout.

    Adam, and the dropout of the class's own configuration.

    Args:
        kind: "bert" or "t5".
        name: what the weights are drawn from.
        k: factor of growth.

    Returns:
        (units of the small model, k, width).
    """
    model = randomised(tiny(kind), name).requires_grad_(False)
    large = grow(model, k, check=False).train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(len(name))
        taught(large)
    return large.get_parameter(_HIDDEN[kind]).unflatten(0, (-1, k))


def copies_apart(noise: float, optimiser: Any, rate: float) -> float:
    """How far the copies are apart that a GPT-2's hidden units read, after growing and five steps.

    Args:
        noise: of `grow`.
        optimiser: a class of torch.optim.
        rate: its rate.
    """
    model = randomised(tiny("gpt2"), "GPT-2").requires_grad_(False)
    large = grow(model, 2, noise=noise, generator=generator("noise"), check=False)
    taught(large, optimiser=optimiser, rate=rate)
    copies = large.transformer.h[0].mlp.c_fc.weight.unflatten(0, (-1, 2))
    return largest_error(copies, copies[:, :1].expand_as(copies))


def parted(noise: float, works: list[float], *, rate: float = 1e-3) -> list[float]:
    """How far two linear copies come apart under gradient descent, until some work is done.

    Two hidden units read one number by equal weights u = 1; their outgoing weights are
    (1 ± noise) / 2. What is left to learn pulls on both.

    Args:
        noise: the difference of the outgoing weights at first.
        works: sums of rate times residual at which to look, rising.
        rate: of the gradient descent.

    Returns:
        The difference of the two incoming weights at each.
    """
    u = torch.ones(2, dtype=torch.float64)
    v = torch.tensor([1 + noise, 1 - noise], dtype=torch.float64) / 2
    wanted, done, found = 2 * math.exp(2 * works[-1]), 0.0, []  # out of reach of this work
    for work in works:
        while done < work:
            step = min(rate * (1 - (u @ v).item() / wanted), work - done)
            u, v, done = u + step * v, v + step * u, done + step
        found.append((u[0] - u[1]).item())
    return found
