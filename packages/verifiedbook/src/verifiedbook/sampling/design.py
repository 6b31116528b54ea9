r"""How many draws a statement needs, and what they would have caught.

For $\mathbb{E}X=\theta$ with $\kappa^2=\mathrm{Var}X/\theta^2$ known beforehand, relative
resolution $\delta$, false-alarm rate $\alpha$ and miss rate $\beta$, the number of draws is

$$n=\left(\frac{z_{1-\alpha/2}+z_{1-\beta}}{\delta}\right)^2\kappa^2 ,$$

or $(\gamma z^3/1.2)^2$ where the skewness $\gamma$ asks for more before the normal tail holds.
The standard error comes from $\kappa^2$, not from the sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit  # scipy.stats would add a second to every import


@dataclass(frozen=True)
class Design:
    """What a measurement must be able to see.

    Args:
        resolution: smallest relative error that must be caught; where the expectation is zero,
            in units of the statistic's standard deviation.
        false_alarm: probability of rejecting a true statement.
        miss: probability of accepting one that is wrong by the resolution.

    Raises:
        ValueError: a rate at which the check could not fail, or would fail by chance.

    Example:
        >>> Design().sample_size(relative_variance=2.0, skewness=0.0)  # E w² of a normal w
        1274206
        >>> Design(resolution=0.05).sample_size(relative_variance=2.0, skewness=0.0)
        50969
    """

    resolution: float = 0.01
    false_alarm: float = 1e-6
    miss: float = 1e-3

    def __post_init__(self) -> None:
        limits = {"resolution": 0.1, "false_alarm": 1e-4, "miss": 0.01}
        for name, most in limits.items():
            value = getattr(self, name)
            if not 0 < value <= most:
                raise ValueError(f"{name}: got {value}; accepted: greater than 0, at most {most}")

    @property
    def threshold(self) -> float:
        """The largest |z| that a true statement may show."""
        return NormalDist().inv_cdf(1 - self.false_alarm / 2)

    @property
    def detectable(self) -> float:
        """The smallest displacement that is caught, in standard errors."""
        return self.threshold + NormalDist().inv_cdf(1 - self.miss)

    def sample_size(self, relative_variance: float, skewness: float) -> int:
        """Return the number of replicates.

        Args:
            relative_variance: Var X / θ², or 1 where θ = 0 and errors are in units of sd X.
            skewness: third standardised moment of X.

        Returns:
            The larger of the design formula and the number at which the normal tail holds.

        Raises:
            ValueError: a variance that is not positive, or a number that is not finite.
        """
        if not (math.isfinite(relative_variance) and relative_variance > 0):
            raise ValueError(
                f"relative_variance: got {relative_variance}; accepted: positive and finite"
            )
        if not math.isfinite(skewness):
            raise ValueError(f"skewness: got {skewness}; accepted: a finite number")
        power = (self.detectable / self.resolution) ** 2 * relative_variance
        tail = (abs(skewness) * self.threshold**3 / 1.2) ** 2
        return max(1000, math.ceil(max(power, tail)))


def mean_interval(values: Sequence[float], level: float = 0.99) -> tuple[float, float]:
    """Return Student's confidence interval for the mean of a few independent runs.

    Args:
        values: one number per run; at least two.
        level: coverage.

    Raises:
        ValueError: fewer than two values, one that is not finite, or a level outside (0, 1).

    Example:
        >>> low, high = mean_interval([1.0, 1.1, 0.9])
        >>> round(low, 2), round(high, 2)
        (0.43, 1.57)
    """
    n = len(values)
    if n < 2:
        raise ValueError(f"values: got {n}; accepted: at least two independent runs")
    if not np.isfinite(values).all():
        raise ValueError(f"values: got {list(values)}; accepted: finite numbers")
    if not 0 < level < 1:
        raise ValueError(f"level: got {level}; accepted: between 0 and 1")
    centre, error = float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(n)
    low, high = (float(stdtrit(n - 1, (1 + side * level) / 2)) for side in (-1, 1))
    return centre + error * low, centre + error * high
