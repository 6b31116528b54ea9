r"""Start and rates by the spectral norm: one rate for every width, for Muon beside AdamW.

    spectral_start(model)
    muon, adamw = spectral_groups(model, lr=0.02)
    optimisers = torch.optim.Muon(muon), torch.optim.AdamW(adamw)

A layer of $m$ inputs and $n$ outputs starts so that its largest output has a root mean square (RMS)
near that of its input, and no step moves that output by much more than the rate. With $d$ for the
width:

    kind        start                       step, at the rate η              by
    hidden      deviation √(n/m)/(√m+√n)    spectral norm near η √(n/m)      Muon
    embedding   deviation 1                 entries of about η               AdamW
    head        deviation 1/d               entries of about η/d             AdamW
    gain        1                           entries of about η               AdamW
    bias        0                           entries of about η               AdamW
    last norm   1/d; 0                      entries of about η/d             AdamW

Start and spectral norm are those of Su's *Beyond MuP* 2 and 3, kexue.fm/archives/11605 and 11647;
he moves tables by the row and gains by the sign, in whose place AdamW stands here. The last row is
for a tied head alone. A table that is both wants $d$ times as much at one end as at the other, so
that the gain of the norm before the head holds the factor $1/d$, and outlives the disk.

GPT-2 keeps queries, keys and values in one matrix. Each starts as a matrix of its own. Muon takes
them at once, as three layers side by side that move by η *together*, so that none moves farther and
each moves less. The depth is not seen: every layer starts and moves alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .accepted import require_real, unwrapped

_LAST_NORM = {
    "GPT2LMHeadModel": "transformer.ln_f",
    "LlamaForCausalLM": "model.norm",
    "Qwen3ForCausalLM": "model.norm",
}
_VALUES: dict[str, Callable[[int], float]] = {
    "gain": lambda width: 1.0,
    "bias": lambda width: 0.0,
    "last gain": lambda width: 1 / width,
    "last bias": lambda width: 0.0,
}
_ROLES = {"gain": "vector", "bias": "vector", "last gain": "last norm", "last bias": "last norm"}


def spectral_start(model: nn.Module, generator: torch.Generator | None = None) -> None:
    """Draw a model's parameters anew by the table above, in place.

    What needs no gradient, and the row of padding, stays as it is; so do buffers, dtypes and a tie.

    Args:
        model: a GPT2LMHeadModel, LlamaForCausalLM or Qwen3ForCausalLM of `transformers`, tied or
            not; it may be compiled.
        generator: of the draws, on the model's device; torch's own where not said.

    Raises:
        ValueError: another class; a parameter whose kind cannot be told, by its name.
        TypeError: a wrapper that cuts or changes the numbers.

    Source: Su (2026), kexue.fm/archives/11647, its table; the tied table, BOOK-108 of the book.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> model = GPT2LMHeadModel(GPT2Config(n_embd=64, n_head=1, n_layer=1))
        >>> spectral_start(model)
        >>> round(model.transformer.wte.weight.std().item(), 2)
        1.0
        >>> round(model.transformer.ln_f.weight[0].item() * 64, 6)
        1.0
    """
    model = unwrapped(model)
    kinds, width = _kinds(model)
    padding = {m.weight: m.padding_idx for m in model.modules() if isinstance(m, nn.Embedding)}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            kind = kinds[name]
            if not parameter.requires_grad:
                continue
            if kind in _VALUES:
                parameter.fill_(_VALUES[kind](width))
                continue
            row = padding.get(parameter)
            kept: Any = None if row is None else parameter[row].clone()
            parameter.normal_(0, _spread(model, name, kind), generator=generator)
            if row is not None:
                parameter[row] = kept


def spectral_groups(
    model: nn.Module, *, lr: float, weight_decay: float = 0.0
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the parameters in groups, for `torch.optim.Muon` and for `torch.optim.AdamW`.

    The model is not touched; what needs no gradient is in no group. torch's Muon takes its own
    factor from how a matrix is stored; the groups' rates put this module's in its place. A schedule
    has to multiply the rates of all groups of both. Muon came with torch 2.9: under 2.8 the groups
    are the same, and ``torch.optim.Muon`` is an AttributeError.

    Args:
        model: as for `spectral_start`, by which it should have started.
        lr: how far a step may move the largest output of any layer, beside an input of RMS 1.
        weight_decay: every matrix shrinks by ``lr * weight_decay`` a step, and no gain or bias.

    Returns:
        Groups for Muon, one for each factor, and groups for AdamW, one for each kind, with
        ``params``, ``lr``, ``weight_decay`` and the ``role``.

    Raises:
        TypeError, ValueError: as `spectral_start`; a setting is no number, negative or not finite.

    Source: Su (2026), kexue.fm/archives/11605, its equation for Muon; 11647, its table.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> model = GPT2LMHeadModel(GPT2Config(n_embd=64, n_head=1, n_layer=1))
        >>> muon, adamw = spectral_groups(model, lr=0.02)
        >>> {group["role"]: group["lr"] for group in adamw}
        {'embedding': 0.02, 'vector': 0.02, 'last norm': 0.0003125}
    """
    for setting, value in {"lr": lr, "weight_decay": weight_decay}.items():
        require_real(**{setting: value})
        if not 0 <= value < math.inf:
            raise ValueError(f"{setting}: got {value}; accepted: a finite number of at least 0")
    model = unwrapped(model)
    kinds, width = _kinds(model)
    muon: dict[float, dict[str, Any]] = {}
    adamw: dict[str, dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        kind = kinds[name]
        if kind == "hidden":
            factor = _beside_muons_own(model, name)
            group = muon.setdefault(factor, _group("hidden", lr * factor, weight_decay / factor))
            group["adjust_lr_fn"] = "original"
        else:
            factor = 1 / width if kind in ("head", "last gain", "last bias") else 1.0
            decay = 0.0 if kind in _VALUES else weight_decay / factor
            role = _ROLES.get(kind, kind)
            group = adamw.setdefault(role, _group(role, lr * factor, decay))
        group["params"].append(parameter)
    return list(muon.values()), list(adamw.values())


def _group(role: str, lr: float, weight_decay: float) -> dict[str, Any]:
    return {"params": [], "lr": lr, "weight_decay": weight_decay, "role": role}


def _spread(model: nn.Module, name: str, kind: str) -> float:
    """The deviation that a matrix starts with."""
    m, n = _sides(model, name)
    tables = {"embedding": 1.0, "head": 1 / m}
    return tables.get(kind, math.sqrt(n / m) / (math.sqrt(m) + math.sqrt(n)))


def _beside_muons_own(model: nn.Module, name: str) -> float:
    """√(n/m) of the layer, over the factor that Muon takes from rows and columns as stored."""
    m, n = _sides(model, name)
    rows, columns = model.get_parameter(name).shape
    return math.sqrt(n / m / max(1, rows / columns))


def _sides(model: nn.Module, name: str) -> tuple[int, int]:
    """Inputs and outputs of a matrix; of GPT-2's c_attn, outputs of each part."""
    holder, shape = model.get_submodule(name.rpartition(".")[0]), model.get_parameter(name).shape
    m, n = shape if type(holder).__name__ == "Conv1D" else shape[::-1]
    return m, m if name.endswith("c_attn.weight") else n


def _kinds(model: Any) -> tuple[dict[str, str], int]:
    """The kind of each parameter by its name, and the width."""
    last = _LAST_NORM.get(type(model).__name__)
    if last is None:
        accepted = ", ".join(_LAST_NORM)
        raise ValueError(f"model: got a {type(model).__name__}; accepted: {accepted}")
    table = getattr(model.get_input_embeddings(), "weight", None)
    head = getattr(model.get_output_embeddings(), "weight", None)
    kinds = {}
    for name, parameter in model.named_parameters():
        place, _, own = name.rpartition(".")
        kinds[name] = "head" if parameter is head else _kind(model.get_submodule(place), own, name)
        if parameter is table:
            kinds[name] = "embedding"
        elif place == last and head is table:
            kinds[name] = f"last {kinds[name]}"
    return kinds, model.config.hidden_size


def _kind(holder: nn.Module, own: str, name: str) -> str:
    """What a parameter is, from the layer that holds it."""
    holder_name = type(holder).__name__
    if own == "weight" and isinstance(holder, nn.Embedding):
        return "embedding"
    if own in ("weight", "bias") and (isinstance(holder, nn.Linear) or holder_name == "Conv1D"):
        return "hidden" if own == "weight" else "bias"
    if own in ("weight", "bias") and holder_name.endswith("Norm"):
        return "gain" if own == "weight" else "bias"
    raise ValueError(
        f"{name}: a parameter of {holder_name}; accepted: those of tables, linear layers and norms"
    )
