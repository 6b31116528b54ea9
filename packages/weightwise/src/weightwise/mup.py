r"""The settings of a small model, taken to a wide one of the same class: μP for Adam and AdamW.

    mup_start(model, small)
    torch.optim.AdamW(mup_groups(model, small, lr=3e-3, weight_decay=0.1))

What a parameter is follows from its shape and from the layer that holds it, and not from its name.
Let the wide model be $r$ times as wide. Then, beside the small model's:

    role        spread   rate   decay   ε
    embedding   1        1      1       1/r
    hidden      1/√r     1/r    r       1/r
    head        1/r      1/r    r       1
    vector      -        1      1       1/r
    last norm   1/r      1/r    r       1
    fixed       -        1      1       1

Spread and rate are table 3 of Yang and others (2022), arXiv:2203.03466. AdamW shrinks a weight by
rate times decay, so that the decay undoes what the rate did. ε stands beside the size of a
gradient, which falls as 1/r but for what the logits are made of. A tied head is an embedding, and
its logits need a factor 1/r (table 8 there): it goes into the gain of the norm before it, which
has then another unit, and the rate of that unit.

A factor in a class's own forward pass that depends on the width (Gemma's on its embedding, say) is
not seen: look at how far the logits move at a few widths.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from .accepted import require_real

_POWERS = {  # of r: spread, rate, decay, ε
    "embedding": (0.0, 0, 0, -1),
    "hidden": (-0.5, -1, 1, -1),
    "head": (-1.0, -1, 1, 0),
    "vector": (None, 0, 0, -1),
    "last norm": (-1.0, -1, 1, 0),
    "fixed": (None, 0, 0, 0),
}


def mup_start(model: nn.Module, small: nn.Module, last_norm: nn.Module | None = None) -> None:
    """Give a wide model the start of μP, in place: how large its matrices are, and nothing else.

    Each matrix is multiplied by one positive number, so that its root mean square is the small
    model's times the power of the table above.

    Args:
        model: fresh, as its class starts; wider than ``small`` by more heads of the same size.
        small: of the same class and depth, fresh as well: how large its matrices start was tuned.
        last_norm: of ``model``, the norm before a tied head; only such a head needs it.

    Raises:
        ValueError: a parameter whose role cannot be told, by its name; another class, depth or head
            size; a tied head without its norm.

    Source: Yang and others (2022), tables 3 and 8.

    Example:
        >>> def of(d):
        ...     return nn.Sequential(nn.Embedding(9, d), nn.Linear(d, d), nn.Linear(d, 9))
        >>> small, model = of(16), of(64)
        >>> mup_start(model, small)
        >>> round((_size(model[2].weight) / _size(small[2].weight)).item(), 6)
        0.25
    """
    told, r = _roles(model, small, last_norm)
    known = dict(small.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            power, own = _POWERS[told[name]][0], _size(parameter)
            if power is not None and own > 0:
                parameter.mul_(_size(known[name]).to(own) / own * r**power)


def mup_groups(
    model: nn.Module,
    small: nn.Module,
    *,
    lr: float,
    weight_decay: float = 0.0,
    eps: float = 1e-8,
    last_norm: nn.Module | None = None,
) -> list[dict[str, Any]]:
    """Return the parameters of a wide model in groups, for `torch.optim.Adam` or ``AdamW``.

    The model is not touched. A schedule has to multiply the rates of the groups, as torch's own do.

    Args:
        model, small, last_norm: as for `mup_start`.
        lr, weight_decay, eps: what was tuned on ``small``.

    Returns:
        A group for each role that occurs, with ``params``, ``lr``, ``weight_decay``, ``eps``, and
        the ``role``.

    Raises:
        TypeError, ValueError: as `mup_start`; a setting is no number, negative or not finite.

    Source: Yang and others (2022), tables 3 and 8; ε as Everett and others (2024) found.

    Example:
        >>> small, model = (nn.Sequential(nn.Embedding(9, d), nn.Linear(d, d)) for d in (16, 64))
        >>> {group["role"]: group["lr"] for group in mup_groups(model, small, lr=0.1)}
        {'embedding': 0.1, 'hidden': 0.025, 'vector': 0.1}
    """
    for setting, value in {"lr": lr, "weight_decay": weight_decay, "eps": eps}.items():
        require_real(**{setting: value})
        if not 0 <= value < math.inf:
            raise ValueError(f"{setting}: got {value}; accepted: a finite number of at least 0")
    told, r = _roles(model, small, last_norm)
    groups: dict[str, dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        _, rate, decay, ε = _POWERS[told[name]]
        settings = {"lr": lr * r**rate, "weight_decay": weight_decay * r**decay, "eps": eps * r**ε}
        group = groups.setdefault(told[name], {"params": [], **settings, "role": told[name]})
        group["params"].append(parameter)
    return list(groups.values())


def _roles(
    model: nn.Module, small: nn.Module, last_norm: nn.Module | None
) -> tuple[dict[str, str], float]:
    """The role of each parameter by its name, and by how much the width has grown."""
    known, holders = dict(small.named_parameters()), _holders(model)
    strange = known.keys() ^ {name for name, _ in model.named_parameters()}
    if strange:
        raise ValueError(f"{min(strange)}: only one of the two models has it")
    _require_like(model, small)
    factors: set[float] = set()
    told, tied = {}, []
    for name, parameter in model.named_parameters():
        ratios = [a / b for a, b in zip(parameter.shape, known[name].shape, strict=True)]
        factors |= set(ratios) - {1.0}
        told[name] = _role(name, tuple(ratio != 1 for ratio in ratios), holders[parameter])
        if told[name] == "embedding" and {nn.Embedding, nn.Linear} <= holders[parameter]:
            tied.append(name)
    if len(factors) > 1:
        raise ValueError(f"widths: grown by {sorted(factors)}; accepted: all by one factor")
    heads = [name for name, role in told.items() if role == "head"]
    if len(heads) > 1:
        raise ValueError(f"{', '.join(heads)}: only the inputs have grown; accepted: one head")
    if not factors:
        return told, 1.0
    _tell_last_norm(model, last_norm, tied, told)
    return told, factors.pop()


def _role(name: str, grown: tuple[bool, ...], holders: set[type]) -> str:
    """What a parameter is, from the sides that have grown and the kinds of layer that hold it."""
    table, linear = nn.Embedding in holders, nn.Linear in holders
    if not any(grown):
        return "fixed"
    if grown == (True,):
        return "vector"
    if grown == (True, True):
        return "hidden"
    if (grown == (False, True) and table) or (grown == (True, False) and linear):
        return "embedding"
    if grown == (False, True) and linear:
        return "head"
    kinds = " and ".join(sorted(holder.__name__ for holder in holders))
    raise ValueError(
        f"{name}: a parameter of {kinds} of which {grown.count(True)} of {len(grown)} sides have "
        "grown; accepted: vectors, tables, linear layers, and matrices grown on both sides"
    )


def _tell_last_norm(
    model: nn.Module, last_norm: nn.Module | None, tied: list[str], told: dict[str, str]
) -> None:
    """Mark the parameters of the norm before a tied head."""
    if last_norm is None:
        if tied:
            raise ValueError(f"last_norm: got None; accepted: the norm before the head {tied[0]}")
        return
    own = set(last_norm.parameters()) if isinstance(last_norm, nn.Module) else set()
    names = [name for name, parameter in model.named_parameters() if parameter in own]
    if not tied or not names or any(told[name] != "vector" for name in names):
        kind = type(last_norm).__name__
        raise ValueError(
            f"last_norm: got a {kind}; accepted: a norm of the model before a tied head"
        )
    if not any(_size(p) > 0 for p in own):
        raise ValueError(f"{names[0]}: a gain that starts at zero cannot hold a factor")
    config = getattr(model, "config", None)
    if getattr(config, "scale_decoder_outputs", hasattr(model, "model_dim")):
        raise ValueError(f"last_norm: {type(model).__name__} may divide by a root of the width")
    told.update(dict.fromkeys(names, "last norm"))


def _holders(model: nn.Module) -> dict[nn.Parameter, set[type]]:
    """The kinds of layer that hold each parameter; of a table or a linear layer, torch's own."""
    found: dict[nn.Parameter, set[type]] = {}
    for module in model.modules():
        kind: type = type(module)
        for known in (nn.Embedding, nn.Linear):
            kind = known if isinstance(module, known) else kind
        for parameter in module.parameters(recurse=False):
            found.setdefault(parameter, set()).add(kind)
    return found


def _require_like(model: nn.Module, small: nn.Module) -> None:
    """The same class, and heads of the same size: logits of longer ones want another division."""
    wide, narrow = (f"{type(each).__name__}{_head_size(each)}" for each in (model, small))
    if wide != narrow:
        raise ValueError(f"model, small: got {wide} and {narrow}; accepted: the same, more heads")


def _head_size(model: nn.Module) -> str:
    config: Any = getattr(model, "config", None)
    heads = getattr(config, "num_attention_heads", None)
    size = getattr(config, "head_dim", None) or getattr(config, "d_kv", None)
    return f" with heads of {size or config.hidden_size // heads}" if heads else ""


def _size(parameter: torch.Tensor) -> torch.Tensor:
    """The root mean square of the entries."""
    return parameter.detach().square().mean().sqrt()
