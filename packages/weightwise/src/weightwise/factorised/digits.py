"""Tables whose tokens are numbers, with a digit for each factor, the first the most significant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import nn

from .base import FactorisedEmbedding, prepared
from .decompositions import rearranged


class DigitEmbedding(FactorisedEmbedding):
    """What a sum of Kronecker products and a tensor train have in common."""

    row_sizes: tuple[int, ...]
    column_sizes: tuple[int, ...]

    @classmethod
    def _like(
        cls, weight: torch.Tensor | nn.Embedding, padding_idx: int | None, *sizes: Any
    ) -> tuple[Self, torch.Tensor, torch.Tensor]:
        """A module for a weight, the table to be factorised, and that rearranged."""
        table, options = prepared(weight, padding_idx)
        n, d = table.shape
        kind: Any = cls
        module = kind(*sizes, num_embeddings=n, embedding_dim=d, **options)
        return module, table, rearranged(table, module.row_sizes, module.column_sizes)

    def _unit(self) -> int:
        return math.prod(self.row_sizes[1:])

    @staticmethod
    def _part(factors: Sequence[torch.Tensor], first: int, last: int) -> list[torch.Tensor]:
        return [factors[0][:, first:last], *factors[1:]]

    def _sizes(self, n: int) -> dict[str, Any]:
        rows = (-(-n // self._unit()), *self.row_sizes[1:])  # the first as large as n tokens need
        return {"num_embeddings": n, "row_sizes": rows, "column_sizes": self.column_sizes}


def digits(tokens: torch.Tensor, sizes: Sequence[int], n: int) -> list[torch.Tensor]:
    """Return the mixed-radix digits of tokens, the first the most significant.

    A token outside 0 to n - 1 gets a first digit that is out of range, so that torch's own
    indexing refuses it: on CUDA without waiting for the device.

    Args:
        tokens: (T,).
        sizes: the radix of each digit; their product is at least n.
        n: number of tokens.
    """
    tokens = tokens.long()  # n may be beyond what an int32 holds
    found, rest = [], tokens
    for size in reversed(sizes[1:]):
        found.append(rest % size)
        rest = rest // size
    found.append(rest.masked_fill((tokens < 0) | (tokens >= n), sizes[0]))
    return found[::-1]
