"""The regimes of the first loss of Gaussian tables, each with its formula and its boundary.

With s = scale * √d * σ the spread of the logits, the others' logsumexp is the free energy of a
random energy model with n levels (Derrida, Phys. Rev. B 24, 1981, 2613). Up to s = √(2 log n) it is
*annealed*: many tokens share the sum, whose logarithm is that of its mean, log n + s²/2. Beyond, it
is *frozen*: the largest few logits are the sum. *Planted* is a start where the token's own logit,
s ρ √d at the cosine ρ, stands above all that. Fluctuations: Bovier, Kurkova and Löwe, Ann. Probab.
2002, doi:10.1214/aop/1023481004; the annealed ones vanish as n grows, the frozen ones do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtri_exp

from ..accepted import require_real
from .gaussian import GaussianStart


@dataclass(frozen=True)
class Regime:
    """Where a start lies: ``name`` ("annealed", "frozen", "planted"), and what each formula says.

    ``bulk`` is the leading formula of the others' logsumexp, ``own`` the own token's mean logit at
    a large width, ``loss`` the greater one less the repeats' part.
    """

    name: str
    bulk: float
    own: float
    loss: float


def freezing_spread(n: int) -> float:
    """Return the spread of the logits beyond which the sum is frozen, √(2 log n).

    Example:
        >>> round(freezing_spread(50_257) / 768**0.5, 4)  # as a σ at width 768
        0.1679
    """
    _require_start(n)
    return math.sqrt(2 * math.log(n))


def planting_spread(n: int, d: int, *, ρ: float = 1.0) -> float:
    """Return the spread beyond which the own logit exceeds the others' logsumexp.

    It solves s ρ √d = log n + s²/2. Where ρ √d is at most √(2 log n), it never does: infinity.

    Example:
        >>> round(planting_spread(50_257, 768) / 768**0.5, 4)  # as a σ at width 768
        0.0142
    """
    require_real(d=d, ρ=ρ)
    if d < 1 or not -1 <= ρ <= 1:
        raise ValueError(f"d, ρ: got {d}, {ρ}; accepted: d >= 1, a cosine of -1 to 1")
    reach, most = ρ * math.sqrt(d), freezing_spread(n)
    if reach <= most:
        return math.inf
    return most**2 / (reach + math.sqrt(reach**2 - most**2))


def annealed_loss(n: int, spread: float) -> float:
    """Return log n + s²/2, the others' logsumexp below the freezing spread.

    Example:
        >>> round(annealed_loss(50_257, 0.02 * 768**0.5), 3)
        10.979
    """
    _require_start(n, spread)
    return math.log(n) + spread**2 / 2


def frozen_loss(n: int, spread: float, *, leading: bool = False) -> float:
    r"""Return the others' logsumexp well beyond the freezing spread.

    To leading order s √(2 log n). Better: the levels near the top are a Poisson process of density
    $m e^{-m(x - sb)}$ (Galves, Martinez and Picco, J. Stat. Phys. 54, 1989, 515), where b is the
    level that one of n normal numbers exceeds, and m is the decay rate of their tail there over s.
    The sum's logarithm plus a Gumbel number is then a Gumbel number of scale 1/m, of mean
    $sb + (\log\Gamma(1-m) + \gamma)/m$; the Gumbel number's own mean is γ.

    Args:
        n: number of tokens.
        spread: s, the standard deviation of a logit.
        leading: whether only the leading order is wanted.

    Raises:
        ValueError: the spread is none of a frozen start.

    Example:
        >>> round(frozen_loss(50_257, 20.0), 2), round(frozen_loss(50_257, 20.0, leading=True), 2)
        (85.04, 93.06)
    """
    _require_frozen(n, spread)
    if leading:
        return spread * freezing_spread(n)
    top = -float(ndtri_exp(-math.log(n)))
    m = _hazard(top) / spread
    if m >= 1:
        raise ValueError(f"spread: got {spread}; accepted: more than {_hazard(top):.6g}")
    return spread * top + (float(gammaln(1 - m)) + np.euler_gamma) / m - np.euler_gamma


def annealed_variance(n: int, spread: float) -> float:
    """Return (exp(s²) - 1 - s²) / n, the variance of a token's loss well below freezing.

    The part exp(s²) - 1 is the sum's, the other the labels' mean logit. It needs s² < log(n) / 2
    (Bovier, Kurkova and Löwe's second critical value); beyond, extreme logits rule.

    Example:
        >>> f"{annealed_variance(50_257, 0.02 * 768**0.5):.3e}"
        '1.043e-06'
    """
    _require_start(n, spread)
    return (math.expm1(spread**2) - spread**2) / n


def frozen_variance(n: int, spread: float) -> float:
    """Return π²/6 (s² / (2 log n) - 1), the variance of a token's loss beyond freezing.

    Of the Gumbel number of scale s/√(2 log n) (see `frozen_loss`) the part of scale one is taken
    away. Corrections are of the order of one over log n.

    Raises:
        ValueError: the spread is none of a frozen start.

    Example:
        >>> round(frozen_variance(50_257, 20.0), 1)
        28.7
    """
    _require_frozen(n, spread)
    return math.pi**2 / 6 * ((spread / freezing_spread(n)) ** 2 - 1)


def regime(start: GaussianStart) -> Regime:
    """Say which formula holds for a start, and what it gives; ε and small widths left out.

    Args:
        start: its sizes.

    Example:
        >>> regime(GaussianStart(50_257, 768, 0.02, ρ=1.0)).name
        'planted'
        >>> regime(GaussianStart(50_257, 768, 0.02)).name
        'annealed'
    """
    if not isinstance(start, GaussianStart):
        raise TypeError(f"start: got {type(start).__name__}; accepted: a GaussianStart")
    s, freezing = start.spread, freezing_spread(start.n)
    frozen = s > freezing
    bulk = s * freezing if frozen else annealed_loss(start.n, s)
    own = s * start.ρ * math.sqrt(start.d)
    name = "planted" if own > bulk else "frozen" if frozen else "annealed"
    return Regime(name, bulk, own, max(own, bulk) - start.repeats * own)


def _require_start(n: int, spread: float = 0.0) -> None:
    require_real(n=n, spread=spread)
    if n < 2 or not 0 <= spread < math.inf:
        raise ValueError(f"n, spread: got {n}, {spread}; accepted: n >= 2, 0 <= spread < ∞")


def _require_frozen(n: int, spread: float) -> None:
    _require_start(n, spread)
    if not spread > freezing_spread(n):
        accepted = f"more than √(2 log n) = {freezing_spread(n):.6g}"
        raise ValueError(f"spread: got {spread}; accepted: {accepted}")


def _hazard(x: float) -> float:
    """How fast the logarithm of the normal tail falls."""
    return math.exp(-(x**2) / 2 - float(log_ndtr(-x))) / math.sqrt(2 * math.pi)
