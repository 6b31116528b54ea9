"""The law of a logsumexp of normal logits, to eleven digits for any number and any spread of them.

For positive S and a standard Gumbel number g that is independent of it, Y = log S + g has the
distribution function P(Y <= y) = E exp(-S exp(-y)), and a Laplace transform of a sum of independent
terms is a product. So, with S the sum of `count` exponentials of independent normal numbers,
P(Y <= y) = (1 - M(y))**count, where M is one minus the Laplace transform of a lognormal number:
an integral of positive terms without cancellation. Y is smooth on the scale
max(1, spread / sqrt(2 log count)), on which it is kept as a polynomial in pieces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

DEGREE = 17  # of the polynomial on a piece
_WIDE = 1.5  # spreads below: average over the normal number; above: over the exponential one
_POINTS = 4096  # evaluated at a time, so that they stay in a processor's cache
_STEP = 0.33  # of the trapezoidal rules; their integrands are analytic to a height of π/2
_NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))[::-1]
_FIT = np.linalg.inv(np.polynomial.chebyshev.chebvander(_NODES, DEGREE))
_INTEGRAL = np.polynomial.chebyshev.chebint(np.eye(DEGREE + 1), lbnd=-1)  # of series, a matrix

# The Gumbel number's quadrature: density exp(-x - exp(-x)), weights that add up to one.
_X = np.arange(-3.7, 31, _STEP)
_GUMBEL = np.exp(-_X - np.exp(-_X))
_GUMBEL = _GUMBEL / _GUMBEL.sum()


@dataclass(frozen=True)
class Pieces:
    """A function as a Chebyshev series on each of adjacent intervals.

    ``edges`` (p + 1,) ascending, ``series`` (k, p): a column is the series of an interval.
    """

    edges: np.ndarray
    series: np.ndarray

    @classmethod
    def through(cls, edges: np.ndarray, values: np.ndarray) -> Pieces:
        """From values (p, DEGREE + 1) at the nodes of each interval."""
        return cls(edges, _FIT @ values.T)

    def antiderivative(self) -> Pieces:
        """The integral from the first edge on."""
        parts = _INTEGRAL @ self.series * np.diff(self.edges) / 2
        parts[0, 1:] += np.cumsum(parts.sum(0))[:-1]  # every Chebyshev polynomial is 1 at 1
        return Pieces(self.edges, parts)

    def total(self) -> float:
        """The value at the last edge."""
        return float(self.series[:, -1].sum())

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at points between the outermost edges."""
        points = np.ravel(x)
        starts = range(0, len(points) or 1, _POINTS)
        found = [self._at(points[start : start + _POINTS]) for start in starts]
        return np.concatenate(found).reshape(np.shape(x))

    def _at(self, x: np.ndarray) -> np.ndarray:
        last = len(self.edges) - 2
        index = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, last)
        left, right = self.edges[index], self.edges[index + 1]
        at = (2 * x - left - right) / (right - left)
        twice = 2 * at
        after = before = np.zeros_like(at)
        for row in self.series[:0:-1]:
            after -= twice * before
            after, before = before, row.take(index) - after
        return at * before - after + self.series[0].take(index)


def nodes(edges: np.ndarray) -> np.ndarray:
    """Where values are wanted on each interval, (p, DEGREE + 1)."""
    return edges[:-1, None] + np.diff(edges)[:, None] * (1 + _NODES) / 2


def scale_of(count: int, spread: float) -> float:
    """On what scale the law of a logsumexp, with a Gumbel number added, is smooth."""
    return max(1.0, spread / math.sqrt(2 * math.log(count) + 4))


