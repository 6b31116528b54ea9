"""Normal draws by name, and weights of dense layers that keep the size of what they are given."""

from __future__ import annotations

import torch

from ...seeds import generator


def standard_normal(name: str, *shape: int) -> torch.Tensor:
    """Draw standard normal entries in float64, the same for the same name and shape.

    Args:
        name: what is drawn, in words; the seed is derived from it.
        shape: sizes.
    """
    return torch.randn(*shape, generator=generator(name), dtype=torch.float64)


def dense_weights(name: str, *shape: int) -> torch.Tensor:
    """Draw normal weights of mean 0 and variance one over the last axis, in float64.

    Args:
        name: what is drawn, in words; the seed is derived from it.
        shape: sizes; a layer's inputs last, or both sizes alike.

    Raises:
        ValueError: no shape.

    Example:
        >>> dense_weights("a square layer", 5, 5).shape
        torch.Size([5, 5])
    """
    if not shape:
        raise ValueError("shape: got none; accepted: at least one size")
    return standard_normal(name, *shape) / shape[-1] ** 0.5
