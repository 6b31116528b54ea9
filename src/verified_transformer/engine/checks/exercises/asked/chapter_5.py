"""Functions that the exercises of chapter five ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..problem import Problem


def multiply_out(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """The tensor product of several vectors, one after the other."""
    product = np.ones(1)
    for vector in vectors:
        product = np.multiply.outer(product, vector).reshape(-1)
    return product


def dot_of_products(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> float:
    """The dot product of two tensor products, which are never made."""
    product = 1.0
    for a, b in zip(first, second, strict=True):
        product *= a @ b
    return product


def _added_up(first: Any, second: Any) -> Any:
    return sum(a @ b for a, b in zip(first, second, strict=True))


def _of_the_first(first: Any, second: Any) -> Any:
    return first[0] @ second[0]


def _from_the_end(vectors: Any) -> Any:
    return multiply_out(list(vectors)[::-1])


def _joined(vectors: Any) -> Any:
    return np.concatenate(list(vectors))


def widest_bond(rows: Sequence[int], columns: Sequence[int], budget: int) -> int:
    """The largest bond with which a tensor train stores at most so many numbers."""
    slices = [m * q for m, q in zip(rows, columns, strict=True)]

    def stored(r: int) -> int:
        return (slices[0] + slices[-1]) * r + sum(slices[1:-1]) * r**2

    bond = 0
    while stored(bond + 1) <= budget:
        bond += 1
    return bond


def _without_squares(rows: Any, columns: Any, budget: Any) -> Any:
    return budget // sum(m * q for m, q in zip(rows, columns, strict=True))


def _one_more(rows: Any, columns: Any, budget: Any) -> Any:
    return widest_bond(rows, columns, budget) + 1


def share_lost(table: np.ndarray, r: int) -> float:
    """The share of the squared length that the nearest matrix of rank r loses."""
    s = np.linalg.svd(table, compute_uv=False)
    return float((s[r:] ** 2).sum() / (s**2).sum())


def _not_squared(table: Any, r: Any) -> Any:
    s = np.linalg.svd(table, compute_uv=False)
    return s[r:].sum() / s.sum()


def _share_kept(table: Any, r: Any) -> Any:
    return 1 - share_lost(table, r)


def _length_lost(table: Any, r: Any) -> Any:
    return share_lost(table, r) ** 0.5


def gradient_of_second(G: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The gradient with respect to y of an embedding x (x) y, from that of the embedding."""
    return np.asarray(x @ np.asarray(G).reshape(len(x), -1))


def _of_first(G: Any, x: Any) -> Any:
    return np.asarray(G).reshape(-1, len(x)) @ x


def _summed(G: Any, x: Any) -> Any:
    return np.asarray(G).reshape(len(x), -1).sum(0)


_G = np.array([1.0, -2.0, 0.5, 3.0, 4.0, -1.0])
_TABLE = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0], [2.0, 0.0, -1.0]])


def band_parameters(bands: Sequence[tuple[int, int]], width: int) -> int:
    """The numbers stored for bands of (tokens, length of the code), each with its own matrix."""
    return sum(tokens * length + length * width for tokens, length in bands)


def _codes_alone(bands: Any, width: Any) -> Any:
    return sum(tokens * length for tokens, length in bands)


def _one_matrix(bands: Any, width: Any) -> Any:
    return _codes_alone(bands, width) + bands[0][1] * width


def nearest_product(row: np.ndarray, length: int) -> np.ndarray:
    """The tensor product of a vector of this length and another that comes nearest to a row."""
    left, values, right = np.linalg.svd(row.reshape(length, -1), full_matrices=False)
    return values[0] * np.outer(left[:, 0], right[0]).reshape(-1)


def _without_its_size(row: Any, length: Any) -> Any:
    left, _, right = np.linalg.svd(row.reshape(length, -1), full_matrices=False)
    return np.outer(left[:, 0], right[0]).reshape(-1)


def _column_times_row(row: Any, length: Any) -> Any:
    square = row.reshape(length, -1)
    return np.outer(square[:, 0], square[0]).reshape(-1)


def kronecker_row(factors: Sequence[np.ndarray], t: int) -> np.ndarray:
    """A row of a sum of Kronecker products: a short vector for each digit and rank, multiplied."""
    digits = np.unravel_index(t, [len(factor) for factor in factors])
    row = np.ones((factors[0].shape[1], 1))
    for factor, digit in zip(factors, digits, strict=True):
        row = (row[:, :, None] * factor[digit][:, None, :]).reshape(len(row), -1)
    return row.sum(axis=0)


