"""A module described by itself: everything is read off the object, nothing off a name or a file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..account.records.ran import OWN, TORCH, TRANSFORMERS, Ran

if TYPE_CHECKING:
    from torch import nn

_EPSILONS = ("eps", "variance_epsilon", "epsilon")
_LARGEST_ROOT = 1 << 20


def description_of(module: nn.Module) -> Ran:
    """Return what a module says of itself.

    Args:
        module: of transformers, of `torch.nn`, or of the book.

    Example:
        >>> from torch import nn
        >>> str(description_of(nn.TransformerEncoderLayer(8, 2)))
        'nn.TransformerEncoderLayer, LayerNorm ε 1e-05, float32'
    """
    parts = list(module.modules())
    return Ran(
        type(module).__name__,
        _home(type(module)),
        layers=tuple(_stacks(module)),
        tied=_is_tied(module),
        norms=tuple(dict.fromkeys(filter(None, map(_norm, parts)))),
        scales=tuple(dict.fromkeys(filter(None, map(_scale, parts)))),
        dtypes=tuple(sorted({str(p.dtype).removeprefix("torch.") for p in module.parameters()})),
    )


def _home(made: type) -> str:
    root = made.__module__.partition(".")[0]
    return {"transformers": TRANSFORMERS, "torch": TORCH}.get(root, OWN)


def _is_tied(module: nn.Module) -> bool | None:
    """Whether embedding and head are one parameter; None where it has no such pair.

    Transformers' models name the two; in any other a linear layer with the shape of an embedding is
    its head.
    """
    from torch import nn

    if hasattr(module, "get_output_embeddings"):
        return _tied_ends(module)
    tables = [part.weight for part in module.modules() if isinstance(part, nn.Embedding)]
    linear = [part.weight for part in module.modules() if isinstance(part, nn.Linear)]
    heads = [w for w in linear if any(w.shape == table.shape for table in tables)]
    return any(w is table for w in heads for table in tables) if heads else None


def _tied_ends(model: Any) -> bool | None:
    try:
        ends = model.get_input_embeddings(), model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        return None  # a class without one of the two
    table, head = (getattr(end, "weight", None) for end in ends)
    return None if table is None or head is None else table is head


def _stacks(module: nn.Module) -> Iterator[int]:
    """The lengths of the outermost lists of layers of one class."""
    from torch import nn

    for part in module.children():
        if isinstance(part, nn.ModuleList) and len({type(layer) for layer in part}) == 1:
            yield len(part)
        else:
            yield from _stacks(part)


def _norm(part: nn.Module) -> str | None:
    """Class and ε of a norm."""
    from torch import nn

    name = type(part).__name__
    if not (isinstance(part, nn.LayerNorm | nn.RMSNorm | nn.GroupNorm) or "Norm" in name):
        return None
    found = (getattr(part, key, None) for key in _EPSILONS)
    eps = next((value for value in found if isinstance(value, int | float)), None)
    return None if eps is None else f"{name} ε {eps:.6g}"


def _scale(part: nn.Module) -> str | None:
    """By what an attention multiplies its scores, where the object holds it."""
    found = getattr(part, "scaling", None)
    if "Attention" not in type(part).__name__ or not isinstance(found, int | float) or found <= 0:
        return None
    return _written(float(found))


def _written(scale: float) -> str:
    """A scale as one over a root, where it is one."""
    square = round(1 / scale**2)
    if not 1 < square < _LARGEST_ROOT or not math.isclose(square, 1 / scale**2, rel_tol=1e-6):
        return f"{scale:.6g}"
    root = math.isqrt(square)
    return f"1/{root}" if root * root == square else f"1/√{square}"
