"""Where an entry of a tensor product stands: a sum that is largest when all are at their places."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch


def weighted_sum(joined: torch.Tensor, vectors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the sum of each entry times what should stand at its place, with weights.

    The indices (i, j, …), from 1, are computed from the place alone; the weight is i j².

    Args:
        joined: what is asked, (…, q_1 ⋯ q_k).
        vectors: k >= 2 arrays (…, q_j), whose tensor product it should be.

    Returns:
        (…).

    Raises:
        ValueError: the lengths do not fit.
    """
    sizes = tuple(v.shape[-1] for v in vectors)
    if len(sizes) < 2 or joined.shape[-1] != math.prod(sizes):
        raise ValueError(
            f"joined: got length {joined.shape[-1]} for vectors of lengths {sizes}; accepted: "
            "their product, of two or more"
        )
    places = torch.unravel_index(torch.arange(joined.shape[-1], device=joined.device), sizes)
    wanted = math.prod(v[..., place] for v, place in zip(vectors, places, strict=True))
    weights = (places[0] + 1) * (places[1] + 1) ** 2
    return (joined * wanted * weights.to(joined)).sum(-1)
