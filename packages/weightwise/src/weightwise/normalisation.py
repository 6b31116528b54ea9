"""Normalisation of hidden states without learned parts: RMS Norm and Layer Norm."""

from __future__ import annotations

import torch

from .accepted import require_floating, require_real


def normalised(hidden: torch.Tensor, kind: str = "rms", *, ε: float = 0.0) -> torch.Tensor:
    """Normalise hidden states over their last axis, without gain or shift.

    Args:
        hidden: (…, d).
        kind: "rms" (divide by the root mean square) or "layer" (subtract the mean first).
        ε: the small constant under the root.

    Raises:
        TypeError, ValueError: an argument is out of range.

    Example:
        >>> normalised(torch.tensor([3.0, 4.0])).square().mean()
        tensor(1.)
    """
    require_floating(hidden=hidden)
    require_real(ε=ε)
    if hidden.ndim < 1 or not ε >= 0:
        shape = tuple(hidden.shape)
        raise ValueError(f"hidden, ε: got shape {shape}, {ε}; accepted: (…, d), ε >= 0")
    if kind not in ("rms", "layer"):
        raise ValueError(f"kind: got {kind!r}; accepted: 'rms', 'layer'")
    centred = hidden - hidden.mean(-1, keepdim=True) if kind == "layer" else hidden
    return centred / (centred.square().mean(-1, keepdim=True) + ε).sqrt()
