"""Functions that the exercises of chapter one ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..problem import Problem


def gain(f: Callable[[np.ndarray], np.ndarray]) -> float:
    """The factor that makes the second moment of f of a standard normal number one."""
    x, w = np.polynomial.hermite_e.hermegauss(60)
    return 1 / np.sqrt((w @ f(x) ** 2) / w.sum())


def _from_mean(f: Any) -> Any:
    x, w = np.polynomial.hermite_e.hermegauss(60)
    return 1 / np.abs((w @ f(x)) / w.sum())


def _without_root(f: Any) -> Any:
    return gain(f) ** 2


def _upside_down(f: Any) -> Any:
    return 1 / gain(f)


def _smooth_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def rms_backward(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The gradient that RMS Norm passes back."""
    size = np.sqrt(np.mean(x**2))
    y = x / size
    return (g - (y @ g) / len(x) * y) / size


def _only_divided(x: Any, g: Any) -> Any:
    return g / np.sqrt(np.mean(x**2))


def _not_divided(x: Any, g: Any) -> Any:
    return rms_backward(x, g) * np.sqrt(np.mean(x**2))


def _by_the_length(x: Any, g: Any) -> Any:
    return rms_backward(x, g) / np.sqrt(len(x))


def _whole_product(x: Any, g: Any) -> Any:
    size = np.sqrt(np.mean(x**2))
    y = x / size
    return (g - (y @ g) * y) / size


def shared_by(s: np.ndarray) -> float:
    """The number of keys that share the attention of a row of logits."""
    p = np.exp(s - np.max(s))
    return p.sum() ** 2 / (p**2).sum()


def _by_the_winner(s: Any) -> Any:
    p = np.exp(s - np.max(s))
    return p.sum()


def _by_entropy(s: Any) -> Any:
    p = np.exp(s - np.max(s))
    p = p[p > 0] / p.sum()
    return np.exp(-(p * np.log(p)).sum())


def _sum_of_squares(s: Any) -> Any:
    return 1 / shared_by(s)


PROBLEMS = {
    "gain": Problem(
        gain, ((np.tanh,), (_smooth_sigmoid,)),
        ((_from_mean, "The next sum needs no mean of $f$: take the mean of its square."),
         (_without_root, "A factor $c$ in front of $f$ multiplies the second moment by $c^2$."),
         (_upside_down, "That is what the function does; you want what undoes it.")),
    ),
    "rms_backward": Problem(
        rms_backward,
        ((np.array([3.0, -4.0]), np.array([1.0, 2.0])),
         (np.array([-1.0, 0.0, 1.0, 2.0, 3.0]), np.array([25.0, 36.0, 49.0, 64.0, 81.0]))),
        ((_only_divided, "That is a plain division. The size depends on `x`, too: take away the "
          "part along `y`."),
         (_not_divided, "Perpendicular, but not divided by the size."),
         (_by_the_length, "Divide by the root mean square, not by the length."),
         (_whole_product, "`y` has the squared length $d$, so its part of `g` is $(y\\cdot g)/d$ "
          "times `y`.")),
    ),
    "shared_by": Problem(
        shared_by, ((np.array([1.0, 2.0, 0.5]),), (np.array([990.0, 1000.0, 3.0, 999.0]),)),
        ((_by_the_winner, "That is one over the *largest* weight."),
         (_by_entropy, "That is the exponential of the entropy, another good measure. Asked is one "
          "over the sum of squares."),
         (_sum_of_squares, "That is $S$ itself.")),
    ),
}  # fmt: skip
