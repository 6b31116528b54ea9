"""The expected first loss of Gaussian tables: its digits, and its cost.

    python bench/gaussian_first_loss.py [largest] [mpmath]

Against mpmath at three points; and the seconds and the memory of a call at 250 000 tokens of width
16 384. Against another integral and against drawn tables: bench/first_loss_law.py.
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

from weightwise.first_loss import gaussian_first_loss


def cost(call: Callable[[], float]) -> tuple[float, float]:
    """Median milliseconds of CPU time of a call, and its MiB at most."""
    call()
    spent = []
    for _ in range(5):
        started = time.process_time()
        call()
        spent.append(1e3 * (time.process_time() - started))
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return median(spent), most


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


def largest() -> bool:
    """Whether 250 000 tokens of width 16 384 take 50 ms and 50 MiB at most."""
    worst = (0.0, 0.0)
    norms: tuple[dict[str, Any], ...] = (
        {}, {"cosine": "random"}, {"ε": 1e-6}, {"ε": 1e-5, "norm": "layer", "cosine": "random"}
    )  # fmt: skip
    for fixed in ({"ρ": ρ, "repeats": 0.05, **norm} for ρ in (0.0, 0.07, 1.0) for norm in norms):
        for σ in (1e-6, 1e-3, 0.02, 0.1, 0.3, 1.0, 30.0, 1e3, 7e3):
            spent, most = cost(lambda σ=σ, f=fixed: gaussian_first_loss(250_000, 16_384, σ, **f))
            worst = max(worst[0], spent), max(worst[1], most)
    print(f"at n 250 000, d 16 384, any σ: at most {worst[0]:.0f} ms, {worst[1]:.1f} MiB")
    return max(worst) <= 50


PARTS = {"largest": largest, "mpmath": by_another_library}


if __name__ == "__main__":
    sys.exit(not all([PARTS[name]() for name in sys.argv[1:] or PARTS]))
