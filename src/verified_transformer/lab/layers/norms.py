"""Batch, instance and layer norm of images: PyTorch's own, and one function of data and axes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from .dense import standard_normal

_z = standard_normal("images", 4, 3, 5, 6)
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
