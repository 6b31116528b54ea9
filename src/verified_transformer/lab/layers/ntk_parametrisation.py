r"""NTK parametrisation: weights of variance 1 with a factor $1/\sqrt m$ in the forward pass.

Beside it the plain layer, which starts from weights of variance $1/m$ and has no factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch

from .dense import standard_normal

SIZES = (5, 40, 12, 1)
Factor = Callable[[int, int], float]
Optimiser = Callable[[Sequence[torch.Tensor]], torch.optim.Optimizer]


def ntk(fan_in: int, place: int) -> float:
    r"""Return the factor of NTK parametrisation, $1/\sqrt m$."""
    return fan_in**-0.5


def plain(fan_in: int, place: int) -> float:
    """Return the factor of a plain layer, 1."""
    return 1.0


def network(
    weights: Sequence[torch.Tensor],
    h: torch.Tensor,
    factor: Factor,
    activation: Callable[[torch.Tensor], torch.Tensor] = torch.tanh,
) -> torch.Tensor:
    """Return the outputs of dense layers with an activation between them.

    Args:
        weights: one matrix for each layer, (fan-in, fan-out).
        h: inputs, (rows, fan-in).
        factor: of a layer's fan-in and place, what its sum is multiplied by.
        activation: between the layers.
    """
    for place, w in enumerate(weights):
        h = factor(w.shape[0], place) * ((activation(h) if place else h) @ w)
    return h


def trained_outputs(
    optimiser: Optimiser,
    factor: Factor,
    *,
    spread: Callable[[int], float] = lambda fan_in: 1.0,
    activation: Callable[[torch.Tensor], torch.Tensor] = torch.tanh,
    steps: int = 200,
) -> torch.Tensor:
    """Train a network of three layers on 32 rows and return its outputs on the way.

    Args:
        optimiser: given the weights, returns torch's optimiser for them.
        factor: see `network`.
        spread: standard deviation of a layer's first weights, from its fan-in; the draws do not
            depend on it.
        activation: between the layers.
        steps: how many.

    Returns:
        Outputs before the first step and after each, (steps + 1, 32), float64.
    """
    weights = [
        (spread(s[0]) * standard_normal(f"a small network {s}", *s)).requires_grad_()
        for s in pairwise(SIZES)
    ]
    inputs = standard_normal("inputs of a small network", 32, SIZES[0])
    target = torch.sin(inputs.sum(-1, keepdim=True))
    optimise, seen = optimiser(weights), []
    for _ in range(steps + 1):
        out = network(weights, inputs, factor, activation)
        seen.append(out.detach()[:, 0])
        optimise.zero_grad()
        ((out - target) ** 2).mean().backward()
        optimise.step()
    return torch.stack(seen)


def sgd_like(rate: Callable[[int], float], eta: float = 0.3) -> Optimiser:
    """Return gradient descent whose rate is ``eta`` times a function of each layer's fan-in."""
    return lambda weights: torch.optim.SGD(
        [{"params": [w], "lr": eta * rate(w.shape[0])} for w in weights], lr=eta
    )


def adam_like(
    rate: Callable[[int], float], epsilon: Callable[[int], float], eta: float = 1e-2
) -> Optimiser:
    """Return Adam whose rate and constant are ``eta`` and 1e-3 times functions of the fan-in.

    The constant is large on purpose: it should matter.
    """
    return lambda weights: torch.optim.Adam(
        [{"params": [w], "lr": eta * rate(w.shape[0]), "eps": 1e-3 * epsilon(w.shape[0])}
         for w in weights]
    )  # fmt: skip


def adam_update(gradient: float, steps: int, rate: float) -> float:
    """Return by how much Adam lowers a parameter after equal gradients, without its constant.

    Args:
        gradient: the same in every step.
        steps: how many; the last one counts.
        rate: learning rate.
    """
    w = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([w], lr=rate, eps=0)
    before = 0.0
    for _ in range(steps):
        before, w.grad = w.item(), torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
    return before - w.item()


