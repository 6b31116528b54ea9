"""Lookups of tokens in one table, or in one table for each factor: what they store and count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ....models.counting import Count
from ....models.factorised import TensorProductEmbedding
from ....models.factorised.products import tensor_product
from ..ways.multiplying_out import products_made
from .work import counted

VOCABULARY = 23


def parameters(lengths: Sequence[int], rows: int) -> int:
    """Return the parameters of a table of tensor products, built without memory.

    Args:
        lengths: of the factors; one length is a plain table.
        rows: number of tokens.
    """
    table = TensorProductEmbedding(rows, lengths, device="meta")
    return sum(factor.numel() for factor in table.parameters())


def equal_parameters(rows: int, factors: int, length: int) -> int:
    """Return the parameters of a table whose rows are products of so many vectors of a length."""
    return parameters([length] * factors, rows)


def width_of(lengths: Sequence[int]) -> int:
    """Return how long the tensor product of vectors of these lengths is, from the executed one."""
    return tensor_product([torch.empty(length, device="meta") for length in lengths]).numel()


def factorised_lookup(
    tokens: int, factors: int, length: int, join: Callable[[torch.Tensor], Any] = products_made
) -> Count:
    """Return the work of looking up tokens whose vectors are products.

    Args:
        tokens, factors, length: how many tokens, factors for each, and entries of a factor.
        join: function of the factors (tokens, factors, length); one after the other by default.
    """
    tables = [torch.ones(VOCABULARY, length) for _ in range(factors)]
    rows = torch.arange(tokens) % VOCABULARY

    def lookup() -> None:
        join(torch.stack([F.embedding(rows, table) for table in tables], dim=1))

    return counted(lookup)
