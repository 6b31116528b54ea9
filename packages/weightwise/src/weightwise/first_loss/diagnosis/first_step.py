"""The first step of an optimiser, taken on copies: its size by its rule, and beside the weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from .readings import SIGMAS, Reading

RULES = (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD)
# A step of 3.8 times the weights still was the best of four rates, 11 times was not: see
# bench/factorised_quality.py, whose models train without a warm-up
MOST = 5.0
_USUAL = 1e-8  # of torch's Adam: a gradient next to it is small by itself, and read elsewhere


def require_rule(optimiser: torch.optim.Optimizer) -> None:
    """Refuse, with a ``TypeError``, an optimiser of whose first step nothing is known."""
    if type(optimiser) not in RULES:
        accepted = "torch's own Adam, AdamW or SGD, whose first steps are known, or None"
        raise TypeError(f"optimiser: got {type(optimiser).__name__}; accepted: {accepted}")


def first_step_due(
    model: torch.nn.Module, optimiser: torch.optim.Optimizer, head: Any
) -> list[Reading]:
    """Readings of the first step on a model whose parameters hold their gradients.

    The optimiser is left as it is: another one of its class and settings steps on copies.

    Args:
        model: after the pass back.
        optimiser: an Adam, AdamW or SGD of its parameters.
        head: its last linear map, whose rows are read one by one, as those of embeddings are.
    """
    held = Counter(id(each) for group in optimiser.param_groups for each in group["params"])
    own = {id(each) for each in model.parameters()}
    readings = [
        Reading("optimiser", "parameters of another model", 0, len(held.keys() - own), 1e-9,
                "made before the model was resized, tied, copied or moved")
    ]  # fmt: skip
    steps = {id(each): (step, group) for each, step, group in _steps(optimiser)}
    tables = [each for each in model.modules() if isinstance(each, torch.nn.Embedding)]
    by_row = {id(each.weight) for each in (head, *tables)}
    decoupled = type(optimiser) is torch.optim.AdamW
    for name, each in model.named_parameters():
        count = held[id(each)]
        if count or each.requires_grad:
            cause = "left out: it never learns" if not count else "in two groups: stepped twice"
            readings.append(Reading(name, "groups that step it", 1, count, 1e-9, cause))
        if count and not each.requires_grad:
            cause = "frozen: the optimiser holds it in vain; leave it out where that is meant"
            readings.append(Reading(name, "takes a gradient", 1, 0, 1e-9, cause))
        if id(each) in steps and each.ndim > 1:
            step, settings = steps[id(each)]
            readings += _sizes(name, each, step, settings, decoupled, id(each) in by_row)
    return readings


def _steps(
    optimiser: Any,
) -> Iterator[tuple[torch.Tensor, torch.Tensor, dict[str, Any]]]:
    """Each parameter with a gradient, the step that a fresh optimiser takes, and its settings."""
    pairs, groups, seen = [], [], set[int]()
    for group in optimiser.param_groups:
        copies = []
        for each in group["params"]:
            if each.grad is not None and not each.grad.is_sparse and id(each) not in seen:
                seen.add(id(each))
                copies.append(each.detach().clone())
                copies[-1].grad = each.grad.clone()
                pairs.append((each, copies[-1], group))
        groups.append(group | {"params": copies})
    type(optimiser)(groups, lr=groups[0]["lr"]).step()
    for each, copy, group in pairs:
        yield each, copy - each.detach(), group


def _sizes(
    name: str,
    each: torch.Tensor,
    step: torch.Tensor,
    group: dict[str, Any],
    decoupled: bool,
    by_row: bool,
) -> Iterator[Reading]:
    """How large a step is beside its rule, where there is a gradient, and beside the weights."""
    assert each.grad is not None
    moved = each.grad.ne(0)
    if not bool(moved.any()) or not group["lr"]:
        return  # a warm-up starts at a rate of zero
    weights, size = each.detach()[moved], _root(step[moved])
    rate, decay = float(group["lr"]), float(group["weight_decay"])
    if "momentum" in group:
        gradient = each.grad[moved] + decay * weights
        due = rate * _root(gradient) * (1 + group["momentum"] * group["nesterov"])
        cause = "numbers too coarse for so small a step: a half precision"
    else:  # g / (|g| + ε), of torch's own ε at most; a decay that is decoupled comes on top
        gradient = (each.grad[moved] + (0.0 if decoupled else decay) * weights).abs()
        sign = _root(gradient / (gradient + min(group["eps"], _USUAL)))
        due = rate * math.hypot(sign, decay * _root(weights) * decoupled)
        cause = f"an ε of {group['eps']:.0e} beside gradients of {_root(each.grad[moved]):.0e}"
    yield Reading(name, "size of the first step", due, size, due / (2 * SIGMAS), cause)
    if whole := _root(each):
        # how much longer both can make a vector: a step in one direction, weights that are random
        m, n = math.sqrt(each.shape[0]), math.sqrt(each[0].numel())
        share = _root(step) / whole * (1 if by_row else m * n / (m + n))
        cause = "a learning rate that is too large for a first step, or no warm-up"
        yield Reading(name, "first step beside the weights", 0, share, MOST / SIGMAS, cause)


def _root(tensor: torch.Tensor) -> float:
    return float(tensor.detach().double().square().mean().sqrt())
