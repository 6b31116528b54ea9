r"""Residual stacks: plain, Post Norm, Pre Norm, and with a factor on each branch.

A stack takes $x_t$ to $x_{t+1}=x_t+F_t(x_t)$. Post Norm normalises the sum, Pre Norm what enters
the branch; Norm divides by the root mean square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from ...models.normalisation import normalised
from ...seeds import seed_of

SCHEMES = ("plain", "post", "pre")
Branch = Callable[[torch.Tensor, Any], torch.Tensor]


def linear_branch(u: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """Return the product of a matrix and a vector, for each replicate.

    Args:
        u: (…, d).
        W: (…, d, d), outputs first.
    """
    return torch.einsum("...ij,...j->...i", W, u)


def relu_branch(u: torch.Tensor, weights: Iterable[torch.Tensor]) -> torch.Tensor:
    r"""Return two dense layers with a relu between them, whose gain of $\sqrt2$ keeps the size.

    Args:
        u: (…, n, d).
        weights: the two matrices, (…, d, h) and (…, h, d).
    """
    first, second = weights
    return torch.relu(u @ first) * 2**0.5 @ second


def residual_states(
    x: torch.Tensor,
    weights: Iterable[Any],
    scheme: str = "plain",
    branch: Branch = linear_branch,
    *,
    factor: float | Iterable[Any] = 1.0,
) -> list[torch.Tensor]:
    """Return the states of a residual stack, the input first.

    Args:
        x: the input, (…, d).
        weights: what each branch is given, one sublayer after the other.
        scheme: ``"plain"``, ``"post"`` or ``"pre"``.
        branch: function of a state and a sublayer's weights.
        factor: what each branch is multiplied by: one number, or one for each sublayer.

    Raises:
        ValueError: another scheme.

    Example:
        >>> [s.item() for s in residual_states(torch.ones(1), torch.ones(3, 1, 1))]
        [1.0, 2.0, 4.0, 8.0]
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme: got {scheme!r}; accepted: {', '.join(SCHEMES)}")
    weights = list(weights)
    factors = [factor] * len(weights) if isinstance(factor, int | float) else list(factor)
    states = [x]
    for w, each in zip(weights, factors, strict=True):
        x = x + each * branch(normalised(x) if scheme == "pre" else x, w)
        if scheme == "post":
            x = normalised(x)
        states.append(x)
    return states


def encoder_layer(norm_first: bool, width: int = 8) -> nn.TransformerEncoderLayer:
    """Return PyTorch's own layer, two heads, as it is initialised, in float64, without ε.

    Args:
        norm_first: PyTorch's switch between Post Norm and Pre Norm.
        width: of the states; even.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of("encoder layer") % 2**63)
        return nn.TransformerEncoderLayer(
            width, 2, 16, dropout=0.0, layer_norm_eps=0.0, batch_first=True, norm_first=norm_first
        ).double()
