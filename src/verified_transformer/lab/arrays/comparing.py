"""How far two arrays are from each other, and a sample from a formula."""

from __future__ import annotations

import math

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


def agrees(values: torch.Tensor, expected: float, *, threshold: float = 4.9) -> bool:
    """Whether the mean of independent values is an expected number, to within sampling error.

    Args:
        values: independent draws, (draws,).
        expected: what their mean should be.
        threshold: the largest distance in standard errors; 4.9 is passed once in a million.

    Raises:
        ValueError: fewer than a thousand draws, or values that do not vary.
    """
    spread = values.std().item()
    if len(values) < 1000 or not spread > 0:
        raise ValueError(
            f"values: got {len(values)} with standard deviation {spread:g}; accepted: at least "
            "1000 that vary"
        )
    return abs(values.mean().item() - expected) < threshold * spread / math.sqrt(len(values))


def _refuse_unlike(found: torch.Tensor, wanted: torch.Tensor) -> None:
    if found.shape != wanted.shape:
        raise ValueError(
            f"found: got shape {tuple(found.shape)}; accepted: wanted's, {tuple(wanted.shape)}"
        )
    if not wanted.count_nonzero():
        raise ValueError("wanted: got zeros, against which no error is relative")
