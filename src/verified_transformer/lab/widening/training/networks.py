"""Five small networks side by side, and ways to make them wider: copies, zeros, uneven factors.

An embedding, LayerNorm, a feed-forward layer with ReLU and a residual connection, and the embedding
once more as output. The weights are a dictionary of arrays with the networks on the first axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional as F

from ....seeds import generator
from ...arrays.comparing import relative_error
from ...training import train

Weights = dict[str, torch.Tensor]
Norm = Callable[..., torch.Tensor]
_MATRICES = ("W1", "W2")


def normal(name: str, *shape: int) -> torch.Tensor:
    """Standard normal numbers in float64, drawn from a name."""
    return torch.randn(shape, generator=generator(name), dtype=torch.float64)


def small_networks(
    count: int = 5, *, name: str = "small", tokens: int = 12, width: int = 3, hidden: int = 6
) -> Weights:
    """Return networks with every weight, gain and shift standard normal, drawn from a name."""
    shapes = {"embedding": (tokens, width), "gain": (1, width), "shift": (1, width)}
    shapes |= {"W1": (width, hidden), "b1": (1, hidden), "W2": (hidden, width), "b2": (1, width)}
    return {part: normal(f"{name} {part}", count, *shape) for part, shape in shapes.items()}


def joined(p: Weights) -> torch.Tensor:
    """All weights behind each other, (networks, numbers)."""
    return torch.cat([value.flatten(1) for value in p.values()], 1)


def logits(p: Weights, *, norm: Norm = F.layer_norm, eps: float = 0.0) -> torch.Tensor:
    """Logits of every token after every token, (networks, tokens, tokens)."""
    y = _normed(p, norm, eps)
    y = y + F.relu(y @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    return y @ p["embedding"].mT


def alive_and_trained(name: str) -> Weights:
    """A network, drawn from a name and trained, not all of whose hidden units are dead."""
    p, _ = trained(small_networks(3, name=name), 150, 0.04)
    answers = (_normed(p) @ p["W1"] + p["b1"] > 0).flatten(1).any(1)
    first = int(answers.int().argmax())
    return {part: value[first : first + 1] for part, value in p.items()}


def _normed(p: Weights, norm: Norm = F.layer_norm, eps: float = 0.0) -> torch.Tensor:
    x = p["embedding"]
    return norm(x, x.shape[-1:], eps=eps) * p["gain"] + p["shift"]


def losses(p: Weights, *, norm: Norm = F.layer_norm) -> torch.Tensor:
    """Cross-entropy of each network with fixed random targets, (networks,)."""
    found = logits(p, norm=norm)
    target = torch.softmax(2 * normal("targets", *found.shape), -1)
    return -(target * F.log_softmax(found, -1)).sum(-1).mean(-1)


def grown(p: Weights, k: int, *, divide: bool = True) -> Weights:
    """Repeat every vector and both axes of every matrix; divide by √k and by k."""
    wide = {name: value.repeat_interleave(k, -1) for name, value in p.items()}
    for name in _MATRICES:
        wide[name] = wide[name].repeat_interleave(k, -2)
    by = {name: (k if name in _MATRICES else k**0.5) if divide else 1 for name in p}
    return {name: value / by[name] for name, value in wide.items()}


def uneven(p: Weights, k: int) -> Weights:
    """Eqs. 9 and 11, mended: the first layer is divided by less, the second by more."""
    wide = grown(p, k)
    for name in ("W1", "b1"):
        wide[name] = wide[name] * k**0.5
    return wide | {"W2": wide["W2"] / k**0.5}


def told_apart(p: Weights, size: float) -> Weights:
    """Add noise to the rows of one of two copies and subtract it from those of the other."""
    told = dict(p)
    for name in _MATRICES:
        one, other = p[name][:, ::2], p[name][:, 1::2]
        noise = size * normal(f"noise {name}", *one.shape)
        told[name] = torch.stack([one + noise, other - noise], 2).flatten(1, 2)
    return told


def trained(
    p: Weights,
    steps: int,
    rate: float | Mapping[str, float],
    *,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.SGD,
    norm: Norm = F.layer_norm,
    **options: Any,
) -> tuple[Weights, torch.Tensor]:
    """Train all networks side by side.

    Args:
        p: the weights, which stay as they are.
        steps: how many.
        rate: one for all, or one for each array by name.
        optimiser: of torch, with further ``options``.
        norm: of the network.

    Returns:
        The weights after training, and the losses before each step, (steps, networks).
    """
    rates = dict(rate) if isinstance(rate, Mapping) else dict.fromkeys(p, rate)
    p = {name: value.clone().requires_grad_() for name, value in p.items()}
    groups = [{"params": [value], "lr": rates[name]} for name, value in p.items()]
    with torch.enable_grad():  # also where only arrays are compared
        history = train(
            groups, lambda _: losses(p, norm=norm), steps=steps, rate=0.0, optimiser=optimiser,
            **options,
        )  # fmt: skip
    return {name: value.detach() for name, value in p.items()}, history


def lead(p: Weights, size: float, *, steps: int = 150, rate: float = 0.02) -> torch.Tensor:
    """How much lower the doubled networks end than the small ones, by as many steps, (networks,).

    Args:
        p: the small networks, where training goes on.
        size: of the noise that tells the copies apart; 0 leaves them equal.
        steps: of gradient descent, for both.
        rate: of both.
    """
    small, _ = trained(p, steps, rate)
    large, _ = trained(told_apart(grown(p, 2), size), steps, rate)
    return losses(small) - losses(large)


def gradients(p: Weights) -> Weights:
    """The gradient of the sum of all losses."""
    p = {name: value.clone().requires_grad_() for name, value in p.items()}
    losses(p).sum().backward()
    return {name: value.grad for name, value in p.items() if value.grad is not None}


def copies_apart(p: Weights) -> float:
    """The largest difference of two copies that stand side by side, for k = 2."""
    return max((v[..., ::2] - v[..., 1::2]).abs().max().item() for v in p.values())


def exchange_error(
    growth: Callable[[Weights, int], Weights],
    p: Weights,
    *,
    rate: float = 0.02,
    rates: Mapping[str, float] | None = None,
    **options: Any,
) -> float:
    """How far trained and grown (k = 2) is from grown and trained, after 20 steps.

    Args:
        growth: the way to grow.
        p: the small networks.
        rate: of the small networks, and of the grown ones too where ``rates`` says nothing.
        rates: of the grown arrays by name.
        options: of `trained`.

    Returns:
        The largest relative error of an array.
    """
    later, _ = trained(p, 20, rate, **options)
    found, _ = trained(growth(p, 2), 20, rates or rate, **options)
    wanted = growth(later, 2)
    return max(relative_error(found[name], value) for name, value in wanted.items())


def step_ratio(name: str, k: int, **options: Any) -> float:
    """How much longer an array's first step is than the small one's, grown."""
    p = small_networks()
    start, (later, _) = grown(p, k), trained(p, 1, 0.01, **options)
    moved = trained(start, 1, 0.01, **options)[0][name] - start[name]
    return (moved.norm() / (grown(later, k)[name] - start[name]).norm()).item()


Pair = tuple[torch.Tensor, torch.Tensor]


def best_pair(table: torch.Tensor, width: int) -> Pair:
    """The two factors of the best approximation of a table by a product of some width."""
    left, values, right = torch.linalg.svd(table)
    root = values[:width].sqrt()
    return left[:, :width] * root, right[:width].T * root


def step_gain(table: torch.Tensor, pair: Pair, k: int, rate: float) -> float:
    """How far a step of gradient descent lowers half the squared error of repeated factors."""
    left, right = (factor.repeat_interleave(k, -1) / k**0.5 for factor in pair)
    off = left @ right.T - table
    after = (left - rate * off @ right) @ (right - rate * off.T @ left).T - table
    return (off.square().sum() - after.square().sum()).item() / 2
