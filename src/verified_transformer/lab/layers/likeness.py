r"""How alike tokens become in Post Norm stacks, and what that makes of gradients: a recursion.

In wide layers at the start everything that is needed follows from two numbers, the likeness of two
tokens, $\rho$, and that of their gradients, $\gamma$. A branch adds to each token a second moment
of its own, and to each pair of tokens a part of it that they have in common; the norm divides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

Added = tuple[float, float]
_lengths, _weights = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(64))
_radius = 5 * (_lengths + 1)[:, None]
_mass = 5 * _weights[:, None] * _radius * torch.exp(-(_radius**2) / 2)
_angles = (torch.arange(4000, dtype=torch.float64) + 0.5) * (2 * torch.pi / 4000)


@dataclass(frozen=True)
class Adds:
    r"""What the branch of a sublayer adds, to a token and to what two tokens have in common.

    Attributes:
        forward: of the likeness $\rho$ of the tokens, to states of second moment 1.
        back: of $\rho$ and the likeness $\gamma$ of the gradients, to gradients of second moment 1.
    """

    forward: Callable[[float], Added]
    back: Callable[[float, float], Added]


def mean_over_pairs(f: Callable[[torch.Tensor], torch.Tensor], alike: float) -> float:
    r"""Return $\mathbb{E}f(a)f(b)$ for standard normal $a$, $b$ of a given correlation.

    Args:
        f: entry by entry; it may have a kink or a jump at 0.
        alike: the correlation, from -1 to 1.

    Example:
        >>> round(mean_over_pairs(lambda z: z, 0.25), 6)
        0.25
    """
    turned = _angles - float(np.arccos(np.clip(alike, -1, 1)))
    both = f(_radius * torch.cos(_angles)) * f(_radius * torch.cos(turned))
    return float((_mass * both).sum() / len(_angles))


def even_attention(gain: float, tokens: int) -> Adds:
    """Return what attention adds that looks at all tokens evenly.

    Args:
        gain: of value and output layer together, for the second moment.
        tokens: their number.
    """

    def added(alike: float) -> Added:
        common = gain * (1 + (tokens - 1) * alike) / tokens
        return common, common

    return Adds(added, lambda rho, gamma: added(gamma))


def feed_forward(
    d: int, hidden: int, variance: float, f: Callable[[torch.Tensor], torch.Tensor]
) -> Adds:
    """Return what two wide layers add with an activation between them.

    Args:
        d, hidden: widths of the state and between the layers.
        variance: of all the weights.
        f: the activation, entry by entry.
    """
    scale, back = (d * variance) ** 0.5, d * hidden * variance**2

    def slope(z: torch.Tensor) -> torch.Tensor:
        z = (scale * z).requires_grad_()
        return torch.autograd.grad(f(z).sum(), z)[0]

    def product(rho: float) -> float:
        return hidden * variance * mean_over_pairs(lambda z: f(scale * z), rho)

    return Adds(
        lambda rho: (product(1.0), product(rho)),
        lambda rho, gamma: (
            back * mean_over_pairs(slope, 1.0),
            back * mean_over_pairs(slope, rho) * gamma,
        ),
    )


def through_post_norm(
    sublayers: Sequence[Adds], start: float = 0.0
) -> tuple[list[float], float, float]:
    r"""Follow tokens forward through Post Norm sublayers, and independent gradients back.

    Args:
        sublayers: what each branch adds, the first one first.
        start: likeness of two tokens of the first state.

    Returns:
        The likeness of two tokens at each state; the share of the first state in the second moment
        of the last one; the length of the gradient at the first state over that at the last.

    Example: attention alone makes tokens alike, and sends the gradient back undiminished.
        >>> states, _, gradient = through_post_norm([even_attention(0.5, 64)] * 24)
        >>> round(states[-1], 1), round(gradient, 9)
        (1.0, 1.0)
    """
    states, share, gamma, moment = [start], 1.0, 0.0, 1.0
    for each in sublayers:
        own, common = each.forward(states[-1])
        share /= 1 + own
        states.append((states[-1] + common) / (1 + own))
    for each, rho in zip(reversed(sublayers), reversed(states[:-1]), strict=True):
        own, common = each.back(rho, gamma)
        moment *= (1 + own) / (1 + each.forward(rho)[0])
        gamma = (gamma + common) / (1 + own)
    return states, share, moment**0.5