def _summed_first(factors: Any, t: Any) -> Any:
    return kronecker_row([factor.sum(axis=1, keepdims=True) for factor in factors], t)


def _last_digit_first(factors: Any, t: Any) -> Any:
    digits = np.unravel_index(t, [len(factor) for factor in factors][::-1])[::-1]
    picked = [factor[digit][None] for factor, digit in zip(factors, digits, strict=True)]
    return kronecker_row(picked, 0)


def _numbers(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) * 7 % 11 - 4.0).reshape(shape)


_SHORT = (np.array([2.0, 3.0]), np.array([1.0, -1.0]), np.array([5.0, 7.0]))


_OTHER = (np.array([1.0, 4.0]), np.array([2.0, 1.0]), np.array([-1.0, 3.0]))
_FACTORS = [_numbers(3, 2, 2), _numbers(3, 2, 3) + 1, _numbers(3, 2, 2) - 2]


PROBLEMS = {
    "band_parameters": Problem(
        band_parameters,
        (([(6, 4), (9, 2)], 4), ([(20_000, 1024), (40_000, 256), (207_735, 64)], 1024)),
        ((_codes_alone, "The codes are counted; the matrices that widen them are not."),
         (_one_matrix, "Codes of different lengths cannot share a matrix: each band has one.")),
    ),
    "nearest_product": Problem(
        nearest_product,
        ((np.array([1.0, 2.0, 2.0, 4.0]), 2), (np.array([1.0, 0.0, 0.0, 3.0]), 2),
         (np.array([1.0, -2.0, 0.5, 2.0, 0.0, 3.0]), 2)),
        ((_without_its_size, "The directions are right; the singular value is missing."),
         (_column_times_row, "A row and a column of the rectangle make a product, but not the "
          "nearest one: take the first singular vectors.")),
    ),
    "dot_of_products": Problem(
        dot_of_products, ((_SHORT, _OTHER), (_SHORT[:2], _OTHER[1:]), (_OTHER, _OTHER)),
        ((_added_up, "That adds the dot products up. The sum over the grid is a product of "
          "sums."),
         (_of_the_first, "The other vectors count, too.")),
    ),
    "kronecker_row": Problem(
        kronecker_row, ((_FACTORS[:2], 5), (_FACTORS, 5), (_FACTORS, 19)),
        ((_summed_first, "The sum over the rank comes after the products, not before them."),
         (_last_digit_first, "The first digit of the token is the most significant: token 1 has "
          "the digits 0, …, 0, 1.")),
    ),
    "multiply_out": Problem(
        multiply_out, ((_SHORT[:2],), (_SHORT,), ((np.array([1.0, 2.0, 3.0]), _SHORT[0]),)),
        ((_from_the_end, "All products are there, in another order: the last index must run "
          "fastest."),
         (_joined, "That lays the vectors side by side; the product multiplies them.")),
    ),
    "widest_bond": Problem(
        widest_bond,
        (((37, 37, 37), (8, 8, 12), 87_616), ((37, 37, 37), (8, 8, 12), 87_615),
         ((20, 20, 20, 20), (8, 8, 8, 8), 300_000), ((5, 4), (3, 2), 100), ((5, 4), (3, 2), 22)),
        ((_without_squares, "An inner core has two bonds: it grows with the square of $r$."),
         (_one_more, "That is the first bond which is too dear.")),
    ),
    "gradient_of_second": Problem(
        gradient_of_second, ((_G, np.array([2.0, 3.0])), (_G, np.array([1.0, -1.0, 2.0]))),
        ((_of_first, "There $x$ would be the factor whose index runs fastest; it is the first."),
         (_summed, "Each row of the folded gradient is to be weighed with its entry of $x$.")),
    ),
    "share_lost": Problem(
        share_lost, ((_TABLE, 1), (_TABLE, 2), (_TABLE.T, 1)),
        ((_not_squared, "Those are shares of the sum of singular values; square them first."),
         (_share_kept, "That is what is kept."),
         (_length_lost, "That is the share of the length; the *squared* length was asked for.")),
    ),
}  # fmt: skip
