"""How often a placebo of independent runs shows an effect, and how large a fault it sees."""

from __future__ import annotations

import numpy as np
import pytest

from verified_transformer.engine.account.records.chances import PLACEBO
from verified_transformer.engine.account.records.margins import PRINTED
from verified_transformer.engine.checks.by_experiment import placebo, settled
from verified_transformer.engine.sampling.design import difference_interval
from verified_transformer.seeds import seed_of

TRIED = 200_000
MOST = 42  # 20 are expected at a chance of 1e-4; more than 42 come once in 100 000 times
LAWS = {
    "normal": lambda source, size: source.normal(3, 1, size),
    "flat": lambda source, size: source.uniform(0, 1, size),
    "skewed": lambda source, size: source.lognormal(0, 1, size),
    "heavy": lambda source, size: source.standard_t(3, size),
    "clustered": lambda source, size: source.integers(0, 2, size) + source.normal(0, 0.01, size),
}
# by the number of runs: the difference that is seen nine times out of ten, in spreads of a run
SEEN = {6: 27.0, 7: 18.0, 8: 13.0, 12: 7.2, 16: 5.2, 24: 3.6, 64: 2.0}


def shown(values: np.ndarray, level: float = 1 - PLACEBO) -> int:
    """How many rows show an effect: the rule of `placebo` and `settled`, for all rows at once."""
    from scipy.special import stdtrit

    one, two = values[:, ::2], values[:, 1::2]
    m, n = one.shape[1], two.shape[1]
    spread = (m * one.var(axis=1) + n * two.var(axis=1)) / (m + n - 2)
    half = stdtrit(m + n - 2, (1 + level) / 2) * np.sqrt(spread * (1 / m + 1 / n))
    return int((np.abs(one.mean(axis=1) - two.mean(axis=1)) >= (1 + PRINTED) * half).sum())


def drawn(law: str, runs: int, tried: int = TRIED, between: float = 0.0) -> np.ndarray:
    """Rows of independent runs, every other of them moved by so much."""
    source = np.random.default_rng(seed_of(f"placebos of {runs} {law} runs"))
    values = np.asarray(LAWS[law](source, (tried, runs)))
    values[:, ::2] += between
    return values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "runs"),
    # fewer than sixteen runs of two narrow clusters part into them by chance
    [(law, runs) for law in LAWS for runs in SEEN if law != "clustered" or runs >= 16],
)
def test_a_placebo_of_independent_runs_shows_an_effect_once_in_ten_thousand(
    law: str, runs: int
) -> None:
    assert shown(drawn(law, runs)) <= MOST


@pytest.mark.canary
@pytest.mark.parametrize("runs", [runs for runs in SEEN if runs < 64])
def test_the_interval_of_an_effect_would_show_more_placebos(runs: int) -> None:
    assert shown(drawn("normal", runs), level=0.99) > MOST


@pytest.mark.parametrize("runs", SEEN)
def test_the_rows_are_judged_as_placebos_are(runs: int) -> None:
    """At a difference which about half of the rows show, so that the two could part."""
    values = drawn("normal", runs, 300, between=0.8 * SEEN[runs])
    single = [placebo(dict(enumerate(row.tolist()))) for row in values]
    effects = sum(interval is not None and settled(interval) is not None for interval in single)
    assert effects == shown(values) and 30 < effects < 270


@pytest.mark.canary
@pytest.mark.parametrize(("runs", "between"), SEEN.items())
def test_a_difference_of_so_many_spreads_is_seen(runs: int, between: float) -> None:
    assert shown(drawn("normal", runs, 4000, between)) > 0.88 * 4000


def test_halves_are_compared_as_the_t_test_of_two_samples_does() -> None:
    from scipy.stats import ttest_ind

    one, two = drawn("normal", 7, 1)[0].tolist(), drawn("normal", 8, 1)[0].tolist()
    told = ttest_ind(one, two).confidence_interval(0.95)
    assert difference_interval(one, two, 0.95) == pytest.approx((told.low, told.high), rel=1e-9)
