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


def first_excess(n: int, d: int, sigma: float, gain: float, turned: bool) -> float:
    """What the strangers and the own token cost an identity model, in nats above log n."""
    m = 0.0 if turned else gain * d * sigma
    half_variance = (gain * sigma) ** 2 * d / 2
    return half_variance + np.log1p(np.exp(m - half_variance) / n)


def _eq_9(n: Any, d: Any, sigma: Any, gain: Any, turned: Any) -> Any:
    return np.log1p(np.exp((not turned) * gain * d * sigma) / n)


def _gain_once(n: Any, d: Any, sigma: Any, gain: Any, turned: Any) -> Any:
    m, cost = (not turned) * gain * d * sigma, gain * sigma**2 * d / 2
    return cost + np.log1p(np.exp(m - cost) / n)


def _turned_to_nothing(n: Any, d: Any, sigma: Any, gain: Any, turned: Any) -> Any:
    return 0.0 if turned else first_excess(n, d, sigma, gain, False)


PROBLEMS = {
    "first_excess": Problem(
        first_excess,
        ((1000, 64, 0.1, 1.0, False), (1000, 64, 0.1, 0.5, False), (500, 32, 0.2, 0.7, True)),
        ((_eq_9, "You count each stranger as 1. The spread of their logits costs half a variance."),
         (_gain_once, "A factor on a logit multiplies its variance by the factor's square."),
         (_turned_to_nothing, "Strangers still disagree: $s^2/2$ is left when the state is "
          "turned.")),
    ),
    "first_loss": Problem(
        first_loss, ((np.array([1.0, 2.0, 0.5]), 0), (np.array([900.0, 0.0, 3.0, 1.0]), 1)),
        ((_without_top, "You took the largest logit out of the exponentials, and forgot to put it "
          "back."),
         (_mean_instead, "The sum of the exponentials, not their mean: you are off by $\\log n$."),
         (_probability, "That is the probability of the label; its loss is minus the logarithm.")),
    ),
}  # fmt: skip
