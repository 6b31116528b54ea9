"""What "tiled cyclically" could mean: matrices made of a vector, and the vector that they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import torch

from ..ways.chains import DIAGONAL, applied, on_diagonal
from ..ways.multiplying_out import Vectors, copies, multiplied_out, rows_of, whole_length

Matrices = Callable[[Vectors], list[torch.Tensor]]


def same_period(x: Vectors) -> list[torch.Tensor]:
    """Return diagonal matrices on which each vector is repeated until the diagonal is full."""
    return [on_diagonal(f.repeat(whole_length(x) // len(f))) for f in rows_of(x)]


def circulant(x: Vectors) -> list[torch.Tensor]:
    """Return circulant matrices: each vector, filled up with zeros, rolled on by column."""
    size = whole_length(x)
    padded = [torch.cat([f, f.new_zeros(size - len(f))]) for f in rows_of(x)]
    return [torch.stack([p.roll(s) for s in range(size)], 1) for p in padded]


def equal_columns(x: Vectors) -> list[torch.Tensor]:
    """Return matrices whose columns are all the same vector, as many as fit."""
    return [f[:, None].expand(-1, whole_length(x) // len(f)) for f in rows_of(x)]


READINGS: dict[str, Matrices] = {
    "diagonal, each copy at its place": DIAGONAL.matrices,
    "diagonal, all with one period": same_period,
    "circulant": circulant,
    "equal columns": equal_columns,
    "core of three dimensions": lambda x: [f.reshape(1, -1, 1) for f in rows_of(x)],
    "whole array": copies,
}


def ends(x: Vectors, number: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return readings of the vector at the end that holds a number."""
    ones = rows_of(x)[0].new_ones(whole_length(x))
    first = torch.zeros_like(ones)
    first[0] = number
    return {"times ones": number * ones, "first entry": first, "length 1": number * ones[:1]}


def outcome(x: Vectors, matrices: Sequence[torch.Tensor], v: torch.Tensor) -> str:
    """Say what a chain gives: "right", "other values", another shape, or none.

    Args:
        x: the vectors whose tensor product is wanted.
        matrices: one for each vector; arrays (1, q, 1) are contracted as cores of a train.
        v: the vector at the end.
    """
    cores = matrices[0].dim() == 3 and matrices[0].shape[0] == 1
    try:
        found = _contracted(matrices, v) if cores else applied(matrices, v)
    except RuntimeError:
        return "shapes do not fit"
    if found.shape != (whole_length(x),):
        return f"shape {tuple(found.shape)}"
    return "right" if torch.equal(found, multiplied_out(x)) else "other values"


def as_train(x: Vectors) -> torch.Tensor:
    """Return the product (q^k,) of vectors as cores (1, q, 1) of a train, which ends in a one."""
    cores = [f.reshape(1, -1, 1) for f in rows_of(x)]
    return _contracted(cores, cores[0].new_ones(1))


def _contracted(cores: Sequence[torch.Tensor], v: torch.Tensor) -> torch.Tensor:
    whole = reduce(lambda a, b: torch.tensordot(a, b, 1), cores)
    return whole.reshape(-1, 1) @ v


def some_reading_is_right(number: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Whether one of the readings gives the tensor product at each of three sizes.

    Args:
        number: function of the vectors (k, q); the number that the vector at the end holds.
    """
    for length, many in ((2, 3), (3, 2), (2, 4)):
        x = torch.arange(1, length * many + 1, dtype=torch.float64).reshape(many, length) + 1
        vs = ends(x, number(x)).values()
        if "right" not in [outcome(x, build(x), v) for build in READINGS.values() for v in vs]:
            return False
    return True
