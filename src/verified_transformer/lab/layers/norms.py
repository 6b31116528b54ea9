"""Normalisations: PyTorch's own and as formulas, what they pass back, what they can store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
import torch
from torch import nn

from ..arrays.enumerating import outcomes
from ..training import train
from .dense import standard_normal

Point = Mapping[sp.Symbol, object]

_z = standard_normal("images", 4, 3, 5, 6)
COMMON = torch.tensor([1.0, -2.0, 0.5, 1.5], dtype=torch.float64)
IMAGES = {"normal": 3 * _z + 7, "lopsided": _z.exp() ** 2, "small": 0.02 * _z.sin()}


def norm_over(x: torch.Tensor, dims: Sequence[int], eps: float = 1e-5) -> torch.Tensor:
    """Subtract the mean and divide by the standard deviation over some axes.

    Args:
        x: data.
        dims: the axes.
        eps: the small constant under the root.
    """
    μ = x.mean(tuple(dims), keepdim=True)
    v = x.var(tuple(dims), correction=0, keepdim=True)
    return (x - μ) / (v + eps).sqrt()


def three_norms(training: bool) -> dict[str, tuple[nn.Module, tuple[int, ...]]]:
    """Return PyTorch's norms for `IMAGES`, each with the axes over which it averages.

    Args:
        training: whether batch norm uses the statistics of what it is given, or stored ones.
    """
    found: dict[str, tuple[nn.Module, tuple[int, ...]]] = {
        "batch": (nn.BatchNorm2d(3, affine=False), (0, 2, 3)),
        "instance": (nn.InstanceNorm2d(3), (2, 3)),
        "layer": (nn.LayerNorm((3, 5, 6), elementwise_affine=False), (1, 2, 3)),
    }
    return {name: (norm.double().train(training), dims) for name, (norm, dims) in found.items()}


def over_patterns(
    statistic: Callable[[torch.Tensor, Point], torch.Tensor],
    values: Sequence[float],
    size: int,
    scale: sp.Symbol,
) -> Callable[[Point], float]:
    """Return the mean of a statistic over all rows of independent entries, as a function.

    Args:
        statistic: of rows, (patterns, size), and a point with numbers.
        values: what an entry may be, each with the same chance.
        size: entries of a row.
        scale: the symbol by which the values are multiplied.
    """

    def oracle(point: Point) -> float:
        here = {symbol: float(str(value)) for symbol, value in point.items()}
        (rows,), chances = outcomes(size, law=[(value, 1 / len(values)) for value in values])
        return float((chances @ statistic(here[scale] * rows, here)).item())

    return oracle


def passed_back(layer: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Return the gradient that a layer passes to its input, for a random one that arrives.

    Args:
        layer: the function.
        x: its input; the gradient that arrives has independent standard normal entries.
    """
    x = x.detach().clone().requires_grad_()
    y = layer(x)
    y.backward(standard_normal(f"a gradient {tuple(y.shape)}", *y.shape).to(y))
    assert x.grad is not None
    return x.grad


def predicts_with_a_moving_average(layer: nn.Module) -> bool:
    """Whether a norm of images predicts with running statistics of factor 0.9.

    Args:
        layer: for three channels; it is trained on `IMAGES`.
    """
    layer = layer.double().train()
    mean, variance = torch.zeros(3).double(), torch.ones(3).double()
    for images in IMAGES.values():
        layer(images)
        mean = 0.9 * mean + 0.1 * images.mean((0, 2, 3))
        variance = 0.9 * variance + 0.1 * images.var((0, 2, 3), correction=1)
    μ, v = (t.view(1, 3, 1, 1) for t in (mean, variance))
    z = IMAGES["normal"]
    eps: Any = layer.eps
    expected = (z - μ) / (v + eps).sqrt()
    return torch.allclose(layer.eval()(z), expected, rtol=1e-9, atol=1e-9)


def trained_to_answer(layer: nn.Module) -> nn.Module:
    """Train a layer of width 4 to answer every input with `COMMON`, and return it."""
    layer, x = layer.double(), standard_normal("training inputs", 64, 4)
    for name, part in layer.named_parameters():
        part.data.copy_(0.1 * standard_normal(f"start of {name}", *part.shape))
    if parts := list(layer.parameters()):
        train(
            parts, lambda step: (layer(x) - COMMON).pow(2).sum(-1).mean(),
            steps=400, rate=0.1, optimiser=torch.optim.SGD,
        )  # fmt: skip
    return layer


def has_stored(layer: nn.Module) -> bool:
    """Whether a layer answers a blank input with `COMMON`."""
    blank = torch.zeros(1, 4, dtype=torch.float64)
    return torch.allclose(layer(blank), COMMON, atol=1e-3)
