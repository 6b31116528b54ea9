"""What attention leaves of the second moment of the values that it averages.

With logits that are independent normal numbers of variance η², t softmax weights a have
E Σ a² = t ∫ u E[e^{2l} exp(-u e^l)] E[exp(-u e^l)]^{t-1} du: 1/t for η = 0, e^{η²}/t for large t.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

_STEP = 0.25
_MOST_VARIANCE = 60.0


def concentration(variance: float, most: int) -> np.ndarray:
    """E Σ a² of 1 … most softmax weights of iid normal logits of a variance.

    Beyond a large one the largest weight is alone but where the next logit is about as large, which
    has a chance as 1/η: there 1 - E Σ a² falls so.
    """
    counts = np.arange(1, most + 1)
    if variance <= 1e-12:
        return 1.0 / counts
    if variance > _MOST_VARIANCE:
        spread: np.ndarray = 1 - concentration(_MOST_VARIANCE, most)
        return 1 - spread * math.sqrt(_MOST_VARIANCE / variance)
    η = math.sqrt(variance)
    pace = min(_STEP, 0.5 / η)
    z = np.arange(-8.5 - 2 * η, 8.5 + 2 * η + pace, pace)
    weight = np.exp(-(z**2) / 2) * pace / math.sqrt(2 * math.pi)
    level = np.arange(-3 - 9 * η - math.log(most), 5 + 9 * η, 0.2)  # log u
    logit = η * z
    exposed = np.exp(np.clip(level[:, None] + logit, -700, 700))
    left = np.exp(-exposed)
    laplace = np.minimum(left @ weight, 1.0)
    twice = (exposed**2 * left) @ weight
    others = np.exp((counts[:, None] - 1) * np.log(np.maximum(laplace, 1e-300)))
    found: np.ndarray = counts * 0.2 * (others @ twice)
    found[0] = 1.0
    return np.clip(found, 1.0 / counts, 1.0)


def squared_lengths(degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Five nodes and weights for a mean over a chi-squared number divided by its mean.

    Gauss-Laguerre's, by the matrix of the recurrence (SciPy's own loads its linear algebra, for as
    long as a prediction takes).
    """
    k, half = np.arange(5), degrees / 2
    beside = np.diag(np.sqrt(k[1:] * (k[1:] + half - 1)), 1)
    nodes, vectors = np.linalg.eigh(np.diag(2 * k + half) + beside + beside.T)
    return nodes / half, vectors[0] ** 2


class Averaging:
    """E Σ a² of up to ``most`` weights, for any variance of the logits up to one.

    Args:
        variance: of an attention logit, for keys that are independent.
        most: number of keys.
        spread: degrees of freedom of a query's squared length; None where it is fixed.
    """

    def __init__(self, variance: float, most: int, spread: int | None) -> None:
        self.variance = variance
        self._at = variance * np.linspace(0, 1, 9) ** 2
        length, share = np.ones(1), np.ones(1)
        if spread is not None and spread >= 4:
            length, share = squared_lengths(spread)
        self._table = np.array(
            [
                sum(
                    part * concentration(each * at, most)
                    for each, part in zip(length, share, strict=True)
                )
                for at in self._at
            ]
        )

    def exponents(self, count: np.ndarray, common: np.ndarray) -> np.ndarray:
        """Exponents x such that e^x/(e^x + t - 1) is the E Σ a² of t keys with a mean overlap."""
        apart = np.clip(1 - common, 1e-6, 1.0)
        kept = np.array(
            [
                np.interp(part * self.variance, self._at, self._table[:, int(t) - 1])
                for t, part in zip(count, apart, strict=True)
            ]
        )
        rest = np.maximum(1 - kept, 1e-12)
        odds = kept * np.maximum(count - 1, 1e-9) / rest
        return np.where(count > 1, np.log(np.maximum(odds, 1.0)), 0.0) / apart


averaging = lru_cache(maxsize=16)(Averaging)  # a loss and its gradient ask for the same


