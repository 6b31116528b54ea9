"""The expected first loss of Gaussian tables another way, slowly: nested Gauss-Legendre panels.

It shares no formula code with the library: the mean of the logsumexp is the integral of the tail of
its law with a Gumbel number added, and every factor of that law is integrated over the window in
which exp(-exp(v)) falls from one to zero; lengths are SciPy's chi law, one by one.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy import stats

from verifiedbook.seeds import generator
from weightwise.first_loss import GaussianStart

_AT, _SHARE = np.polynomial.legendre.leggauss(14)
FALLEN, RISEN = 5.0, 45.0  # exp(-exp(5)) and 1 - exp(-exp(-45)) are nothing


def panels(low: Any, high: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on count panels between (arrays of) ends, along a last axis."""
    low, high = np.asarray(low)[..., None], np.asarray(high)[..., None]
    unit = ((np.arange(count)[:, None] + (1 + _AT) / 2) / count).ravel()
    return low + (high - low) * unit, (high - low) * np.tile(_SHARE / 2 / count, count)


def normal_exceeds(y: np.ndarray, s: float, n: float) -> np.ndarray:
    """P(s z + Gumbel > y) for arrays y."""
    if s < 1:
        z, share = panels(-10.0, 10 + s, 30)
        return -np.expm1(-np.exp(s * z - y[..., None])) @ (share * stats.norm.pdf(z))
    v, share = panels(-RISEN - math.log(n), FALLEN, 40)
    fallen = stats.norm.sf((y + FALLEN) / s)
    density = np.exp(-(((y[..., None] + v) / s) ** 2) / 2) / math.sqrt(2 * math.pi) / s
    return fallen + density @ (share * -np.expm1(-np.exp(v)))


def chi_law(y: np.ndarray, b: float, degrees: int) -> np.ndarray:
    """P(b χ + Gumbel <= y) for arrays y."""
    law, peak = stats.chi(degrees), math.sqrt(degrees - 1)
    least, most = max(0.0, peak - 8), peak + 10
    if b == 0:
        return np.exp(-np.exp(np.minimum(-y, 700)))
    ends = np.sort(np.stack([(y - RISEN) / b, (y + FALLEN) / b]), 0).clip(least, most)
    x, share = panels(ends[0], ends[1], 40)
    inside = (share * law.pdf(x) * np.exp(-np.exp(np.minimum(b * x - y[..., None], 700)))).sum(-1)
    return inside + (law.cdf(ends[0]) if b > 0 else law.sf(ends[1]))


def mean_of_maximum(law: Any, low: float, high: float, length: float) -> float:
    """The mean of a number whose distribution function is given, between its ends."""
    middle = (low + high) / 2
    total = middle
    count = max(4, math.ceil((high - middle) / length))
    for start in range(0, count, 200):  # in parts, for the memory's sake
        part = min(200, count - start)
        step = (high - middle) / count
        y, share = panels(middle + start * step, middle + (start + part) * step, part)
        total += float((1 - law(y)) @ share)
        y, share = panels(low + start * step, low + (start + part) * step, part)
        total -= float(law(y) @ share)
    return total


def by_windows(start: GaussianStart) -> float:
    """The expected first loss of a start."""
    n, s, ρ = start.n, start.spread, start.ρ
    degrees = start.d - (start.norm == "layer")
    chi, peak = stats.chi(degrees), math.sqrt(degrees - 1)
    τ = math.sqrt(1 - ρ**2) if start.cosine == "random" else 0.0
    soft = math.sqrt(start.d * start.ε) / (start.σ if start.state is None else start.state)
    least, most = max(0.0, peak - 6.5), peak + 8.5
    own_mean = s * ρ * chi.expect(lambda x: x**2 / math.hypot(x, soft), lb=least, ub=most,
                                  epsabs=1e-12, epsrel=1e-12, limit=500)  # fmt: skip

    def others(y: np.ndarray, t: float) -> np.ndarray:
        return np.exp((n - 1) * np.log1p(-np.minimum(normal_exceeds(y, t, n), 1 - 2.0**-53)))

    def ends(t: float, own: float) -> tuple[float, float]:
        top = t * math.sqrt(2 * (math.log(n) + 40)) + math.log(n) + 45
        return min(-9 * t, own - 9 * t) - 5, max(top, own + 9 * t + 45)

    if not soft and not τ:
        edge = [s * ρ * least, s * ρ * most]
        low, high = min(-9 * s - 5, *edge), max(ends(s, 0.0)[1], edge[1] + 45, edge[0] + 45)
        lse = mean_of_maximum(
            lambda y: others(y, s) * chi_law(y, s * ρ, degrees), low, high, max(0.7, s / 60)
        )
        return lse - np.euler_gamma - start.repeats * own_mean
    count = math.ceil((most - least) * max(1.0, s * abs(ρ) / 2))
    bends = [least, *(soft * 2.0 ** np.arange(-1, 6)), most] if soft else [least, most]
    bends = sorted({min(max(each, least), most) for each in bends})
    lse = 0.0
    for left, right in pairwise(bends):
        length, share = panels(left, right, math.ceil(count * (right - left) / (most - least)))
        for x, weight in zip(length, share * chi.pdf(length), strict=True):
            if weight < 1e-15:
                continue
            t = s * x / math.hypot(x, soft)
            own = t * ρ * x

            def law(y: np.ndarray, t: float = t, own: float = own) -> np.ndarray:
                mine = (
                    1 - normal_exceeds(y - own, t * τ, n)
                    if τ
                    else np.exp(-np.exp(np.minimum(own - y, 700)))
                )
                return others(y, t) * mine

            lse += weight * mean_of_maximum(law, *ends(t, own), max(0.9, t / 60))
    return lse - np.euler_gamma - start.repeats * own_mean


def random_starts(
    name: str, count: int, *, most_spread: float, **fixed: Any
) -> list[GaussianStart]:
    """Starts spread over the domain, by the seed of a name."""
    drawn = generator(name)
    starts = []
    for _ in range(count):
        u = torch.rand(7, dtype=torch.float64, generator=drawn).tolist()
        d = round(math.exp(u[1] * math.log(16_384)))
        spread = math.exp(math.log(0.01) + u[2] * math.log(most_spread / 0.01))
        ρ = [1.0, 0.0, 2 * u[3] - 1, 5 * (2 * u[3] - 1) / math.sqrt(d + 25)][int(4 * u[4])]
        scale = [1.0, d**-0.5, 0.3][int(3 * u[5])]
        chosen = {"ρ": ρ, "scale": scale, "repeats": [0.0, u[6]][int(2 * u[0] * 10) % 2], **fixed}
        if "ε" in chosen:
            chosen["ε"] = (spread / scale) ** 2 / d * math.exp(-9 + 10 * u[6])
        least = 2 if chosen.get("norm") == "layer" else 1
        if abs(ρ) == 1 or chosen.get("cosine") == "random":
            d = max(d, least)
        else:  # in one dimension there is no other cosine
            d = max(d, least + 1)
        n = round(math.exp(math.log(2) + u[0] * math.log(5e5)))
        starts.append(GaussianStart(n, d, spread / scale / math.sqrt(d), **chosen))
    return starts
