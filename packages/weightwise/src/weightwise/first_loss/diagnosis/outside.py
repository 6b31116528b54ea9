"""What stands outside of the layers, what a mixture's routers learn, and what nothing reads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import torch

from ..initial.body import Attention, Body, Norm, Stack
from ..initial.from_model import is_matrix
from .due import calls_of, deviation_due, named, norm_due
from .readings import Reading
from .watching import Watched, stacks_of

_FLAT = 0.3  # logits that deviate by less leave every weight of a softmax within a third
_DRAFTED = 32  # places of a text of which a body is drafted
_LEARNS = 1e-4  # of its experts' gradient: rounding leaves 1e-7, a router that learns has 0.3


def outside_due(model: torch.nn.Module, body: Body, seen: Watched) -> Iterator[Reading]:
    """Readings of the norms, the tables and the biases that belong to no layer."""
    for passed, norm in _norms(body, seen):
        yield norm_due("", passed, norm)
    for name, due, each in _tables(model, body):
        rows = each.weight.detach().double()
        if each.padding_idx is not None:
            rows = torch.cat([rows[: each.padding_idx], rows[each.padding_idx + 1 :]])
        few = min(len(rows), _DRAFTED) * rows.shape[1]  # what is due may come of so few rows itself
        room = due * math.hypot(math.sqrt(1 / few), 2e-3)
        yield Reading(name, "deviation of an entry", due, float(rows.square().mean().sqrt()), room,
                      "zeroed, or initialised otherwise")  # fmt: skip
    for name, bias in _biases(model, seen):
        size = float(bias.detach().double().square().mean().sqrt())
        yield Reading(name, "size of the bias", 0.0, size, 1e-6,
                      "a bias that was left at PyTorch's default, or set")  # fmt: skip


def routers_due(model: torch.nn.Module) -> Iterator[Reading]:
    """That what chooses experts has a gradient, after the pass back.

    Of one expert a token, whose share is divided by itself, the share is one whatever is said.
    """
    every = dict(model.named_parameters())
    for name, router in model.named_modules():
        weight = getattr(router, "weight", None)
        if not hasattr(router, "top_k") or not isinstance(weight, torch.nn.Parameter):
            continue
        around = name.rpartition(".")[0]
        experts = [
            _root(each.grad) for place, each in every.items()
            if place.startswith(f"{around}.") and "expert" in place and each.grad is not None
        ]  # fmt: skip
        largest = max(experts, default=0.0)
        if largest:
            own = 0.0 if weight.grad is None else _root(weight.grad)
            learns = float(own > _LEARNS * largest)
            yield Reading(f"{name}.weight", "learns from this loss", 1, learns, 1e-9,
                          "one expert a token, whose share is made one whatever the router says: "
                          "two of them, shares as they are, or a loss that balances")  # fmt: skip


def unread(model: torch.nn.Module, body: Body, seen: Watched, ends: tuple[Any, Any]) -> list[str]:
    """The parameters of which no reading speaks, by name, but that they are numbers.

    Args:
        model, body, seen: as they were watched.
        ends: the modules of table and head, of which the stream and the logits speak.
    """
    read = {id(each) for end in ends for each in end.parameters(recurse=False)}
    read |= {id(each) for passed, _ in _norms(body, seen) for each in passed.module.parameters()}
    read |= {id(each.weight) for _, _, each in _tables(model, body)}
    read |= {id(bias) for _, bias in _biases(model, seen)}
    for stack, calls in calls_of(body, seen):
        if len(calls) != len(stack.layers):
            continue
        for layer, call in zip(stack.layers, calls, strict=True):
            read |= {id(each) for it in call.norms for each in it.module.parameters()}
            for branch in layer:
                maps = call.branch(named(branch))
                for it in maps:
                    if deviation_due(it.name, it is maps[-1], branch) is not None:
                        read.add(id(it.module.weight))
                    read.add(id(getattr(it.module, "bias", None)))
    return [name for name, each in model.named_parameters() if id(each) not in read]


def said_of_attention(body: Body) -> str:
    """A note where attention's logits are so small that what is done to them does not show."""
    logits = [
        _logit(branch, stack, body.d) for stack in (body.encoder, body.stack) if stack is not None
        for layer in stack.layers for branch in layer if isinstance(branch, Attention)
    ]  # fmt: skip
    if not logits or body.stack.form == "after" or max(logits) > _FLAT:
        return ""
    return (
        f"attention is flat, its logits deviate by {max(logits):.2g} at most: a factor on them, "
        "and positions that are turned or biased otherwise, are not seen"
    )


def _logit(branch: Attention, stack: Stack, d: int) -> float:
    size = 1.0 if branch.normed else branch.query * branch.key * d * stack.norm.gain**2
    return math.hypot(branch.scale * math.sqrt(branch.width) * size, math.sqrt(branch.bias))


def _norms(body: Body, seen: Watched) -> list[tuple[Any, Norm]]:
    """The norms that were called outside of the layers, where the body knows them all.

    One without layers, of which the head alone is known, knows no ε.
    """
    due = [each for stack in (body.encoder, body.stack) if stack is not None
           for each in (stack.first, stack.last)]  # fmt: skip
    due.append(body.transform[1] if body.transform else None)
    known = [each for each in due if each is not None]
    return [*zip(seen.norms, known, strict=True)] if (
        body.stack.layers and len(known) == len(seen.norms)
    ) else []  # fmt: skip


def _tables(model: torch.nn.Module, body: Body) -> Iterator[tuple[str, float, Any]]:
    """Learned tables beside that of the words, with the deviation that is due."""
    biases = [math.sqrt(branch.bias) for layer in body.stack.layers for branch in layer
              if isinstance(branch, Attention) and branch.bias]  # fmt: skip
    kinds = {r"relative": max(biases, default=0.0), r"pos|wpe": body.positions,
             r"type|segment": body.types}  # fmt: skip
    for name, each in model.named_modules():
        leaf = name.rpartition(".")[2]
        due = next((due for kind, due in kinds.items() if re.search(kind, leaf)), 0.0)
        wide = body.head_width is None  # else they are projected, and due as the stream has them
        if due and isinstance(each, torch.nn.Embedding) and (wide or "relative" in leaf):
            yield name, due, each


def _biases(model: torch.nn.Module, seen: Watched) -> Iterator[tuple[str, torch.nn.Parameter]]:
    inside = tuple(f"{name}." for name in stacks_of(model))
    for name, each in model.named_modules():
        bias = getattr(each, "bias", None)
        if is_matrix(each) and bias is not None and each is not seen.head:
            if not name.startswith(inside):
                yield name, bias


def _root(tensor: torch.Tensor) -> float:
    return float(tensor.detach().double().square().mean().sqrt())
