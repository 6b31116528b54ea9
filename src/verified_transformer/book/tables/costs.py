"""What it costs to look tokens up in short vectors: multiplications, numbers kept, at any sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
import torch

from verifiedbook.seeds import generator
from weightwise.counting import Count
from weightwise.factorised import TensorProductEmbedding
from weightwise.factorised.products import tensor_product

from ..layers import standard_normal


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


def product_scores(n: int, q: int, k: int) -> tuple[int, int]:
    """Count the scores of one state by a plain table, and by products of k vectors of length q."""
    factors = [standard_normal(f"factor {i}", n, q) for i in range(k)]
    state = standard_normal("background", q**k)
    E = tensor_product(factors)
    if not torch.allclose(folded_scores(factors, state), E @ state):
        raise ArithmeticError("the folded scores are not those of the table")
    plain = counted(lambda: E @ state).multiplications
    return plain, counted(lambda: folded_scores(factors, state)).multiplications


def at_sizes(function: Callable[..., Any], *sizes: Any) -> Callable[[Mapping[Any, Any]], Any]:
    """Return an exact oracle: the function, called with the sizes that a point gives.

    Args:
        function: of whole numbers.
        sizes: symbols or formulas, such as ``d / k``.

    Returns:
        Function of a point.

    Raises:
        ValueError: at a point where a size is no whole number.

    Example:
        >>> from verified_transformer import symbols
        >>> d, k = symbols("d k")
        >>> at_sizes(pow, d / k, k)({d: 12, k: 4})
        81
    """

    def oracle(point: Mapping[Any, Any]) -> Any:
        found = [sp.sympify(size).subs(dict(point)) for size in sizes]
        if not all(size.is_Integer for size in found):
            raise ValueError(f"point: gives the sizes {found}; accepted: whole numbers")
        return function(*map(int, found))

    return oracle
