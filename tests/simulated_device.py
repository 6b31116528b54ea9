"""A second device on a machine without one: tensors that say CUDA and refuse to mix with the CPU's.

Values and draws are the CPU's. What a GPU would refuse is refused here: tensors of two devices in
one operation, the CPU's generator for a tensor there, NumPy's view of such a tensor. As on a GPU,
numbers without axes may mix, a tensor there may be indexed from the CPU, and copies go both ways.
Inside `vmap` no device is known, so that nothing is refused there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map_only

CUDA = torch.device("cuda", 0)
_CPU_GENERATOR = torch.Generator
_COPIES = {"copy_", "to", "cpu", "type_as", "set_", "__getitem__", "index", "__setitem__",
           "_has_compatible_shallow_copy_type"}  # fmt: skip
_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor  # inside vmap: of no known device
_REFUSED = {"numpy", "__array__"}


class There(torch.Tensor):
    """A tensor on the simulated device."""

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return _call(func, args, kwargs or {})


class GeneratorThere(_CPU_GENERATOR):
    """A generator of the simulated device."""

    device = CUDA


class _Everything(TorchFunctionMode):
    """Sees factories as well, which have no tensor among what they are given."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return _call(func, args, kwargs or {})


def _call(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        return _called(func, args, kwargs)


def _called(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    name = getattr(func, "__name__", "")
    if func is torch.device or name == "_parse_to":  # which only read what is asked for
        return func(*args, **kwargs)
    if name == "__deepcopy__":  # whose memory must not be copied itself
        tensor, known = args
        if not isinstance(tensor, There):
            return func(tensor, known)
        copied = tensor.detach().as_subclass(torch.Tensor).clone()
        return known.setdefault(id(tensor), _there(copied.requires_grad_(tensor.requires_grad)))
    owner = getattr(getattr(func, "__self__", None), "__name__", "")  # of an attribute's getter
    given = tree_flatten((args, dict(kwargs)))[0]
    there = any(isinstance(item, There) for item in given)
    if name == "__get__" and there and owner in ("device", "is_cuda", "is_cpu"):
        return {"device": CUDA, "is_cuda": True, "is_cpu": False}[owner]
    if there and name in _REFUSED:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")
    named = [CUDA] if name == "cuda" else [item for item in given if _names_device(item)]
    like = [item for item in given[1:] if isinstance(item, torch.Tensor)]
    lands = there
    if name in ("to", "type_as") and like:
        lands = isinstance(like[0], There)
    elif named or name == "cpu":
        lands = bool(named) and _is_cuda(named[0])
    _refuse_mixed(name, given, lands)
    if name != "__get__":  # which finds the gradient of a leaf
        args, kwargs = tree_map_only(There, lambda x: x.as_subclass(torch.Tensor), (args, kwargs))
    args = args[:1] if name == "cuda" else tuple(map(_here, args))
    found = (torch.Tensor.clone if name == "cuda" else func)(
        *args, **{key: _here(value) for key, value in kwargs.items()}
    )
    if name in ("to", "cpu", "type_as") and lands != there:
        found = found.clone()
    if isinstance(found, torch.Size):  # of which a tree would make a tuple
        return found
    return tree_map_only(torch.Tensor, _there if lands else _back, found)


def _there(x: torch.Tensor) -> torch.Tensor:
    if x.is_leaf and x.requires_grad and not isinstance(x, There):
        return torch.Tensor._make_subclass(There, x.detach(), True)
    return x.as_subclass(There)


def _back(x: torch.Tensor) -> torch.Tensor:
    return x.as_subclass(torch.Tensor) if isinstance(x, There) else x


def _names_device(item: object) -> bool:
    return str(item).split(":")[0] in ("cuda", "cpu") and isinstance(item, str | torch.device)


def _is_cuda(item: object) -> bool:
    return str(item).startswith("cuda")


def _here(item: object) -> object:
    return torch.device("cpu") if _names_device(item) else item


def _refuse_mixed(name: str, given: Sequence[object], there: bool) -> None:
    generators = [item for item in given if isinstance(item, _CPU_GENERATOR)]
    if any(isinstance(item, GeneratorThere) != there for item in generators):
        raise RuntimeError(f"{name}: a tensor and a generator of two devices")
    tensors = [
        item for item in given
        if isinstance(item, torch.Tensor) and item.dim() and not _is_wrapped(item)
    ]  # fmt: skip
    if name not in _COPIES and len({isinstance(item, There) for item in tensors}) > 1:
        raise RuntimeError(f"{name}: expected all tensors to be on the same device")


class _Named(type):
    def __instancecheck__(cls, item: object) -> bool:
        return isinstance(item, _CPU_GENERATOR)


class _Generator(metaclass=_Named):
    """Stands for `torch.Generator`, which cannot be had for a device that is not there."""

    def __new__(cls, device: object = "cpu") -> torch.Generator:  # type: ignore[misc]
        return GeneratorThere() if _is_cuda(device) else _CPU_GENERATOR(device)


@contextmanager
def simulated_device() -> Iterator[None]:
    """Let ``VERIFIED_DEVICE`` and ``device="cuda"`` mean the simulated device."""
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    with (
        mock.patch.dict(os.environ, {"VERIFIED_DEVICE": "cuda"}),
        mock.patch.object(torch, "Generator", _Generator),
        _Everything(),
    ):
        torch.__future__.set_overwrite_module_params_on_conversion(True)
        try:
            yield
        finally:
            torch.__future__.set_overwrite_module_params_on_conversion(before)
