"""Functions that the exercises of chapter three ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem


def first_loss(logits: np.ndarray, label: int) -> float:
    """The cross-entropy of a label, computed so that no exponential overflows."""
    top = np.max(logits)
    return top + np.log(np.exp(logits - top).sum()) - logits[label]


def _without_top(logits: Any, label: Any) -> Any:
    top = np.max(logits)
    return np.log(np.exp(logits - top).sum()) - logits[label]


def _mean_instead(logits: Any, label: Any) -> Any:
    top = np.max(logits)
    return top + np.log(np.exp(logits - top).mean()) - logits[label]


def _probability(logits: Any, label: Any) -> Any:
    return np.exp(-first_loss(logits, label))


PROBLEMS = {
    "first_loss": Problem(
        first_loss, ((np.array([1.0, 2.0, 0.5]), 0), (np.array([900.0, 0.0, 3.0, 1.0]), 1)),
        ((_without_top, "You took the largest logit out of the exponentials, and forgot to put it "
          "back."),
         (_mean_instead, "The sum of the exponentials, not their mean: you are off by $\\log n$."),
         (_probability, "That is the probability of the label; its loss is minus the logarithm.")),
    ),
}  # fmt: skip
