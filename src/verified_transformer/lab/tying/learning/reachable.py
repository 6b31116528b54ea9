"""Which scores a tied model of a width can have: dimensions and twins, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from ....seeds import seed_of

# Random whole numbers meet a polynomial's zeros with probability at most its degree over their
# range (Schwartz, Zippel): of nine, a 2 x 2 body was singular under one seed in thirty.
_LARGEST = 10_000


def dimension(model: Callable[..., np.ndarray], *weights: np.ndarray) -> int:
    """Return the rank of the derivative of all scores by all weights, in integers.

    Args:
        model: scores of whole-numbered weights; at most quadratic in each weight's entry.
        weights: arrays of integers at which it is taken.
    """
    rows = []
    for i, weight in enumerate(weights):
        for place in np.ndindex(*weight.shape):
            ahead, back = ([w.copy() for w in weights] for _ in range(2))
            ahead[i][place] += 1
            back[i][place] -= 1
            rows.append(((model(*ahead) - model(*back)) // 2).ravel().tolist())
    shape = (len(rows), len(rows[0]))
    return int(DomainMatrix(rows, shape, sp.ZZ).convert_to(sp.QQ).rank())


def dimensions_lost(n: int, d: int) -> int:
    """Return how many dimensions of bilinear scores tying takes, at random whole numbers.

    Args:
        n: number of tokens.
        d: width; scores are w B uᵀ, and w B wᵀ where tied.
    """
    draw = np.random.default_rng(seed_of("dimensions")).integers
    w, u = draw(-_LARGEST, _LARGEST + 1, (2, n, d))
    body = draw(-_LARGEST, _LARGEST + 1, (d, d))
    untied = dimension(lambda w, body, u: w @ body @ u.T, w, body, u)
    return untied - dimension(lambda w, body: w @ body @ w.T, w, body)


def tied_twin(goal: sp.Matrix, width: int) -> tuple[sp.Matrix, sp.Matrix] | None:
    """Return a table and a body whose tied scores are these, or None where the width is too small.

    Args:
        goal: scores, (n, n).
        width: of the tied model.
    """
    both = goal.row_join(goal.T)
    basis = sp.Matrix.hstack(*both.columnspace())
    if basis.cols > width:
        return None
    table = basis.row_join(sp.zeros(goal.rows, width - basis.cols))
    left = (basis.T * basis).inv() * basis.T
    body = sp.zeros(width, width)
    body[: basis.cols, : basis.cols] = left * goal * left.T
    return table, body


def reached(n: int, inside: int, width: int) -> list[bool]:
    """Say which of three random pairs of tables a tied model of a width reaches.

    Args:
        n: number of tokens.
        inside: width of the two tables.
        width: of the tied model.
    """
    draw, found = np.random.default_rng(seed_of("pairs")).integers, []
    for _ in range(3):
        first, second = (sp.Matrix(draw(-_LARGEST, _LARGEST + 1, (n, inside))) for _ in range(2))
        twin = tied_twin(first * second.T, width)
        found.append(twin is not None and twin[0] * twin[1] * twin[0].T == first * second.T)
    return found
