"""What it costs to look tokens up in short vectors: multiplications, numbers kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ...models.counting import Count
from ...models.factorised import TensorProductEmbedding
from ...models.factorised.products import tensor_product
from ...seeds import generator
from .products import products_made


def counted(way: Callable[..., Any], *inputs: Any) -> Count:
    """Return the work and memory of calling ``way`` on ``inputs``, without gradients kept.

    Example:
        >>> counted(torch.mul, torch.ones(3), torch.ones(3)).multiplications
        3
    """
    with Count() as count:
        way(*inputs)
    return count


def whole_vectors(
    length: int, number: int, name: str = "whole numbers", *, batch: Sequence[int] = ()
) -> torch.Tensor:
    """Return vectors (\\*batch, number, length) of whole numbers from 1 to 7, in float64.

    Products of them are exact, so that different ways can be compared to the last bit.

    Raises:
        ValueError: ``length`` or ``number`` is not positive.
    """
    if length < 1 or number < 1:
        raise ValueError(f"length, number: got {length}, {number}; accepted: positive numbers")
    return torch.randint(1, 8, (*batch, number, length), generator=generator(name)).double()


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


# ---------------- the two ends of a model: multiplications of a plain table and of a factorised one

Work = tuple[int, int]  # of a plain table, and of a factorised one


def random(*shape: int, name: str = "background") -> torch.Tensor:
    """Draw standard normal numbers in double precision, with the seed of a name."""
    return torch.randn(*shape, dtype=torch.float64, generator=generator(name))


def thin_lookup(n: int, d: int, r: int, T: int = 1) -> Work:
    """Count a look-up of T tokens in a table (n, d), and in two matrices (n, r), (r, d)."""
    tokens = torch.arange(T) % n
    E, A, B = random(n, d), random(n, r), random(r, d)
    plain = counted(lambda: F.embedding(tokens, E)).multiplications
    return plain, counted(lambda: F.embedding(tokens, A) @ B).multiplications


def thin_scores(n: int, d: int, r: int, T: int = 1) -> Work:
    """Count the scores of T states by a table (n, d), and by two matrices (n, r), (r, d)."""
    x, E, A, B = random(T, d), random(n, d), random(n, r), random(r, d)
    plain = counted(lambda: x @ E.T).multiplications
    return plain, counted(lambda: x @ B.T @ A.T).multiplications


def folded_scores(factors: Sequence[torch.Tensor], state: torch.Tensor) -> torch.Tensor:
    """Return one score for each token, a factor at a time, the state folded into a cube.

    Args:
        factors: k of them, (n, q) each; a token's embedding is the product of its k rows.
        state: (q**k,).
    """
    n, q = factors[0].shape
    left = (factors[0] @ state.reshape(q, -1)).unsqueeze(1)
    for factor in factors[1:]:
        left = torch.bmm(factor.unsqueeze(1), left.reshape(n, q, -1))
    return left.reshape(n)


def product_scores(n: int, q: int, k: int) -> Work:
    """Count the scores of one state, where embeddings are products of k vectors of length q."""
    factors, state = [random(n, q, name=f"factor {i}") for i in range(k)], random(q**k)
    E = tensor_product(factors)
    if not torch.allclose(folded_scores(factors, state), E @ state):
        raise ArithmeticError("the folded scores are not those of the table")
    plain = counted(lambda: E @ state).multiplications
    return plain, counted(lambda: folded_scores(factors, state)).multiplications


def product_lookup(n: int, q: int, k: int, T: int = 5) -> Work:
    """Count a look-up of T tokens, where embeddings are products of k vectors of length q."""
    factors, tokens = [random(n, q)] * k, torch.arange(T) % n
    E = tensor_product(factors)
    plain = counted(lambda: F.embedding(tokens, E)).multiplications
    made = counted(
        lambda: tensor_product([F.embedding(tokens, f) for f in factors])
    ).multiplications
    return plain, made


def one_hot_product_lookup(n: int, q: int, k: int) -> Work:
    """The same look-ups, written as products with one-hot rows."""
    picks, factors = F.one_hot(torch.arange(5) % n, n).double(), [random(n, q)] * k
    E = tensor_product(factors)
    plain = counted(lambda: picks @ E).multiplications
    return plain, counted(lambda: tensor_product([picks @ f for f in factors])).multiplications
