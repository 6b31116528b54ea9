"""One layer of each kind: what is like another need not be run to be checked.

Layers are alike if their modules have the same classes, settings, sizes and roles; weights aside. A
model runs without those that are like an earlier one: each returns what it is given, in the form in
which one that runs returns it. So what a check costs is that of a layer of each kind, however many
there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from .descriptions import Description
from .stock import settings

_NUMBER = re.compile(r"(layer_?)?(idx|id|index|number)")


def alike(model: Any, description: Description, *, lengthened: bool) -> set[str]:
    """The paths of layers that are like an earlier one.

    With ``lengthened`` without the last of each stack: its number will be another.
    """
    found = set()
    for place, stack in model.named_modules():
        if isinstance(stack, nn.ModuleList) and not re.search(r"(^|\.)\d+(\.|$)", place):
            kinds = [_kind(model, f"{place}.{number}", description) for number in range(len(stack))]
            found |= {
                f"{place}.{number}"
                for number, kind in enumerate(kinds[: -1 if lengthened else None])
                if kind in kinds[:number]
            }
    return found


def _kind(model: Any, path: str, description: Description) -> str:
    """All that tells a layer from others but its weights and its number."""
    layer, number = model.get_submodule(path), int(path.rpartition(".")[2])
    stack = model.get_submodule(path.rpartition(".")[0])
    told: list[Any] = [
        value[number]
        for value in vars(model.config).values()
        if isinstance(value, list | tuple) and len(value) == len(stack)
    ]
    for name, module in layer.named_modules():
        known = settings(module)
        told.append((name, type(module), {
            option: value for option, value in known.items() if not _NUMBER.fullmatch(option)
        }))  # fmt: skip
    for name, value in [*layer.named_parameters(), *layer.named_buffers()]:
        row = description.row(f"{path}.{name}") or description.row(
            f"{path}.{name}".rpartition(".")[0]
        )
        told.append((name, tuple(value.shape), value.dtype, row))
    return repr(told)


@contextmanager
def passed_by(model: Any, paths: set[str]) -> Iterator[None]:
    """Run a model without some layers."""
    forms: dict[str, Callable[[Any], Any]] = {}  # by stack, how a layer of it returns a state
    handles = []
    stacks = {path.rpartition(".")[0] for path in paths}

    def kept(place: str) -> Callable[..., None]:
        def hook(_: Any, given: tuple[Any, ...], options: dict[str, Any], output: Any) -> None:
            state, first = _state(given, options), output
            forms[place] = lambda state: state
            if isinstance(output, tuple):
                first = output[0]
                forms[place] = lambda state: (state, *output[1:])
            if not isinstance(first, torch.Tensor) or first.shape != state.shape:
                raise TypeError(f"{place}: its parts are no layers of a stream")

        return hook

    def through(place: str) -> Callable[..., Any]:
        return lambda *given, **options: forms[place](_state(given, options))

    try:
        for place in stacks:
            for number, layer in model.get_submodule(place).named_children():
                if f"{place}.{number}" in paths:
                    layer.forward = through(place)
                else:
                    handles.append(layer.register_forward_hook(kept(place), with_kwargs=True))
        yield
    finally:
        for handle in handles:
            handle.remove()
        for path in paths:
            vars(model.get_submodule(path)).pop("forward", None)


def _state(given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return given[0] if given else next(iter(options.values()))