class LogsumexpLaw:
    """The law of log(sum of exp(spread * z_j)), j = 1 … count, for independent standard normal z_j.

    Args:
        count: how many logits.
        spread: their standard deviation.
        cap: soft-cap of the logits, which are then cap * tanh(spread * z_j / cap).
        bias: (m,), numbers of which each logit has one added, all as often; none of them below the
            cap.

    Attributes:
        mean: of the logsumexp.
        variance: of the logsumexp.
    """

    def __init__(
        self, count: int, spread: float, cap: float | None = None, bias: np.ndarray | None = None
    ) -> None:
        self.count, self.spread, self.cap = count, spread, cap
        self._over_logits = spread <= _WIDE or cap is not None
        if self._over_logits:
            step = min(0.5, _STEP / max(spread, 1e-300))
            self._z = np.arange(-9, 9 + min(spread, 30.0) + step, step)
            self._weight = np.exp(-(self._z**2) / 2) * step / math.sqrt(2 * math.pi)
            self._logit = spread * self._z
            if cap is not None:
                self._logit = cap * np.tanh(self._logit / cap)
        else:
            self._z = np.arange(-math.log(count) - 33, 3.75, _STEP)
            self._weight = np.exp(self._z - np.exp(self._z)) * _STEP
        self.scale = scale_of(count, spread) if cap is None and bias is None else 1.0
        self._shift = np.zeros(1) if bias is None else np.asarray(bias, float)
        self._bins = None if bias is None else self._binned()
        low, core, high = self._where(np.array([42.0, 1e-3, 1e-17]))
        self.edges = np.concatenate(
            [
                np.linspace(low, core, 1 + math.ceil((core - low) / self.scale)),
                np.linspace(core, high, 1 + math.ceil((high - core) / self.scale / 2.5))[1:],
            ]
        )
        at = nodes(self.edges)
        below = np.exp(-self._levels(at))
        self._law = Pieces.through(self.edges, below)
        self._primitive = self._law.antiderivative()
        self._least = high - self._primitive.total()  # E Y
        self.mean = self._least - np.euler_gamma
        growth = Pieces.through(self.edges, 2 * (at - self._least) * below)
        self._square = growth.antiderivative()
        self._spread = (high - self._least) ** 2 - self._square.total()  # Var Y
        self.variance = self._spread - math.pi**2 / 6

    def orders(self, law: np.ndarray) -> tuple[float, float, float]:
        """The variance of the logsumexp less the labels' mean logit, by its order in the logits.

        It is a sum over Hermite polynomials. Those of first and second order have mean slopes and
        curvatures as coefficients: the slope in a logit is its softmax probability less the
        label's.

        Args:
            law: probabilities of the labels, an entry per logit, in the order of the biases.

        Returns:
            The parts of first, of second and of higher order.
        """
        squared, n = float(law @ law), len(law)
        if self._bins is None:
            own, shared, q, within, curved = self._alone()
            guessed, second = 1 / n, n * curved**2 / 2
            first = n * q**2 - 2 * q * within + within**2 * squared
        else:
            own = shared = self.spread**2
            share, slope = self._shares()
            guessed, first = float(law @ share), own * float(((share - law) ** 2).sum())
            pairs = (share @ share - share**2) / (1 - share) ** 2  # E q q' is about E q(1-q) q'
            second = own**2 * float((1 + pairs) @ slope**2) / 2
        variance = max(0.0, self.variance + own * squared - 2 * shared * guessed)
        first = min(max(first, 0.0), variance)
        second = min(second, variance - first)
        return first, second, variance - first - second

    def _alone(self) -> tuple[float, float, float, float, float]:
        """Of a logit x(z) without a bias.

        Its variance, its covariance with the sum as a share of e^x, and with q its probability the
        means of q x', x' and q x' z.
        """
        step = max(1e-3, min(0.25, 0.5 / max(self.spread, 1e-9)))
        z = np.arange(-9, 9 + step, step)
        weight = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
        logit, slope, shared = self.spread * z, np.full(len(z), self.spread), self.spread**2
        if self.cap is not None:
            logit = self.cap * np.tanh(logit / self.cap)
            slope = self.spread * (1 - (logit / self.cap) ** 2)
            raised = weight * np.exp(logit)  # Cov(log Σ e^x, Σ x) = E x e^x / E e^x
            shared = float(raised @ logit / raised.sum())
        pulled = weight * slope * self.with_another(logit, moments=True)[2]
        within = float(weight @ slope)
        return float(weight @ logit**2), shared, float(pulled.sum()), within, float(pulled @ z)

    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean probabilities of logits with their biases, and the slopes of those in the bias.

        A mean probability is the slope of E log S in a bias, the integral of one of P(Y <= y).
        """
        from scipy.interpolate import CubicSpline  # loads for as long as a prediction takes

        assert self._bins is not None
        level, y = self._bins[0], nodes(self.edges)
        below, low, high = np.exp(-self._levels(y)), self._shift.min(), self._shift.max()
        at = np.linspace(low - 0.1, high + 0.1, 4 + math.ceil(4 * (high - low)))
        slopes = [-below * np.exp(level(y - each)) * level(y - each, 1) for each in at]
        found = [Pieces.through(self.edges, each).antiderivative().total() for each in slopes]
        log_share = CubicSpline(at, np.log(found))
        share = np.exp(log_share(self._shift))
        share = share / share.sum()
        return share, share * log_share(self._shift, 1)

    def exceeds(self, y: np.ndarray) -> np.ndarray:
        """P(spread * z + g > y), the M of the module's text."""
        flat = np.ravel(y)[:, None]
        with np.errstate(over="ignore", under="ignore"):
            if self._over_logits:
                found = -np.expm1(-np.exp(self._logit - flat)) @ self._weight
            else:
                found = ndtr(-(flat + self._z) / self.spread) @ self._weight
        return np.minimum(found, 1 - 2.0**-53).reshape(np.shape(y))

    def with_another(
        self, logit: np.ndarray, *, moments: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what one more term exp(logit) makes of the logsumexp, for each of given logits.

        Args:
            logit: of any shape.
            moments: whether more than the mean is wanted.

        Returns:
            Mean and variance of the new logsumexp, and the mean softmax probability of the term;
            the last two are nan without ``moments``.
        """
        flat = np.ravel(logit)
        found = [np.where(flat < self.edges[0], least, most) for least, most in (
            (self.mean, flat), (self.variance, 0.0), (0.0, 1.0),
        )]  # fmt: skip
        ahead = 1 + math.ceil(42 / 2.5 / self.scale)
        start = np.linspace(self.edges[0] - 42, self.edges[0], ahead)[:-1]
        edges = np.concatenate([start, self.edges, self.edges[-1] + np.array([2.0, 4.0])])
        index = np.searchsorted(edges, flat, side="right") - 1
        inside = (index >= 0) & (index < len(edges) - 1)
        if inside.any():
            near = edges[index[inside].min() : index[inside].max() + 2]
            for known, values in zip(found, self._near(nodes(near), moments), strict=False):
                known[inside] = Pieces.through(near, values)(flat[inside])
        if not moments:
            found[1:] = [np.full(flat.shape, math.nan)] * 2
        mean, variance, share = (each.reshape(np.shape(logit)) for each in found)
        return mean, variance, share

    def _near(self, logit: np.ndarray, moments: bool) -> list[np.ndarray]:
        """The same, of a few logits, each by an average over its Gumbel number."""
        top = logit[..., None] + _X
        above, inside = top > self.edges[-1], np.clip(top, self.edges[0], self.edges[-1])
        mean = np.where(above, top, self._least + self._primitive(inside)) @ _GUMBEL
        found = [mean - np.euler_gamma]
        if moments:
            square = (top - self._least) ** 2
            square = np.where(above, square, self._spread + self._square(inside)) @ _GUMBEL
            found.append(square - (mean - self._least) ** 2 - math.pi**2 / 6)
            found.append(np.where(above, 1.0, self._law(inside)) @ _GUMBEL)
        return found

    def _where(self, level: np.ndarray) -> np.ndarray:
        """Each y at which -log P(Y <= y) is a level; where none is, the lowest y."""
        most = math.log(self.count) + 45
        lowest = -9.3 * self.spread - 4 + self._shift.min()
        low = np.full(len(level), lowest)
        high = low * 0 + self.spread * math.sqrt(2 * most) + most + self._shift.max()
        for _ in range(12):  # an edge need not be exact
            middle = (low + high) / 2
            above = self._levels(middle) > level
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.where(low > lowest, (low + high) / 2, lowest)

    def _levels(self, y: np.ndarray) -> np.ndarray:
        """-log P(Y <= y)."""
        if self._bins is None:
            return -self.count * np.log1p(-self.exceeds(y))
        level, at, share = self._bins
        flat = np.ravel(y)
        found = np.zeros(len(flat))
        for block in range(0, len(at), 256):  # a product over all logits, a few at a time
            few = slice(block, block + 256)
            found += np.exp(level(flat[:, None] - at[few])) @ share[few]
        return found.reshape(np.shape(y))

    def _binned(self) -> tuple[CubicSpline, np.ndarray, np.ndarray]:
        """The log of one logit's level as a function, and the biases with how often each is there.

        Beyond the largest 2048 they are put together, so that their exponentials' sum stays.
        """
        from scipy.interpolate import CubicSpline

        ordered = np.sort(self._shift)[::-1]
        at, often = ordered[:2048], np.ones(min(2048, len(ordered)))
        if rest := len(ordered) - len(at):
            sizes = np.array([*map(len, np.array_split(ordered[2048:], min(rest, 1024)))])
            sums = np.logaddexp.reduceat(ordered[2048:], np.cumsum(sizes) - sizes)
            at, often = np.append(at, sums - np.log(sizes)), np.append(often, sizes)
        most, reach = math.log(self.count) + 45, float(np.ptp(self._shift))
        low = -9.3 * self.spread - 6 - reach
        high = self.spread * math.sqrt(2 * most) + most + reach + 2
        grid = np.linspace(low, high, 2 + math.ceil((high - low) / 0.05))
        one = np.log(np.maximum(-np.log1p(-self.exceeds(grid)), 1e-300))
        return CubicSpline(grid, one), at, often * self.count / often.sum()
