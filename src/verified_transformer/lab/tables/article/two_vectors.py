"""The article's example of two vectors: matrices whose product should be their outer product."""

from __future__ import annotations

import torch

from ..ways.chains import on_diagonal


def printed_factors(e1: torch.Tensor, e2: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the two matrices that the article prints: a diagonal (m, m) and a row (1, n)."""
    return on_diagonal(e1), e2[None]


def column(e1: torch.Tensor, e2: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a column (m, 1) and the row (1, n)."""
    return e1[:, None], e2[None]


def row_repeated(e1: torch.Tensor, e2: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the diagonal (m, m) and a matrix (m, n) all of whose rows are the second vector."""
    return on_diagonal(e1), e2[None].expand(len(e1), -1)


def printed_product(e1: torch.Tensor, e2: torch.Tensor) -> torch.Tensor:
    """Return the matrix (2, 2) that the article prints as the product of two vectors."""
    (a, b), (c, d) = e1, e2
    return torch.stack([torch.stack([a * c, a * d]), torch.stack([b * c, b * d])])
