r"""Second moments behind any torch activation, by Gauss quadrature, and through stacks of layers.

For activations with a formula the library has `activation`, with closed forms and error bounds;
here the function is whatever torch can compute.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

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


def gain(f: Function, scale: float) -> float:
    r"""Return the second moment after an activation over the one before, $\sigma^2$.

    Args:
        f: the activation.
        scale: standard deviation of the normal pre-activation, positive.
    """
    if not scale > 0:
        raise ValueError(f"scale: got {scale}; accepted: a positive number")
    return gaussian_average(lambda z: f(scale * z) ** 2) / scale**2


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
