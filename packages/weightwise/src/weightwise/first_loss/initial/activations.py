"""Second moments of activations of normal numbers, and their overlap for two that are correlated.

With f(sz) = Σ a_k h_k(z), h_k the normalised Hermite polynomials, two standard normal numbers of
correlation c give E f(sz) f(sz') = Σ a_k² c^k (Mehler's formula).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import erf, expit

NODES = np.linspace(-12, 12, 1601)
DENSITY = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()
_MOST = 24


def _gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + erf(x / math.sqrt(2))) / 2


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    cubic = x + 0.044715 * x * x**2  # NumPy's x**3 takes twenty times as long
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * cubic)) / 2


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_fast": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "gelu_python": _gelu,
    "quick_gelu": lambda x: x * expit(1.702 * x),
    "silu": lambda x: x * expit(x),
    "swish": lambda x: x * expit(x),
    "tanh": np.tanh,
    "relu2": lambda x: np.maximum(x, 0.0) ** 2,
    "linear": lambda x: x,
}


def _hermite() -> np.ndarray:
    """The first polynomials at the nodes, (k, nodes)."""
    rows = [np.ones_like(NODES), NODES]
    for k in range(1, _MOST):
        rows.append((NODES * rows[k] - math.sqrt(k) * rows[k - 1]) / math.sqrt(k + 1))
    return np.array(rows) * DENSITY


_HERMITE = _hermite()


def second_moments(activation: str, deviation: np.ndarray) -> np.ndarray:
    """E f(s z)², for each of some deviations s (T,)."""
    each, where = np.unique(np.round(deviation, 7), return_inverse=True)
    values = ACTIVATIONS[activation](each[:, None] * NODES)
    found: np.ndarray = (values**2 @ DENSITY)[where]
    return found


def tails_of(activation: str, deviation: np.ndarray) -> np.ndarray:
    """E f(s z)⁴ over the square of E f(s z)²: 3 for a linear one."""
    squares = ACTIVATIONS[activation](deviation[:, None] * NODES) ** 2
    found: np.ndarray = (squares**2 @ DENSITY) / (squares @ DENSITY) ** 2
    return found


def overlaps(activation: str, deviation: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """E f(s_i z_i) f(s_j z_j) for normal numbers of the given cosines (T, T).

    The deviations (T,) are close to each other: the series is taken at their mean.
    """
    moments = second_moments(activation, deviation)
    middle = np.array([math.sqrt(float((deviation**2).mean()))])
    series = (_HERMITE @ ACTIVATIONS[activation](middle * NODES)) ** 2
    total = float(second_moments(activation, middle)[0])
    series = np.append(series, max(0.0, total - series.sum()))  # what is left, at the next power
    found = np.polynomial.polynomial.polyval(cosine, series)
    if total > 0:
        size = np.sqrt(moments / total)
        found = found * size[:, None] * size
    np.fill_diagonal(found, moments)
    return found


def slope_overlaps(activation: str, deviation: float, cosine: np.ndarray) -> np.ndarray:
    """E f'(s z) f'(s z') for normal numbers of the given cosines (T, T)."""
    at = max(deviation, 1e-9) * NODES
    slope = np.gradient(ACTIVATIONS[activation](at), at)
    series = (_HERMITE @ slope) ** 2
    series = np.append(series, max(0.0, float(slope**2 @ DENSITY) - series.sum()))
    found: np.ndarray = np.polynomial.polynomial.polyval(cosine, series)
    return found
