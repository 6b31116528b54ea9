"""The log-bilinear model of 2007: one table reads the words before, and scores the next one."""

from __future__ import annotations

import torch
from torch import nn


class LogBilinear(nn.Module):
    """Mnih and Hinton's model: a matrix for each place before, and inner products with a table.

    Args:
        n: words.
        d: length of a word's vector.
        context: words that are read.
        one_table: whether the table that is read from scores as well.

    Example:
        >>> model = LogBilinear()
        >>> model.Q is model.R, tuple(model(torch.tensor([[1, 2]])).shape)
        (True, (1, 7))
    """

    def __init__(self, n: int = 7, d: int = 4, context: int = 2, *, one_table: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.R = nn.Parameter(torch.randn(n, d))
        self.Q = self.R if one_table else nn.Parameter(torch.randn(n, d))
        self.C = nn.Parameter(torch.randn(context, d, d))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Return the scores (batch, n) of the next word.

        Args:
            words: (batch, context), the words before.
        """
        predicted: torch.Tensor = torch.einsum("cij,bcj->bi", self.C, self.R[words])
        return predicted @ self.Q.T


def rows_in_use(model: LogBilinear) -> int:
    """Return how many rows of the table that is read take part in one prediction's loss."""
    loss = nn.functional.cross_entropy(model(torch.tensor([[1, 2]])), torch.tensor([3]))
    (gradient,) = torch.autograd.grad(loss, model.R)
    return int((gradient.abs().sum(1) > 0).sum())


def reads_and_scores_with_one_table(model: LogBilinear) -> bool:
    """Say whether every row takes part, as it must where the table scores, too."""
    return rows_in_use(model) == len(model.R)