def covariance_and_kernel(width: int, factor: float) -> tuple[float, float]:
    """Return covariance and tangent kernel of one linear output for two random inputs.

    Args:
        width: the layer's fan-in.
        factor: in the forward pass; the weights' variance is such that outputs keep their size.
    """
    first, second = standard_normal("tangent kernel", 2, width)
    covariance = (first @ second) / width  # the variance of the weights, times the factor squared
    w = torch.zeros(width, dtype=torch.float64, requires_grad=True)
    gradients = [torch.autograd.grad(factor * (v @ w), w)[0] for v in (first, second)]
    return covariance.item(), (gradients[0] @ gradients[1]).item()


def linear_error(width: int, factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the squared error of a linear layer on 16 rows that come out of a relu, target 1.

    Args:
        width: the layer's fan-in.
        factor: in the forward pass.
    """
    x = standard_normal(f"rows of {width}", 16, width).relu()
    x = x / x.pow(2).mean().sqrt()
    return lambda w: ((factor * (x @ w) - 1) ** 2).mean() / 2


def largest_rate(width: int, factor: float) -> float:
    """Return the rate beyond which gradient descent on `linear_error` diverges."""
    w = torch.zeros(width, dtype=torch.float64)
    curvature = torch.autograd.functional.hessian(linear_error(width, factor), w)
    return 2 / torch.linalg.eigvalsh(curvature)[-1].item()


def first_move(width: int, factor: float, rate: float) -> float:
    """Return how far Adam's first step moves an output of size 1, for inputs of random sign.

    Args:
        width: the layer's fan-in.
        factor: in the forward pass.
        rate: learning rate.
    """
    x = standard_normal("signs", width).sign()
    w = standard_normal("weights behind signs", width) / (factor * width**0.5)
    optimiser = torch.optim.Adam([w.requires_grad_()], lr=rate, eps=0)
    before = factor * (x @ w)
    (before - 10).pow(2).backward()
    optimiser.step()
    return (factor * (x @ w) - before).item()


def adam_step_in_noise(coherence: float, parameters: int = 4000) -> tuple[float, float]:
    """Return the root mean square of Adam's update at rate 1 for gradients 1 or -1, and its error.

    Args:
        coherence: mean sign of the gradients, from 0 to 1.
        parameters: independent replicates; their update after 120 steps is taken.

    Raises:
        ValueError: another coherence.
    """
    if not 0 <= coherence <= 1:
        raise ValueError(f"coherence: got {coherence}; accepted: from 0 to 1")
    w = torch.zeros(parameters, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([w], lr=1.0, eps=0)
    threshold = torch.distributions.Normal(0.0, 1.0).icdf(torch.tensor((1 + coherence) / 2))
    for gradient in standard_normal(f"coherence {coherence}", 120, parameters):
        before = w.detach().clone()
        w.grad = 2.0 * (gradient < threshold).double() - 1
        optimiser.step()
    squares = (w.detach() - before) ** 2
    root = squares.mean().sqrt()
    return root.item(), (squares.std() / (2 * root * parameters**0.5)).item()


def relative_changes(factor: Factor, sizes: Sequence[int] = (16, 64, 256, 8)) -> list[float]:
    """Return by what part of its length each layer changes in Adam's first step at rate 0.01.

    Args:
        factor: see `network`; the weights start such that outputs keep their size.
        sizes: of the layers.
    """
    weights = [
        (standard_normal(f"layer {s}", *s) / (factor(s[0], place) * s[0] ** 0.5)).requires_grad_()
        for place, s in enumerate(pairwise(sizes))
    ]
    out = network(weights, standard_normal("relative changes", 64, sizes[0]), factor)
    (out - 1).pow(2).mean().backward()
    before = [w.detach().clone() for w in weights]
    torch.optim.Adam(weights, lr=1e-2).step()
    pairs = zip(weights, before, strict=True)
    return [((w.detach() - old).norm() / old.norm()).item() for w, old in pairs]
