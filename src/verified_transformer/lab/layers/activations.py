r"""Second moments behind any torch activation, by Gauss quadrature, and through stacks of layers.

For activations with a formula the library has `activation`, with closed forms and error bounds;
here the function is whatever torch can compute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from ...seeds import device, generator

Function = Callable[[torch.Tensor], torch.Tensor]
_nodes, _heights = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(256))
_grid = torch.cat([6 * _nodes - 6, 6 * _nodes + 6])  # two half lines: some functions have a kink
_mass = torch.cat([6 * _heights] * 2) * torch.exp(-(_grid**2) / 2) / (2 * torch.pi) ** 0.5


def gaussian_average(f: Function) -> float:
    r"""Return $\mathbb{E}f(z)$ for standard normal $z$.

    Args:
        f: of a float64 tensor, entry by entry; it may have a kink at 0 and nowhere else.

    Example:
        >>> round(gaussian_average(torch.square), 12)
        1.0
    """
    return float((_mass * f(_grid)).sum())


def trapezoid_average(f: Function) -> float:
    r"""Return $\mathbb{E}f(z)$ for standard normal $z$ by equal steps; $f$ must be smooth."""
    ticks = torch.arange(-12, 12, 1 / 16, dtype=torch.float64)
    return float((f(ticks) * torch.exp(-(ticks**2) / 2)).sum()) / (2 * torch.pi) ** 0.5 / 16


def gain(f: Function, scale: float) -> float:
    r"""Return the second moment after an activation over the one before, $\sigma^2$.

    Args:
        f: the activation.
        scale: standard deviation of the normal pre-activation, positive.
    """
    if not scale > 0:
        raise ValueError(f"scale: got {scale}; accepted: a positive number")
    return gaussian_average(lambda z: f(scale * z) ** 2) / scale**2


def moment_slope(f: Function) -> float:
    r"""Return the derivative of $\mathbb{E}f(\sqrt q\,z)^2$ by $q$ at $q=1$, by autograd."""
    q = torch.ones((), dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad((_mass * f(q.sqrt() * _grid) ** 2).sum(), q)
    return slope.item()


def deep_moment(f: Function, weights: float = 1.0, q: float = 1.0, layers: int = 60) -> float:
    """Return the second moment after many wide layers.

    Args:
        f: the activation.
        weights: the weights' variance, in units of one over the fan-in.
        q: second moment of the input.
        layers: how many.
    """
    for _ in range(layers):
        q = weights * q * gain(f, (weights * q) ** 0.5)
    return q


def behind_rms_norm(f: Function) -> Function:
    """Return an activation behind a division by the root mean square of what comes in.

    Args:
        f: the activation. The result is for this module's averages: its mean square is over all
            values of a normal pre-activation.
    """
    return lambda z: f(z / (_mass * z**2).sum() ** 0.5)


def moment_profiles(
    f: Function,
    gain: float = 1.0,
    *,
    scales: Sequence[float] = (0.5, 1.0, 2.0),
    draws: int = 8,
    depth: int = 32,
    width: int = 256,
) -> torch.Tensor:
    """Return the second moment behind each layer of random stacks.

    Args:
        f: the activation.
        gain: the weights' variance, in units of one over the fan-in.
        scales: of the input; all pass the same weights.
        draws: independent stacks, each with as many inputs as its width.
        depth, width: of a stack.

    Returns:
        Second moments, (draws, depth, scales), float64.
    """
    where, profiles = device(), []
    for draw in range(draws):
        source = generator(f"stack {draw}", where)
        x = torch.randn(width, width, generator=source, device=where)
        x = torch.stack([scale * x for scale in scales])
        for _ in range(depth):
            W = torch.randn(width, width, generator=source, device=where)
            x = f(x @ W * (gain / width) ** 0.5)
            profiles.append(x.double().square().mean((1, 2)).cpu())
    return torch.stack(profiles).view(draws, depth, len(scales))
