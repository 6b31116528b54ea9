"""What public functions accept: an error names the argument, what was given, what is accepted.

It loads no torch before a tensor is asked for: a first loss is predicted where there is none.
"""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any


def require_whole(**given: Any) -> None:
    """Refuse, by name and with a ``TypeError``, what is not a whole number."""
    for name, value in given.items():
        if isinstance(value, bool) or not hasattr(type(value), "__index__"):
            raise TypeError(f"{name}: got {value!r}; accepted: a whole number")


def require_positive(**given: Any) -> None:
    """Refuse, by name, what is not a whole number (``TypeError``) above zero (``ValueError``)."""
    require_whole(**given)
    for name, value in given.items():
        if value < 1:
            raise ValueError(f"{name}: got {value}; accepted: a positive number")


def require_real(**given: Any) -> None:
    """Refuse, by name and with a ``TypeError``, what is not a real number."""
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{name}: got {value!r}; accepted: a number")


def require_floating(**given: Any) -> None:
    """Refuse, by name and with a ``TypeError``, what is not a tensor of fractional numbers."""
    import torch

    for name, value in given.items():
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            raise TypeError(f"{name}: got {_kind(value)}; accepted: a tensor of floats")


def require_tokens(**given: Any) -> None:
    """Refuse, by name and with a ``TypeError``, what is not a tensor of whole numbers."""
    import torch

    for name, value in given.items():
        if not isinstance(value, torch.Tensor) or value.dtype not in (torch.int32, torch.int64):
            raise TypeError(f"{name}: got {_kind(value)}; accepted: torch.int32, torch.int64")


def is_module(value: Any) -> bool:
    """Whether a value is a module of torch; where torch is not loaded, there are none."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


_HOLDERS = {"OptimizedModule": "_orig_mod", "DataParallel": "module",
            "DistributedDataParallel": "module"}  # fmt: skip


def unwrapped(model: Any) -> Any:
    """The model in a wrapper that changes no number: torch.compile's, or one that runs in parallel.

    Raises:
        TypeError: the wrapper cuts the numbers up, or adds to them.
    """
    held = [_HOLDERS[kind.__name__] for kind in type(model).__mro__ if kind.__name__ in _HOLDERS]
    if held:
        return unwrapped(getattr(model, held[0]))
    if inside := _changed(model):
        got = type(model).__name__
        raise TypeError(f"model: got a {got} around a model; accepted: what it holds, {inside}")
    return model


def wrapped(model: Any) -> str:
    """How to get at the model inside of a wrapper; empty where there is none."""
    names = [*getattr(model, "_modules", {})]
    return _changed(model) or next(
        (f"model.{name}" for name in ("_orig_mod", "module") if names == [name]), ""
    )


def _changed(model: Any) -> str:
    kinds = {kind.__name__ for kind in type(model).__mro__}
    if kinds & {"FullyShardedDataParallel", "FSDPModule"}:
        return "the model before it was sharded, or its checkpoint"
    if is_module(model) and callable(getattr(model, "merge_and_unload", None)):
        return "model.merge_and_unload(), which adds its adapters"
    return ""


def _kind(value: Any) -> str:
    import torch

    return str(value.dtype) if isinstance(value, torch.Tensor) else type(value).__name__
