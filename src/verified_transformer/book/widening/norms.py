"""LayerNorm before and after growth: PyTorch's, and the printed formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from verifiedbook.seeds import generator


def by_hand(x: Any, gain: Any, shift: Any, eps: float = 0.0) -> Any:
    """LayerNorm written out, for arrays of NumPy or torch."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / ((centred**2).mean(-1, keepdims=True) + eps) ** 0.5 * gain + shift


def by_torch(
    x: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor, eps: float = 0.0
) -> torch.Tensor:
    """LayerNorm by torch's function, in float64, with a gain and a shift for each vector."""
    return F.layer_norm(x.double(), x.shape[-1:], eps=eps) * gain + shift


def norm(x: Any, gain: Any, shift: Any, eps: float = 0.0) -> Any:
    """LayerNorm of torch's arrays by torch's function, and of NumPy's by hand."""
    return (by_torch if isinstance(x, torch.Tensor) else by_hand)(x, gain, shift, eps)


def repeat(value: Any, k: float) -> Any:
    """Each entry of the last axis k times in a row, for arrays of NumPy or torch."""
    if isinstance(value, torch.Tensor):
        return value.repeat_interleave(round(k), -1)
    return np.repeat(value, round(k), -1)


def grown_and_small(
    x: Any, gain: Any, shift: Any, k: float, eps: float = 0.0, eps_grown: float | None = None
) -> tuple[Any, Any]:
    """The norm of repeated and divided arrays, and the small norm repeated.

    Args:
        x, gain, shift: (…, d); of torch, whose function is used, or of NumPy, by hand.
        k: factor of growth; all three are repeated k times and divided by √k.
        eps: the small norm's ε.
        eps_grown: the grown norm's; the same where none is given.

    Returns:
        Two arrays, (…, k d). The first is the second over √k where nothing is lost.
    """
    wide_x, wide_gain, wide_shift = (repeat(value, k) / k**0.5 for value in (x, gain, shift))
    wide = norm(wide_x, wide_gain, wide_shift, eps if eps_grown is None else eps_grown)
    return wide, repeat(norm(x, gain, shift, eps), k)


def left_over(k: int, eps: float, spread: float) -> float:
    """Output over the original, where both norms have the same ε.

    Args:
        k: factor of growth; the input is repeated and divided by √k.
        eps: of both norms.
        spread: standard deviation of the small input's coordinates.
    """
    x = torch.randn(16, generator=generator("standardised"), dtype=torch.float64)
    x = spread * (x - x.mean()) / x.std(correction=0)
    wide = F.layer_norm(repeat(x, k) / k**0.5, (16 * k,), eps=eps)
    return (wide[::k] / F.layer_norm(x, (16,), eps=eps)).mean().item()
