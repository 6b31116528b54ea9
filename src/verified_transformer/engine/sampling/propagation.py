"""Second moments in any torch model, by hooks, over independent draws of its weights.

The replicate is a draw of the weights (with a fresh input), never a token or a unit of one model:
units of one layer share their inputs and tokens share the weights, so their scatter says too little
about how far the mean is from its expectation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ...seeds import device, generator, seed_of

Inputs = Callable[[torch.Generator], torch.Tensor | tuple[torch.Tensor, ...]]


@dataclass(frozen=True)
class Measured:
    """A mean over independent draws of the weights, with its standard error."""

    mean: float
    standard_error: float


@dataclass(frozen=True)
class Row:
    """What one call of one module showed: the mean square of the entries of its output."""

    module: str
    kind: str
    call: int
    forward: Measured


def second_moments(
    build: Callable[[], nn.Module], inputs: Inputs, *, name: str, draws: int = 32
) -> list[Row]:
    """Measure the second moment at the output of every module of freshly initialised models.

    Args:
        build: returns a new model; called once a draw, with torch's generator seeded from ``name``,
            so that it is initialised in its own way.
        inputs: returns the model's input (a tensor, or a tuple of arguments), made with the
            generator that it is given, on the CPU.
        name: what the seeds are derived from.
        draws: number of independent models, at least 2.

    Returns:
        A row for every call of every module, in the order in which the calls end. A module that is
        used twice has two rows; the model itself is called "model".

    Raises:
        TypeError: ``build`` returns no module, or the model no tensor.
        ValueError: too few draws, or models that do not make the same calls.
    """
    if draws < 2:
        raise ValueError(f"draws: got {draws}; accepted: at least 2 independent models")
    runs = [_run(build, inputs, f"{name} {index}") for index in range(draws)]
    calls = list(runs[0])
    if any(list(run) != calls for run in runs):
        raise ValueError("build: the models of two draws call other modules; accepted: the same")
    return [Row(*key, _summary([run[key] for run in runs])) for key in calls]


def _summary(values: list[float]) -> Measured:
    found = torch.tensor(values, dtype=torch.float64)
    return Measured(found.mean().item(), found.std().item() / math.sqrt(len(found)))


Moments = dict[tuple[str, str, int], float]  # by call


def _run(build: Callable[[], nn.Module], inputs: Inputs, name: str) -> Moments:
    with torch.random.fork_rng():
        torch.manual_seed(seed_of(name))
        model = build()
    if not isinstance(model, nn.Module):
        raise TypeError(f"build: returned {type(model).__name__}; accepted: a torch module")
    drawn = inputs(generator(f"{name} inputs"))
    given = [t.to(device()) for t in (drawn if isinstance(drawn, tuple) else (drawn,))]
    found: Moments = {}
    handles = [
        module.register_forward_hook(_hook(label or "model", found))
        for label, module in model.to(device()).named_modules()
    ]
    try:
        with torch.no_grad():
            output = _tensor(model(*given))
    finally:
        for handle in handles:
            handle.remove()
    if output is None:
        raise TypeError("build: the model returns no tensor of floating-point numbers")
    return found


def _hook(label: str, found: Moments) -> Callable[..., None]:
    calls = 0

    def hook(module: nn.Module, _: Any, result: Any) -> None:
        nonlocal calls
        tensor = _tensor(result)
        if tensor is not None:
            calls += 1
            mean_square = tensor.detach().double().pow(2).mean().item()
            found[label, type(module).__name__, calls] = mean_square

    return hook


def _tensor(result: Any) -> torch.Tensor | None:
    """The first floating-point tensor of what a module returned."""
    if isinstance(result, torch.Tensor):
        return result if result.is_floating_point() else None
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, list | tuple):
        return next((t for t in map(_tensor, result) if t is not None), None)
    return None
