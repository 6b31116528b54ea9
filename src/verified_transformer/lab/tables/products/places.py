"""Where an entry of a tensor product stands: a sum that is largest when all are at their places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ....exact.integrals.gaussian import Draw
from ....exact.laws import Uniform
from ....sampling.quantities import Sampled

Join = Callable[[Sequence[torch.Tensor]], torch.Tensor]


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


def weighted_quantity(join: Join, name: str, **vectors: tuple[Any, Any]) -> Sampled:
    """Return the mean of `weighted_sum` over random vectors, to be measured or enumerated.

    Args:
        join: what is asked: function of a list of vectors (q_j,), whose outcome is laid out flat.
        name: one line of text for the quantity.
        vectors: by name, the length and the standard deviation of the entries, which are uniform.
    """

    def statistic(**parts: torch.Tensor) -> torch.Tensor:
        drawn = [parts[letter] for letter in vectors]
        return weighted_sum(torch.vmap(lambda *rows: join(rows).flatten())(*drawn), drawn)

    draws = {
        letter: Draw(Uniform.of_variance(spread**2), (size,))
        for letter, (size, spread) in vectors.items()
    }
    return Sampled(name, draws, statistic)
