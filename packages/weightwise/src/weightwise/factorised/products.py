"""The tensor product of vectors, for whole batches of them."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def tensor_product(vectors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the tensor product of vectors, as one long vector.

    Args:
        vectors: each (…, q_j), the leading sizes the same or broadcast together.

    Returns:
        (…, q_1 ⋯ q_k): every choice of one entry from each vector multiplied out, those of the
        last vector running fastest, as in `torch.kron`.

    Raises:
        ValueError: there are no vectors.
    """
    if not vectors:
        raise ValueError("vectors: got none; accepted: at least one")
    product = vectors[0]
    for vector in vectors[1:]:
        product = (product[..., None] * vector[..., None, :]).flatten(-2)
    return product
