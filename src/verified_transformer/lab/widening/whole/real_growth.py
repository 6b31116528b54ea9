"""Real models grown as a whole, by `grow` or with one of its rules replaced."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F

from ....models.growth import axes, compare, grow, rules
from ...arrays.comparing import largest_error
from ...real_models.tiny import randomised, tiny
from ..parts.layouts import padded, tiled
from ..training.networks import normal
from .models import spoken, with_own_head

_UNTIED = {"tie_word_embeddings": False}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT, GELU": ("bert", {}), "BERT, ReLU": ("bert", {"hidden_act": "relu"}),
    "GPT-2": ("gpt2", {}), "T5 v1.0": ("t5", {}), "T5 v1.1": ("t5-1.1", {}),
    "mT5": ("mt5", {}), "RoFormer": ("roformer", {}),
    "Llama, tied": ("llama", {"tie_word_embeddings": True}), "Llama, untied": ("llama", _UNTIED),
}  # fmt: skip


def small(kind: str, source: str | None = None, **more: Any) -> Any:
    """A tiny model of a kind, in float64, every parameter that learns drawn from a name.

    T5 1.1 and mT5 get a matrix of their own for the head, as the released ones have.

    Args:
        kind: of `KINDS`.
        source: the name; the kind where none is given.
        more: further settings.
    """
    name, options = KINDS[kind]
    model = randomised(tiny(name, **options, **more), source or kind).requires_grad_(False)
    return with_own_head(model, kind) if name in ("t5-1.1", "mt5") else model


def drawn(kinds: tuple[str, ...], name: str) -> list[Any]:
    """Models of some kinds, everything drawn from a name."""
    return [small(kind, f"{name} {kind}") for kind in kinds]


def said(models: list[Any], k: int = 1) -> torch.Tensor:
    """The logits of models, grown by k where it is more than 1, for one text."""
    grown = [grow(model, k, check=False) if k > 1 else model for model in models]
    return torch.stack([spoken(model, "grown") for model in grown])


# ------------------------------------------------------------------------------ which axis will do

WAYS = {
    "copies": axes.repeated(6, 3), "copies/√k": axes.repeated(6, 3, scale=3**-0.5),
    "tiled": tiled(1, 6, 3), "uneven": axes.Axis(
        torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5]),
        torch.ones(18, dtype=torch.float64), 6,
    ), "zeros": padded(6, 3),
}  # fmt: skip
PARTS = ("linear layer", "RMSNorm", "LayerNorm", "the same, large ε", "GELU", "gate", "two heads")


def passes(part: str, way: str) -> bool:
    """Whether growing before a part and after it is the same.

    Args:
        part: of `PARTS`.
        way: of `WAYS`; all have three times as many coordinates.
    """
    axis, x, gain = WAYS[way], normal("x", 7, 6), normal("gain", 6)
    wide_gain = axis.write(gain, 0)
    if part == "linear layer":
        weight = normal("weight", 6, 6)
        weights = weight, axis.read(axis.write(weight, 0), 1)
        pair = F.linear(axis.write(x, 1), weights[1]), F.linear(x, weights[0])
    elif part == "two heads":
        copies = int(axis.factor.count_nonzero()) // 6
        scale = axis.factor.max().item()
        by = rules.score_scale(3, copies, scaled=True) / scale
        pair = _attend(axis.write(x, 1), by), _attend(x, 1.0)
    elif part in ("GELU", "gate"):
        act = F.gelu if part == "GELU" else lambda u: u * F.silu(u)
        pair = act(axis.write(x, 1)), act(x)
    else:
        eps = 0.5 if "large" in part else 0.0
        pair = (_norm(axis.write(x, 1), wide_gain, eps, part), _norm(x, gain, eps, part))
    return largest_error(pair[0], axis.write(pair[1], 1)) < 1e-12


def _norm(x: torch.Tensor, gain: torch.Tensor, eps: float, part: str) -> torch.Tensor:
    centred = x if part == "RMSNorm" else x - x.mean(-1, keepdim=True)
    return gain * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()


def _attend(x: torch.Tensor, by: float) -> torch.Tensor:
    v = x.unflatten(-1, (2, -1)).transpose(0, 1)
    return F.scaled_dot_product_attention(by * v, by * v, v).transpose(0, 1).flatten(1)


# ------------------------------------------------------------------------------ other rules


def no_factor(k: int, copies: int, *, scaled: bool) -> float:
    """The factor on query and key, forgotten."""
    return 1.0


def stay(kinds: tuple[str, ...], score_scale: Any = no_factor) -> bool:
    """Whether models grown with another factor on query and key compute what they did."""
    with patch.object(rules, "score_scale", score_scale):
        models = [small(kind) for kind in kinds]
        found = [compare(m, grow(m, k, check=False)).clean for m in models for k in (2, 3)]
    return max(found) <= 1e-12
