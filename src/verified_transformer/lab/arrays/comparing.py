"""How far two arrays are from each other, as one number."""

from __future__ import annotations

import torch


def relative_error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    r"""Return $\|found - wanted\|_2 / \|wanted\|_2$ over all entries.

    Raises:
        ValueError: the shapes differ, or ``wanted`` is zero.
    """
    _refuse_unlike(found, wanted)
    return ((found - wanted).norm() / wanted.norm()).item()


def largest_error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Return the largest error of an entry, relative to the largest entry of ``wanted``.

    Raises:
        ValueError: the shapes differ, or ``wanted`` is zero.
    """
    _refuse_unlike(found, wanted)
    return ((found - wanted).abs().max() / wanted.abs().max()).item()


def _refuse_unlike(found: torch.Tensor, wanted: torch.Tensor) -> None:
    if found.shape != wanted.shape:
        raise ValueError(
            f"found: got shape {tuple(found.shape)}; accepted: wanted's, {tuple(wanted.shape)}"
        )
    if not wanted.count_nonzero():
        raise ValueError("wanted: got zeros, against which no error is relative")
