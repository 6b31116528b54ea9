"""The backward pass of a tensor product, written out: contractions, and Adam fed with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from ....models.factorised.products import tensor_product
from ...training import train

Rule = Callable[[Sequence[torch.Tensor], torch.Tensor], list[torch.Tensor]]


def contracted(
    factors: Sequence[torch.Tensor], gradient: torch.Tensor, *, forget: int = 0
) -> list[torch.Tensor]:
    """Return the gradients of factors: that of the product, contracted with all factors but one.

    Args:
        factors: k arrays (n, q_j), at most six.
        gradient: of the products, (n, q_1 ⋯ q_k).
        forget: how many of the other factors are left out, for a wrong version.

    Returns:
        k arrays (n, q_j).
    """
    letters, shape = "abcdef"[: len(factors)], [factor.shape[-1] for factor in factors]
    full, found = gradient.unflatten(-1, shape), []
    for own in letters:
        others = [c for c in letters if c != own][forget:]
        operands = [factors[letters.index(c)] for c in others]
        inputs = ",".join(["z" + letters, *("z" + c for c in others)])
        found.append(torch.einsum(f"{inputs}->z{own}", full, *operands))
    return found


def by_autograd(
    factors: Sequence[torch.Tensor], loss: Callable[[torch.Tensor], torch.Tensor]
) -> list[torch.Tensor]:
    """Return the gradients of factors that autograd finds for a loss of their products."""
    leaves = [factor.clone().requires_grad_() for factor in factors]
    return list(torch.autograd.grad(loss(tensor_product(leaves)), leaves))


def adam_by_autograd(
    factors: Sequence[torch.Tensor],
    loss: Callable[[torch.Tensor], torch.Tensor],
    *,
    steps: int,
    rate: float,
) -> list[torch.Tensor]:
    """Return factors after some steps of torch's Adam on a loss of their products."""
    leaves = [factor.clone().requires_grad_() for factor in factors]
    train(leaves, lambda _: loss(tensor_product(leaves)), steps=steps, rate=rate)
    return [leaf.detach() for leaf in leaves]


def adam_by_hand(
    factors: Sequence[torch.Tensor],
    gradient: Callable[[torch.Tensor], torch.Tensor],
    rule: Rule,
    *,
    steps: int,
    rate: float,
) -> list[torch.Tensor]:
    """Return factors after some steps of Adam (Kingma and Ba 2015), written out.

    Args:
        factors: k arrays (n, q_j), which are left as they are.
        gradient: function from the products to the loss's gradient by them.
        rule: passes that gradient back to the factors, such as `contracted`.
        steps, rate: how many, and the learning rate; the other constants are torch's.
    """
    now = [factor.clone() for factor in factors]
    means, squares = ([torch.zeros_like(f) for f in factors] for _ in range(2))
    for step in range(1, steps + 1):
        gradients = rule(now, gradient(tensor_product(now)))
        for f, m, v, g in zip(now, means, squares, gradients, strict=True):
            m.mul_(0.9).add_(0.1 * g)
            v.mul_(0.999).add_(0.001 * g**2)
            corrected = m / (1 - 0.9**step), v / (1 - 0.999**step)
            f -= rate * corrected[0] / (corrected[1].sqrt() + 1e-8)
    return now
