"""A tiny BERT that learns a table, before and after growing: who gains by further steps."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch.nn import functional as F

from ....models.growth import grow
from ...real_models.tiny import randomised, tiny
from ...training import train
from .networks import normal

_WORDS = 16


def descent(k: int, *, rate: float = 1e-4) -> float:
    """By how much one step of gradient descent lowers the loss of a grown BERT.

    Args:
        k: factor of growth.
        rate: length of the step.
    """
    large = grow(_small("a step"), k, check=False)
    before = _loss(large).item()
    train(large.parameters(), lambda _: _loss(large), steps=1, rate=rate, optimiser=torch.optim.SGD)
    return before - _loss(large).item()


def lead(k: int, name: str, *, steps: int = 300, rate: float = 0.01) -> float:
    """How much lower a grown BERT ends than the small one, by as many steps of Adam.

    Both are trained as BERT is, with the dropout of its configuration; their losses are compared
    without. The small one has learnt for 400 steps before.

    Args:
        k: factor of growth.
        name: what the weights and the dropout are drawn from.
        steps: of both, from the same function.
        rate: of both.
    """
    small = _small(name)
    _trained(small, 400, rate, name)
    large = grow(deepcopy(small).eval(), k, check=False)
    ends = [_trained(model, steps, rate, f"{name} further") for model in (small, large)]
    return ends[0] - ends[1]


def _small(name: str) -> Any:
    changes = {"hidden_size": 4, "intermediate_size": 8, "num_attention_heads": 2}
    model = tiny("bert", vocab_size=_WORDS, num_hidden_layers=1, **changes)
    return randomised(model, f"a BERT that learns, {name}")


def _loss(model: Any) -> torch.Tensor:
    words = torch.arange(_WORDS).expand(4, -1)
    target = torch.softmax(2 * normal("what a BERT learns", 1, _WORDS, _WORDS), -1)
    return -(target * F.log_softmax(model(words).logits, -1)).sum(-1).mean()


def _trained(model: Any, steps: int, rate: float, name: str) -> float:
    model.requires_grad_().train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(sum(map(ord, name)))
        train(list(model.parameters()), lambda _: _loss(model), steps=steps, rate=rate)
    with torch.no_grad():
        return _loss(model.eval()).item()
