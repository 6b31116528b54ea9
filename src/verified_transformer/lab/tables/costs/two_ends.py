"""Multiplications at the two ends of a model: a look-up of tokens, and scores of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from ....models.counting import Count
from ....models.factorised.products import tensor_product
from ....seeds import generator

Work = tuple[int, int]  # of a plain table, and of a factorised one


def random(*shape: int, name: str = "background") -> torch.Tensor:
    """Draw standard normal numbers in double precision, with the seed of a name."""
    return torch.randn(*shape, dtype=torch.float64, generator=generator(name))


def multiplications(work: Callable[[], object]) -> int:
    """Return how many multiplications the torch calls of a function make."""
    with Count() as count:
        work()
    return count.multiplications


def thin_lookup(n: int, d: int, r: int, T: int = 1) -> Work:
    """Count a look-up of T tokens in a table (n, d), and in two matrices (n, r), (r, d)."""
    tokens = torch.arange(T) % n
    E, A, B = random(n, d), random(n, r), random(r, d)
    plain = multiplications(lambda: F.embedding(tokens, E))
    return plain, multiplications(lambda: F.embedding(tokens, A) @ B)


def thin_scores(n: int, d: int, r: int, T: int = 1) -> Work:
    """Count the scores of T states by a table (n, d), and by two matrices (n, r), (r, d)."""
    x, E, A, B = random(T, d), random(n, d), random(n, r), random(r, d)
    plain = multiplications(lambda: x @ E.T)
    return plain, multiplications(lambda: x @ B.T @ A.T)


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
    plain = multiplications(lambda: E @ state)
    return plain, multiplications(lambda: folded_scores(factors, state))


def product_lookup(n: int, q: int, k: int, T: int = 5) -> Work:
    """Count a look-up of T tokens, where embeddings are products of k vectors of length q."""
    factors, tokens = [random(n, q)] * k, torch.arange(T) % n
    E = tensor_product(factors)
    plain = multiplications(lambda: F.embedding(tokens, E))
    made = multiplications(lambda: tensor_product([F.embedding(tokens, f) for f in factors]))
    return plain, made


def one_hot_product_lookup(n: int, q: int, k: int, T: int = 5) -> Work:
    """The same look-ups, written as products with one-hot rows."""
    picks, factors = F.one_hot(torch.arange(T) % n, n).double(), [random(n, q)] * k
    E = tensor_product(factors)
    plain = multiplications(lambda: picks @ E)
    return plain, multiplications(lambda: tensor_product([picks @ f for f in factors]))
