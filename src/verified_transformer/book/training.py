"""Training loops of a few lines: many small runs side by side, one curve for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch


def train(
    parameters: Iterable[torch.Tensor] | list[dict[str, Any]],
    loss: Callable[[int], torch.Tensor],
    *,
    steps: int,
    rate: float,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    warmup: int = 1,
    **options: Any,
) -> torch.Tensor:
    """Train in place and return the losses before each step.

    Args:
        parameters: tensors that learn, or torch's groups of them.
        loss: function of the step, from 0; returns a number, or one for each independent run.
            The runs share no parameter, so that their sum is descended.
        steps: how many.
        rate: learning rate, reached after ``warmup`` steps that grow linearly.
        optimiser: of torch.
        warmup: steps until the full rate; 1 starts with it.
        options: further settings of the optimiser.

    Returns:
        Losses, (steps, …), detached.
    """
    descent = optimiser(parameters, lr=rate, **options)
    full = [group["lr"] for group in descent.param_groups]
    history = []
    for step in range(steps):
        for group, top in zip(descent.param_groups, full, strict=True):
            group["lr"] = top * min(1.0, (step + 1) / warmup)
        found = loss(step)
        descent.zero_grad()
        found.sum().backward()
        descent.step()
        history.append(found.detach())
    return torch.stack(history)