def averaged(
    values: np.ndarray,
    keys: np.ndarray,
    queries: np.ndarray,
    exponent: np.ndarray,
    seen: Window,
    d: int,
) -> np.ndarray:
    """Overlaps (T, T) of attention's outputs, given those of values and keys and of the queries.

    The product of two weights is taken as exp(x q_tt' k_ss') over its sum, x the exponents of t
    and t': right for t = t', where x was made so, and where the weights are flat. Two states of d
    entries have cosines that differ by 1/√d from their mean, and keys that happen to be alike are
    looked at together: that adds x/d.
    """
    chance = (1 - keys**2) / d
    np.fill_diagonal(chance, 0.0)
    size = np.sqrt(np.diagonal(values))
    chance = chance * size[:, None] * size
    power = np.sqrt(exponent[:, None] * exponent) * queries
    above = weights = np.zeros_like(power)
    term, factor = np.ones_like(keys), np.ones_like(power)
    largest = float(np.abs(power).max(initial=0.0))
    for m in range(1, 12 + math.ceil(4 * largest)):
        weights = weights + factor * seen.sums(term)
        above = above + factor * seen.sums(term * values + (chance if m == 2 else 0.0))
        term, factor = term * keys, factor * power / m
        if float(np.abs(factor).max(initial=0.0)) < 1e-9:
            break
    found: np.ndarray = above / weights
    return found


class Window:
    """Which keys a query sees: those up to itself, a window of them, or all."""

    def __init__(self, queries: int, keys: int, causal: bool, reach: int | None) -> None:
        self.queries, self.causal = queries, causal
        self.reach = reach if reach is not None and reach < keys else None
        t = np.arange(1, queries + 1)
        most = keys if self.reach is None else self.reach
        self.count = np.minimum(t, most) if causal else np.full(queries, keys)
        self.pairs = np.maximum(self.count * (self.count - 1), 1)

    def seen(self) -> np.ndarray:
        """One where a query t sees a key s, (T, T)."""
        back = np.arange(self.queries)[:, None] - np.arange(self.queries)
        return ((back >= 0) | (not self.causal)) & (back < (self.reach or self.queries))

    def sums(self, term: np.ndarray) -> np.ndarray:
        """The sum of term[s, s'] over what t and t' see, for each t, t'."""
        if not self.causal:
            return np.full((self.queries, self.queries), term.sum())
        total = np.zeros((len(term) + 1, len(term) + 1))
        total[1:, 1:] = term.cumsum(0).cumsum(1)
        if self.reach is None:
            return total[1:, 1:]
        t = np.arange(1, self.queries + 1)
        low = np.maximum(t - self.reach, 0)
        found: np.ndarray = (
            total[np.ix_(t, t)]
            - total[np.ix_(low, t)]
            - total[np.ix_(t, low)]
            + total[np.ix_(low, low)]
        )
        return found


class Sloped(Window):
    """Keys that weigh less for each token further back, by a factor exp(-slope) (ALiBi).

    ``count`` is then the number of keys that, seen alike, would be averaged as much.
    """

    def __init__(self, queries: int, slope: float) -> None:
        super().__init__(queries, queries, True, None)
        back = np.arange(queries)[:, None] - np.arange(queries)
        weight = np.where(back >= 0, np.exp(-slope * np.maximum(back, 0)), 0.0)
        self._weight = weight / weight.sum(1, keepdims=True)
        kept = (self._weight**2).sum(1)
        self.count = np.round(1 / kept)
        self.pairs = np.maximum(1 - kept, 1e-9)

    def sums(self, term: np.ndarray) -> np.ndarray:
        """The mean of term[s, s'] over what t and t' see, by weight."""
        found: np.ndarray = self._weight @ term @ self._weight.T
        return found


def representatives(slopes: tuple[float, ...], most: int = 8) -> list[tuple[float, float]]:
    """A few slopes for many, each with its share: geometric means of neighbours."""
    groups = np.array_split(np.sort(np.log(slopes)), min(most, len(slopes)))
    return [(math.exp(float(group.mean())), len(group) / len(slopes)) for group in groups]
