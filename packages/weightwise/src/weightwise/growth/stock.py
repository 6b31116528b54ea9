"""Is a model what its class makes from its configuration? What is not is refused, by name.

A grown model is made by the class. What somebody changed on the modules of the small one (a forward
method, an activation, an ε, a hook, a pruned weight) would not be in it, and no run of a few tokens
is sure to show that. So the small model is held against one that its class makes, on the meta
device, from the same configuration. What acts in training alone is carried over: modes, dropout,
gradient checkpointing. What is neither is lost, and listed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from .descriptions import GrowthRefused

_HOOKS = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip
_CHECKPOINTING = ("gradient_checkpointing", "_gradient_checkpointing_func")
# said of a model by those who load or run it, and no part of its function
_SAID = {"training", "name_or_path", "warnings_issued", "generation_config", "vocab_size"}
_PLAIN = (bool, int, float, str, type(None), tuple, list, dict, torch.dtype)


def made(kind: type, config: Any, device: torch.device | str) -> Any:
    """What a class makes from a configuration, its parameters on the meta device.

    So only buffers, such as rotary frequencies, take memory; they are on ``device``.
    """
    from transformers.initialization import no_init_weights

    register = nn.Module.register_parameter

    def registered(self: nn.Module, name: str, param: nn.Parameter | None) -> None:
        if param is not None and not param.is_meta:
            param = nn.Parameter(param.detach().to("meta"), param.requires_grad)
        register(self, name, param)

    with torch.random.fork_rng(devices=[]), torch.device(device), no_init_weights():
        try:
            nn.Module.register_parameter = registered  # type: ignore[method-assign]
            model = kind(config)
        finally:
            nn.Module.register_parameter = register  # type: ignore[method-assign]
    getattr(model, "tie_weights", lambda: None)()  # which is left out where nothing is initialised
    return model


def require_stock(model: Any) -> None:
    """Refuse a model with a module that has another class, forward method, hook, setting or
    parameter than the one that the model's class makes from its configuration.
    """
    stock = _modules(made(type(model), copy.deepcopy(model.config), "meta"))
    own = _modules(model)
    for path, module in own.items():
        what = path or type(model).__name__
        if path not in stock:
            raise GrowthRefused(f"{what}: a module that {type(model).__name__} does not have")
        fault = _fault(module, stock[path])
        if fault:
            raise GrowthRefused(f"{what}: {fault}")
    if missing := sorted(set(stock) - set(own)):
        raise GrowthRefused(f"{missing[0]}: {type(model).__name__} has this module, the model not")


def _modules(model: nn.Module) -> dict[str, nn.Module]:
    return dict(model.named_modules(remove_duplicate=False))


def _fault(module: nn.Module, stock: nn.Module) -> str:
    """What is not as the class makes it; empty where all is."""
    kind = type(module)
    if kind is not type(stock):
        return f"got the class {kind.__name__}; accepted: {type(stock).__name__}"
    for hooks in _HOOKS:
        strange = [hook for hook in getattr(module, hooks).values() if not _of_the_library(hook)]
        if len(strange) > len(getattr(stock, hooks)):
            name = getattr(strange[0], "__qualname__", type(strange[0]).__name__)
            return f"got {name} in {hooks}; accepted: no hooks but those that the class makes"
    owner = next(base for base in kind.__mro__ if "forward" in vars(base))
    forward = _named(vars(owner)["forward"])
    usual = owner.__module__, f"{owner.__qualname__}.forward"
    if owner is not nn.Module and forward != usual:
        return f"got the method {'.'.join(forward)}; accepted: {'.'.join(usual)}"
    for name, value in vars(module).items():
        if name in vars(stock):
            if _differ(name, value, vars(stock)[name]):
                return f"{name}: got {value!r}; accepted: {vars(stock)[name]!r}, as configured"
        elif callable(value) and hasattr(kind, name):
            return f"{name}: got another method than {kind.__name__}'s"
    for name, parameter in module.named_parameters(recurse=False):
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            return f"{name}: got a hook on the gradient; accepted: none"
    return ""


def settings(module: nn.Module) -> dict[str, Any]:
    """What a module was told when it was made: numbers, names and functions, by name."""
    return {
        name: _named(value) if callable(value) else value
        for name, value in vars(module).items()
        if not name.startswith("_") and name not in _SAID
        and (isinstance(value, _PLAIN) or callable(value))
    }  # fmt: skip


def _differ(name: str, value: Any, stock: Any) -> bool:
    """Whether a setting is another than the class makes; one that is carried over may be."""
    if name in _SAID or name in _CHECKPOINTING or _is_dropout(name) or name.startswith("_"):
        return False
    if callable(stock) and not isinstance(stock, nn.Module):
        return _named(value) != _named(stock)
    return isinstance(stock, _PLAIN) and (type(value), value) != (type(stock), stock)


def _of_the_library(hook: Any) -> bool:
    """Whether transformers has set a hook: to checkpoint, or to keep what a layer returns."""
    return str(getattr(hook, "__module__", "")).startswith("transformers.")


def _named(function: Any) -> Any:
    """What tells a function: its name, and what a partial one was given."""
    if isinstance(function, partial):
        return _named(function.func), function.args, function.keywords
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", function)


def _is_dropout(name: str) -> bool:
    return "drop" in name or name == "p"


def carry(model: Any, large: Any, origin: Callable[[str], tuple[str, bool]]) -> None:
    """Give a grown model what acts in training alone: modes, dropout, gradient checkpointing.

    ``origin`` says of a module of the large model what it grows from.
    """
    own = _modules(model)
    hooks = [hook for module in own.values() for hook in module._forward_hooks.values()]
    if any("enable_input_require_grads" in getattr(hook, "__qualname__", "") for hook in hooks):
        large.enable_input_require_grads()
    for path, module in _modules(large).items():
        small = own.get(origin(path)[0])
        if small is not None:
            module.training = small.training
            for name, value in vars(small).items():
                if name in _CHECKPOINTING or (_is_dropout(name) and isinstance(value, float | int)):
                    setattr(module, name, value)
    if hasattr(model, "generation_config"):
        large.generation_config = copy.deepcopy(model.generation_config)


def lost(model: Any) -> tuple[str, ...]:
    """What a grown model does not take over, by name: gradients, and what others hung on it."""
    found = []
    stock = dict(made(type(model), copy.deepcopy(model.config), "meta").named_modules())
    for path, module in model.named_modules():
        known = {*(vars(stock[path]) if path in stock else ()), *_CHECKPOINTING, *_SAID}
        hung = [name for name in vars(module) if name not in known and not name.startswith("_")]
        found += [f"{path}.{name}".lstrip(".") for name in hung]
        if module._compiled_call_impl is not None:
            found.append(f"{path}, compiled".lstrip(", "))
    if any(parameter.grad is not None for parameter in model.parameters()):
        found.append("gradients")
    for name, parameter in model.named_parameters():
        found += [f"{name}.{said}" for said in vars(parameter) if not said.startswith("_")]
    return tuple(found)
