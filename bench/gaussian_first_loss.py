"""The expected first loss of Gaussian tables: its error, its draws, its cost, and the way before.

    python bench/gaussian_first_loss.py [largest] [before] [drawn] [integral]

Against another integral (tests/models/first_loss_by_windows.py) at 200 random starts, and mpmath at
two; against drawn tables at small ones; beside the quadrature that `expected_first_loss` was until
0.2.0; and the seconds and the memory of a call at 250 000 tokens of width 16 384. About six minutes
on one core.
"""

from __future__ import annotations

import math
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

import mpmath
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
from first_loss_by_drawing import drawn_losses, z_of_mean, z_of_variance
from first_loss_by_windows import by_windows, random_starts

from verified_transformer.models.first_loss import GaussianStart, gaussian_first_loss

KINDS: dict[str, tuple[int, float, dict[str, object]]] = {
    "one cosine": (150, 100.0, {}),
    "a random cosine": (20, 10.0, {"cosine": "random"}),
    "ε": (15, 10.0, {"ε": 1.0}),
    "ε, a random cosine, layer norm": (15, 5.0, {"ε": 1.0, "cosine": "random", "norm": "layer"}),
}


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


def another_integral() -> bool:
    """Whether the promised digits are there at all random starts."""
    worst = 0.0
    for kind, (count, most, fixed) in KINDS.items():
        errors, relative, spent = [], [], []
        for start in random_starts(f"bench {kind}", count, most_spread=most, **fixed):
            expected, started = by_windows(start), time.process_time()
            found = start.loss()
            spent.append(1e3 * (time.process_time() - started))
            errors.append(abs(found - expected) / max(1, abs(expected)))
            relative.append(abs(found / expected - 1))
        worst = max(worst, *errors)
        print(
            f"{kind}: {count} starts, worst error {max(errors):.1e}, relative "
            f"{max(relative):.1e}; median {median(spent):.0f} ms, most {max(spent):.0f} ms",
            flush=True,
        )
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


def drawn() -> bool:
    """Whether means and variances of small random starts are those that are drawn."""
    most = 0.0
    for kind, (_, _, fixed) in KINDS.items():
        for number, start in enumerate(random_starts(f"draw {kind}", 40, most_spread=6.0, **fixed)):
            if start.n * start.d > 30_000 or number >= 40:
                continue
            losses = drawn_losses(start, f"bench {kind} {number}", 2000)
            mean, variance = start.loss(), start.variance()
            z = z_of_mean(losses, mean), z_of_variance(losses, mean, variance)
            most = max(most, *map(abs, z))
            print(
                f"n {start.n} d {start.d} s {start.spread:.3g} ρ {start.ρ:.2g} {kind}: "
                f"{mean:.5f}, z {z[0]:+.1f}; variance {variance:.3g}, z {z[1]:+.1f}",
                flush=True,
            )
    print(f"greatest |z| {most:.1f}")
    return most < 4.5


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
    for fixed in ({"ρ": 1.0}, {}, {"cosine": "random"}, {"ρ": 0.04}, {"ρ": 1.0, "ε": 1e-6}):
        for σ in (1e-6, 1e-3, 0.02, 0.1, 1.0, 1e3, 7e3):
            _, spent, most = cost(lambda σ=σ, f=fixed: gaussian_first_loss(250_000, 16_384, σ, **f))
            worst = max(worst[0], spent), max(worst[1], most)
    print(f"at n 250 000, d 16 384, any σ: at most {worst[0]:.0f} ms, {worst[1]:.1f} MiB")
    return max(worst) <= 50


PARTS = {
    "largest": largest, "before": before_and_now, "drawn": drawn, "integral": another_integral,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(not all([PARTS[name]() for name in sys.argv[1:] or PARTS]))
