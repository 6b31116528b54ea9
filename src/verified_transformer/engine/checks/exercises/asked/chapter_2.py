"""Functions that the exercises of chapter two ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem

_INTS = np.arange(1.0, 13.0)


def head_gradient(table: np.ndarray, h: np.ndarray, label: int) -> np.ndarray:
    """The gradient of the cross-entropy by the head's rows, for one state and its label."""
    z = table @ h
    p = np.exp(z - z.max())
    p /= p.sum()
    p[label] -= 1
    return np.outer(p, h)


def _label_forgotten(table: Any, h: Any, label: Any) -> Any:
    gradient = head_gradient(table, h, label)
    gradient[label] += h
    return gradient


def _uphill(table: Any, h: Any, label: Any) -> Any:
    return -head_gradient(table, h, label)


def _turned(table: Any, h: Any, label: Any) -> Any:
    return head_gradient(table, h, label).T


PROBLEMS = {
    "head_gradient": Problem(
        head_gradient,
        ((_INTS.reshape(4, 3) / 10, np.array([1.0, -2.0, 0.5]), 2),
         (_INTS.reshape(6, 2) / 10 - 0.4, np.array([0.3, 1.5]), 0)),
        ((_label_forgotten, "That is the slope of $\\log\\sum_k e^{z_k}$; there is $-z_y$, too."),
         (_uphill, "The sign: a gradient points to where the loss rises. The label's row must have "
          "$p_y-1$, which is negative."),
         (_turned, "The rows are those of the table: one for each token, as long as the state.")),
    ),
}  # fmt: skip
