"""Arrays: how far apart two are, and all outcomes of a few entries with a discrete law."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

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


SIGNS = ((-1.0, 0.5), (1.0, 0.5))
LOPSIDED = ((-0.5, 0.8), (2.0, 0.2))  # mean 0, variance 1, skewed: an entry's square is no constant


def outcomes(
    *shapes: int | Sequence[int], law: Sequence[tuple[float, float]] = SIGNS
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return every outcome of some arrays with iid entries, and its probability.

    Args:
        shapes: the shape of each array, an integer for a vector.
        law: pairs (value, probability) of an entry; `SIGNS` or `LOPSIDED`, for example.

    Returns:
        The arrays, each of shape (outcomes, *shape), and the probabilities, (outcomes,), float64.

    Raises:
        ValueError: more than a million outcomes.

    Example:
        >>> (x,), chances = outcomes(2, law=LOPSIDED)
        >>> round((chances @ x.prod(1)).item(), 12)
        0.0
    """
    sizes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    lengths = [math.prod(size) for size in sizes]
    if len(law) ** sum(lengths) > 1_000_000:
        raise ValueError(f"shapes: {len(law)}**{sum(lengths)} outcomes; accepted: at most 1000000")
    values, chances = zip(*law, strict=True)
    places = torch.tensor(list(itertools.product(range(len(law)), repeat=sum(lengths))))
    rows = torch.tensor(values, dtype=torch.float64)[places]
    weights = torch.tensor(chances, dtype=torch.float64)[places].prod(1)
    parts = rows.split(lengths, 1)
    return [p.reshape(-1, *size) for p, size in zip(parts, sizes, strict=True)], weights
