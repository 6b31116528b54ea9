"""Tables that a tensor train holds, or does not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from ....models import TensorTrainEmbedding
from ....seeds import generator


def digits_added(rows: Sequence[int], columns: Sequence[int], name: str) -> torch.Tensor:
    """Return a table whose entries are sums of one normal number for each pair of digits.

    Args:
        rows, columns: bases of the token's digits and of the place's, the first the most
            significant.
        name: of the draw.

    Returns:
        The table, (product of rows, product of columns), float64.

    Example:
        >>> table = digits_added((2, 3), (2, 2), "example")
        >>> table.shape, torch.allclose(table[0] - table[1], table[3] - table[4])
        (torch.Size([6, 4]), True)
    """
    source = generator(name)
    table = torch.zeros(1, 1, dtype=torch.double)
    for m, q in zip(rows, columns, strict=True):
        part = torch.randn(m, q, generator=source, dtype=torch.double)
        table = (table[:, None, :, None] + part[None, :, None, :]).flatten(2).flatten(0, 1)
    return table


def lost_in_train(
    table: torch.Tensor, rows: Sequence[int], columns: Sequence[int], bond: int
) -> float:
    """Return the part of a table's squared length that TT-SVD with equal bonds does not keep.

    Args:
        table: (n, d), n the product of ``rows`` and d that of ``columns``.
        rows, columns: bases of the digits.
        bond: size of every bond.

    Raises:
        ValueError: the sizes do not fit the table.

    Example:
        >>> lost_in_train(torch.ones(6, 4), (2, 3), (2, 2), 1) < 1e-10
        True
    """
    if table.shape != (math.prod(rows), math.prod(columns)):
        raise ValueError(
            f"table: got shape {tuple(table.shape)}; accepted: {math.prod(rows)} rows of"
            f" {math.prod(columns)}"
        )
    return TensorTrainEmbedding.from_dense(table, rows, columns, bond).relative_error ** 2
