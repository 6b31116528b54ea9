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


def plain_lookup(tokens: int, width: int) -> Count:
    """Return the work of looking tokens up in a plain table."""
    table, rows = torch.ones(VOCABULARY, width), torch.arange(tokens) % VOCABULARY
    return counted(F.embedding, rows, table)


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


def forward_and_backward(tokens: int, factors: int, length: int) -> tuple[int, int]:
    """Return the multiplications of multiplying factors out, and of the pass back through it."""
    E = torch.ones(tokens, factors, length, requires_grad=True)
    with Count() as forward:
        embedding = products_made(E)[-1]
    gradient = torch.ones_like(embedding)
    with Count() as backward:
        embedding.backward(gradient)
    return forward.multiplications, backward.multiplications


def largest_made(tokens: int, factors: int, length: int) -> int:
    """Return the entries of the largest tensor made when the tokens' factors are multiplied out."""
    return counted(products_made, torch.ones(tokens, factors, length)).largest


def peak_over_result(tokens: int, factors: int, length: int, *, training: bool) -> float:
    """Return the most bytes alive while factors are multiplied out, over those of the result.

    Args:
        tokens, factors, length: how many tokens, factors for each, and entries of a factor.
        training: whether autograd keeps what the backward pass needs.
    """
    E = torch.ones(tokens, factors, length, requires_grad=training)
    with Count() as count:
        result = tensor_product(E.unbind(1))
    return count.peak / result.nbytes


class TokenByToken(TensorProductEmbedding):
    """A table of tensor products that makes the same rows in a loop over tokens."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the embeddings (T, d) of tokens (T,)."""
        return torch.stack([super(TokenByToken, self).forward(token) for token in tokens])
