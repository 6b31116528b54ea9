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


def relu_signals(
    gain: float, *, networks: int, depth: int, width: int = 256, name: str = "relu networks"
) -> torch.Tensor:
    """Return the last states of random relu networks, for standard normal inputs.

    Args:
        gain: the weights' variance, in units of one over the fan-in; 2 keeps the second moment.
        networks: independent draws of all weights, with 32 inputs each.
        depth: number of layers.
        width: of every layer.
        name: what the seed is derived from.

    Returns:
        States, (networks, 32, width), float64.
    """
    signal = standard_normal(f"inputs of {name}", networks, 32, width)
    for layer in range(depth):
        weights = dense_weights(f"{name}, layer {layer}", networks, width, width)
        signal = torch.relu(signal @ weights * gain**0.5)
    return signal


def linear_size(
    scale: float, width: int, depth: int, *, networks: int = 200, name: str = "linear stacks"
) -> tuple[float, float]:
    """Measure the size behind random linear layers that are given a vector of ones.

    Args:
        scale: standard deviation of the weights, which are normal with mean 0.
        width: of every layer.
        depth: number of layers.
        networks: independent draws of all weights.
        name: what the seed is derived from.

    Returns:
        The root of the mean square entry, and its standard error.

    Raises:
        ValueError: fewer than two networks, from which no error can be told.

    Example:
        >>> size, error = linear_size(1 / 8, 64, 10)
        >>> abs(size - 1) < 6 * error
        True
    """
    if networks < 2:
        raise ValueError(f"networks: got {networks}; accepted: at least 2")
    state = torch.ones(networks, 1, width, dtype=torch.float64)
    for layer in range(depth):
        label = f"{name}, scale {scale}, width {width}, layer {layer} of {depth}"
        state = state @ standard_normal(label, networks, width, width) * scale
    squares = state.square().mean((1, 2))
    size = float(squares.mean().sqrt())
    return size, float(squares.std()) / networks**0.5 / (2 * size)
