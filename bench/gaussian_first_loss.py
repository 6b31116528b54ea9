"""The expected first loss of Gaussian tables: its digits, its cost, and the way before.

    python bench/gaussian_first_loss.py [largest] [before] [mpmath]

Against mpmath at three points; beside the quadrature of `expected_first_loss` until 0.2.0; and the
seconds and the memory of a call at 250 000 tokens of width 16 384. Against another integral and
against drawn tables: bench/first_loss_law.py.
"""

from __future__ import annotations

import math
import sys
import time
import tracemalloc
from collections.abc import Callable
from statistics import median
from typing import Any

import mpmath
import numpy as np

from verified_transformer.models.first_loss import GaussianStart, gaussian_first_loss


def before(n: int, d: int, *, σ: float, tied: bool = True) -> float:
    """`expected_first_loss` as it was until 0.2.0."""
    step, spread = 0.1, math.sqrt(d) * σ
    u = np.arange(-60 - 2 * d * σ - 9 * spread - math.log(n), 60, step)

    def mean_over(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            decays = np.exp(-np.exp(u[:, None] + spread * values))
        return np.asarray(decays @ (weight / weight.sum()))

    z = np.linspace(-9, 9, 721)
    own = other = mean_over(z, np.exp(-(z**2) / 2))
    if tied:
        least, most = max(0.0, math.sqrt(d) - 9), math.sqrt(d) + 9
        nodes, share = np.polynomial.legendre.leggauss(400)
        length = least + (most - least) * (nodes + 1) / 2
        log_density = (d - 1) * np.log(length) - length**2 / 2
        own = mean_over(length, share * np.exp(log_density - log_density.max()))
    with np.errstate(over="ignore", under="ignore"):
        return float((np.exp(-np.exp(u)) - own * other ** (n - 1)).sum() * step)


def cost(call: Callable[[], float], times: int = 5) -> tuple[float, float, float]:
    """What a call returns, its median milliseconds of CPU time, and its MiB at most."""
    found, spent = call(), []
    for _ in range(times):
        started = time.process_time()
        call()
        spent.append(1e3 * (time.process_time() - started))
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return found, median(spent), most


def by_another_library() -> bool:
    """Whether the untied law has the digits of mpmath's at three points."""
    worst = 0.0
    for n, spread in ((5, 1.0), (1000, 0.5), (50_000, 0.02 * math.sqrt(768))):
        expected = by_mpmath(n, spread)
        error = gaussian_first_loss(n, 4, spread / 2, cosine="random") / expected - 1
        worst = max(worst, abs(error))
        print(f"n {n}, spread {spread}: {expected!r} by mpmath, {error:+.1e}", flush=True)
    return worst <= 1e-8


def by_mpmath(n: int, spread: float) -> float:
    """Untied, in 18 digits: log x = ∫ (exp(-t) - exp(-tx)) dt / t, by trapezoids in log t and z."""
    with mpmath.workdps(18):
        z = [mpmath.mpf(k) / 4 for k in range(-36, 37)]
        weight = [mpmath.exp(-(each**2) / 2) for each in z]
        parts = [(w / sum(weight), mpmath.exp(spread * x)) for w, x in zip(weight, z, strict=True)]
        total, log_t = mpmath.mpf(0), -mpmath.log(n) - 45
        while log_t < 5:
            t = mpmath.exp(log_t)
            missing = sum(-mpmath.expm1(-t * each) * w for w, each in parts)
            total += mpmath.exp(-t) - mpmath.exp(n * mpmath.log1p(-missing))
            log_t += mpmath.mpf(1) / 5
        return float(total / 5)


def before_and_now() -> bool:
    """Both, at points where the old one was wrong, slow or right."""
    for n, d, σ, tied in (
        (50, 1, 1.0, True), (7, 1, 0.9, True), (7, 2, 0.9, True), (500, 1, 1.5, True),
        (50_000, 768, 0.02, True), (50_000, 768, 0.02, False), (50_000, 768, 1.0, True),
        (250_000, 4096, 0.3, True), (250_000, 4096, 0.3, False),
    ):  # fmt: skip
        fixed = {"ρ": 1.0} if tied else {"cosine": "random"}
        start = GaussianStart(n, d, σ, **fixed)
        new, old = (
            cost(start.loss, 3),
            cost(lambda x=(n, d, σ, tied): before(*x[:2], σ=x[2], tied=x[3]), 1),
        )
        print(
            f"n {n} d {d} σ {σ} tied {tied}: {new[0]:.10g}, before {old[0]:.10g} "
            f"({old[0] - new[0]:+.1e}); {new[1]:.0f} ms {new[2]:.1f} MiB, "
            f"before {old[1]:.0f} ms {old[2]:.0f} MiB", flush=True,
        )  # fmt: skip
    return True


def largest() -> bool:
    """Whether 250 000 tokens of width 16 384 take 50 ms and 50 MiB at most."""
    worst = (0.0, 0.0)
    norms: tuple[dict[str, Any], ...] = (
        {}, {"cosine": "random"}, {"ε": 1e-6}, {"ε": 1e-5, "norm": "layer", "cosine": "random"}
    )  # fmt: skip
    for fixed in ({"ρ": ρ, "repeats": 0.05, **norm} for ρ in (0.0, 0.07, 1.0) for norm in norms):
        for σ in (1e-6, 1e-3, 0.02, 0.1, 0.3, 1.0, 30.0, 1e3, 7e3):
            _, spent, most = cost(lambda σ=σ, f=fixed: gaussian_first_loss(250_000, 16_384, σ, **f))
            worst = max(worst[0], spent), max(worst[1], most)
    print(f"at n 250 000, d 16 384, any σ: at most {worst[0]:.0f} ms, {worst[1]:.1f} MiB")
    return max(worst) <= 50


PARTS = {"largest": largest, "before": before_and_now, "mpmath": by_another_library}


if __name__ == "__main__":
    sys.exit(not all([PARTS[name]() for name in sys.argv[1:] or PARTS]))
