"""Calibrated sampling: how many draws, what they accept, what they reject, what they refuse."""

from __future__ import annotations

import math
import re
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
import sympy as sp
import torch

from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.integrals.law_means import LawMean
from verifiedbook.exact.laws import (
    SKEWED,
    Discrete,
    Normal,
    Rademacher,
    TruncatedNormal,
    Uniform,
)
from verifiedbook.exact.moments import Index, Tensor, mean, total, variance
from verifiedbook.sampling import measuring as sampling
from verifiedbook.sampling.design import Design, mean_interval
from verifiedbook.sampling.measuring import measure
from verifiedbook.sampling.quantities import (
    OtherStatistic,
    Piloted,
    Sampled,
    central_moments,
    require_definition,
    require_same,
)

d, σ, z = symbols("d sigma z")
i = Index("i", d)
COARSE = Design(resolution=0.1, false_alarm=1e-4, miss=0.01)
FINE = Design(resolution=0.01, false_alarm=1e-4, miss=0.01)
POINT = {d: 16, σ: sp.Rational(3, 2)}
THETA = 16 * 1.5**2


def squared_norm(law):
    w = Tensor("w", law, d)
    return total(w[i] ** 2, i)


MEAN = mean(squared_norm(Normal(0, σ)))
VARIANCE = variance(squared_norm(Normal(0, σ)))


def norm2(w):
    return (w**2).sum(-1)


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    monkeypatch.setenv("VERIFIED_DEVICE", "cpu")


# --------------------------------------------------------------------------------------- design


@pytest.mark.canary
@pytest.mark.parametrize(
    "name, value",
    [
        ("false_alarm", 1.0),
        ("false_alarm", 0.0),
        ("false_alarm", 1e-3),
        ("resolution", 0.5),
        ("resolution", 0.0),
        ("resolution", -0.01),
        ("resolution", math.nan),
        ("miss", 0.5),
        ("miss", 0.0),
    ],
)
def test_a_design_that_cannot_fail_or_fails_by_chance_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name}: got {value}; accepted: greater than 0"):
        Design(**{name: value})


def test_the_number_of_replicates_follows_the_formula():
    normal = NormalDist()
    power = (normal.inv_cdf(1 - 5e-5) + normal.inv_cdf(0.99)) / 0.01
    assert FINE.sample_size(2.0, 0.1) == math.ceil(2 * power**2)
    assert COARSE.sample_size(200.0, 0.1) == pytest.approx(FINE.sample_size(2.0, 0.1), abs=1)
    assert COARSE.sample_size(1e-6, 0.0) == 1000


def test_a_skewed_statistic_needs_more_replicates():
    threshold = NormalDist().inv_cdf(1 - 5e-5)
    needed = math.ceil((8 * threshold**3 / 1.2) ** 2)
    assert COARSE.sample_size(0.1, 8.0) == COARSE.sample_size(0.1, -8.0) == needed
    assert COARSE.sample_size(1e6, 8.0) == COARSE.sample_size(1e6, 0.0) > needed


# ------------------------------------------------------------------------------ moments beforehand


@pytest.mark.parametrize("estimator", [mean, variance])
def test_central_moments_equal_enumeration(estimator):
    """Of a variance they are those of half the squared difference of two draws."""
    law = SKEWED if estimator is mean else Discrete((-1, 0, 2), (0.5, 0.25, 0.25))
    size = 3 if estimator is mean else 2
    entries = [*zip(map(float, law.values), map(float, law.probabilities), strict=True)]
    outcomes = [
        (sum(v**2 for v, _ in drawn), math.prod(p for _, p in drawn))
        for drawn in product(entries, repeat=size)
    ]
    if estimator is variance:
        pairs = product(outcomes, repeat=2)
        outcomes = [((x - y) ** 2 / 2, p * q) for (x, p), (y, q) in pairs]
    found = central_moments(estimator(squared_norm(law)), {d: size})
    assert found == pytest.approx(moments_by_enumeration(outcomes), rel=1e-12)


def moments_by_enumeration(outcomes):
    """Mean, variance and skewness of a list of (value, probability)."""
    first = sum(p * x for x, p in outcomes)
    second, third = (sum(p * (x - first) ** k for x, p in outcomes) for k in (2, 3))
    return first, second, third / second**1.5


def test_a_pilot_bounds_the_variance_from_above_and_does_not_skew_it():
    draws = {"w": Tensor("w", Normal(0, σ), d)}
    pilot = Piloted("E |w|", draws, lambda w: np.linalg.norm(w, axis=-1))
    theta, spread, _ = central_moments(pilot, POINT)
    norm = math.sqrt(2) * 1.5 * math.gamma(8.5) / math.gamma(8)
    assert theta == pytest.approx(norm, rel=5e-3)
    assert THETA - norm**2 < spread < 1.1 * (THETA - norm**2)
    assert measure(pilot, lambda w: w.norm(dim=-1), POINT, norm, name="pilot", design=FINE).n > 1000
    far = Piloted("100 + E |w|", draws, lambda w: 100 + np.linalg.norm(w, axis=-1))
    assert abs(central_moments(far, POINT)[2]) < 0.5


# -------------------------------------------------------------------------------- one measurement


def test_the_same_call_gives_the_same_mean_and_another_name_or_salt_another_one(monkeypatch):
    def found(name):
        return measure(MEAN, norm2, POINT, THETA, name=name, design=COARSE).mean

    plain = found("a name")
    assert plain == found("a name") != found("another name")
    monkeypatch.setenv("VERIFIED_SALT", "another")
    assert found("a name") != plain


@pytest.mark.parametrize("law", [Normal(0, σ), Uniform.of_variance(σ**2)], ids=lambda law: law.name)
def test_the_draws_of_one_tensor_do_not_depend_on_the_chunks(monkeypatch, law):
    def found(entries):
        monkeypatch.setattr(sampling, "_CPU_BUFFER", entries)
        quantity = mean(squared_norm(law))
        return measure(quantity, norm2, POINT, THETA, name="chunks", design=FINE).mean

    # a row's sum is rounded in float32, by its place in a chunk; other draws move the mean by 1e-3
    assert found(1 << 18) == pytest.approx(found(1 << 12), rel=1e-8)


def test_the_draws_do_not_depend_on_the_number_of_threads():
    before = torch.get_num_threads()
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(measure(MEAN, norm2, POINT, THETA, name="threads", design=FINE).mean)
    torch.set_num_threads(before)
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_the_standard_error_comes_from_the_known_variance():
    found = measure(MEAN, norm2, POINT, THETA, name="error", design=COARSE)
    assert found.standard_error == pytest.approx(math.sqrt(2 * 16 * 1.5**4 / found.n), rel=1e-12)
    assert found.n == COARSE.sample_size(2 / 16, math.sqrt(8 / 16))
    assert found.detectable <= 0.1
    assert found.unit == pytest.approx(THETA)


STATEMENTS = {
    "mean of the squared norm": (MEAN, norm2, POINT, THETA),
    "its variance": (
        variance(squared_norm(Uniform.of_variance(σ**2))),
        norm2,
        {d: 2, σ: 1},
        2 * 4 / 5,
    ),
    "relu": (
        LawMean("E relu(z)", z, Normal(0, σ), [(sp.Integer(0), -sp.oo, 0), (z, 0, sp.oo)]),
        lambda z: z.relu(),
        {σ: 2},
        2 / math.sqrt(2 * math.pi),
    ),
    "truncated variance": (
        LawMean("E w^2", z, TruncatedNormal(0, σ, -2 * σ, 2 * σ), z**2),
        lambda z: z**2,
        {σ: 3},
        9 * 0.7737413035499,
    ),
}


@pytest.mark.canary
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_is_one_percent_off_is_rejected_for_every_seed(statement):
    quantity, statistic, point, true = STATEMENTS[statement]
    for seed in range(12):
        wrong = true * (1.01 if seed % 2 else 0.99)
        found = measure(quantity, statistic, point, wrong, name=f"false {seed}", design=FINE)
        assert found.rejects(wrong)
        assert found.redrawn and not found.confirmed
        assert not found.rejects(true)


@pytest.mark.parametrize("expected", [THETA, None])
def test_an_estimate_says_which_values_the_design_tells_apart(expected):
    """Where nothing is expected, they are told from what was measured; nothing is confirmed."""
    found = measure(MEAN, norm2, POINT, expected, name="apart", design=FINE)
    middle = expected or found.mean
    assert found.can_see(1.011 * middle) and found.can_see(0.989 * middle)
    assert not found.can_see(1.009 * middle) and not found.redrawn
    assert found.confirmed is not math.isnan(found.z) is (expected is None)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("expected", "ends"),
    [
        (THETA, "; expected 36: confirmed"),
        (1.01 * THETA, "; expected 36.36: rejected, twice"),
        (None, r" draws\)"),
    ],
)
def test_an_estimate_says_confirmed_only_where_it_is(expected, ends):
    found = measure(MEAN, norm2, POINT, expected, name="line", design=FINE)
    assert re.fullmatch(rf"3[56]\.\d+ ± 0\.0\d+ \(\d+.*{ends}", repr(found))
    assert ("confirmed" in repr(found)) is found.confirmed


@pytest.mark.canary
def test_a_zero_mean_is_measured_in_standard_deviations():
    w = Tensor("w", Normal(0, σ), d)
    odd = mean(total(w[i] ** 3, i))
    for expected, rejected in ((0.0, False), (0.1 * math.sqrt(15 * 16) * 1.5**3, True)):
        found = measure(odd, lambda w: (w**3).sum(-1), POINT, expected, name="odd", design=COARSE)
        assert found.unit == pytest.approx(math.sqrt(15 * 16) * 1.5**3)
        assert found.rejects(expected) is rejected


def test_the_z_scores_of_true_statements_are_standard_normal(monkeypatch):
    known = central_moments(MEAN, POINT)
    monkeypatch.setattr(sampling, "central_moments", lambda *_: known)
    monkeypatch.setattr(sampling, "require_same", lambda *_: None)  # other tests hold it
    scores = np.array([
        measure(MEAN, norm2, POINT, THETA, name=f"score {seed}", design=COARSE).z
        for seed in range(200)
    ])  # fmt: skip
    # Wilson and Hilferty's quantiles of chi-square with 200 degrees of freedom
    low, high = (
        200 * (1 - 2 / 1800 + q * math.sqrt(2 / 1800)) ** 3
        for q in (NormalDist().inv_cdf(1e-4), -NormalDist().inv_cdf(1e-4))
    )
    assert low < (scores**2).sum() < high
    assert abs(scores.sum()) / math.sqrt(200) < -NormalDist().inv_cdf(5e-5)


# ----------------------------------------------------------------------- definition or closed form


@pytest.mark.canary
@pytest.mark.parametrize(
    "statistic, said",
    [
        (lambda w: torch.full(w.shape[:1], THETA), "the definition gives"),
        (lambda w: THETA + w.sum(-1), "the definition gives"),
        (lambda w: 16 * w[:, 0] ** 2, "the definition gives"),
        (lambda w: norm2(w).mean().expand(len(w)), "the definition gives"),
        (lambda w: norm2(w) * 1.0001, "the definition gives"),
        (lambda w: norm2(torch.randn(w.shape)) * 2.25, "the definition gives"),
        (lambda w: norm2(w) * (1 + 1e-7), "they differ on random inputs, by little"),
        (lambda w: w, r"the shape \(4096, 16\), the definition \(4096,\)"),
        (lambda w: norm2(w).mean(), r"the shape \(\)"),
        (lambda w: norm2(w)[:, None], r"the shape \(4096, 1\)"),
        (lambda w: norm2(w) * math.nan, "not finite"),
        (lambda w: torch.where(norm2(w) > 60, math.inf, norm2(w)), "not finite"),
    ],
)
def test_a_statistic_that_is_not_the_definition_is_refused_whatever_its_mean(statistic, said):
    message = f"^the torch statistic is not the definition of E.* at d=16, sigma=1.5: .*{said}"
    with pytest.raises(OtherStatistic, match=message):
        measure(MEAN, statistic, POINT, THETA, name="impostor", design=COARSE)


@pytest.mark.canary
def test_a_statistic_that_turns_out_not_finite_is_refused():
    def late(w):
        return norm2(w) if len(w) <= 4096 else norm2(w) * math.inf

    with pytest.raises(ValueError, match="statistic: returned a value that is not finite"):
        measure(MEAN, late, POINT, THETA, name="late", design=FINE)


@pytest.mark.canary
def test_a_definition_without_randomness_is_refused():
    one = LawMean("1", z, Normal(0, 1), sp.Integer(1))
    with pytest.raises(ValueError, match="does not depend on its inputs"):
        require_same(one, lambda z: torch.ones_like(z), {}, "constant")


def test_a_function_is_compared_on_its_support_only():
    inside = LawMean("E w^2", z, Uniform(-1, 1), z**2)
    require_same(inside, lambda z: z**2, {}, "support")


def test_a_variance_may_be_written_in_another_way():
    require_same(VARIANCE, lambda w: torch.einsum("ri,ri->r", w, w), POINT, "x")


# --------------------------------------------------------------------------- a few independent runs


@pytest.mark.parametrize(
    "n, level, quantile",
    [(3, 0.99, 9.924843), (10, 0.99, 3.249836), (2, 0.95, 12.706205), (30, 0.95, 2.045230)],
)
def test_the_mean_interval_is_student_s(n, level, quantile):
    values = [float(k) for k in range(n)]
    low, high = mean_interval(values, level)
    half = quantile * np.std(values, ddof=1) / math.sqrt(n)
    assert (low, high) == pytest.approx(((n - 1) / 2 - half, (n - 1) / 2 + half), rel=1e-6)


@pytest.mark.canary
def test_a_statistic_that_does_not_vary_is_refused():
    signs = variance(squared_norm(Discrete((-σ, σ), (sp.Rational(1, 2), sp.Rational(1, 2)))))
    with pytest.raises(ValueError, match="does not vary"):
        measure(signs, norm2, POINT, 0.0, name="signs")


@pytest.mark.canary
@pytest.mark.parametrize("values", [[], [1.0]])
def test_one_run_has_no_interval(values):
    with pytest.raises(ValueError, match=f"values: got {len(values)}; accepted: at least two"):
        mean_interval(values)


# ------------------------------------------------------------------ a single definition


MEDIUM = Design(resolution=0.05, false_alarm=1e-4, miss=0.01)
AT = {d: 3, σ: 1.3}

IMPOSTORS = {
    "closed form": (lambda w, v: torch.full((len(w),), 3 * 1.3**2).to(w), "whatever its inputs"),
    "ignores v": (lambda w, v: (w * w).sum(-1), "ignores its input v"),
    "average of the batch": (lambda w, v: (w * v).sum(-1).mean().expand(len(w)), "mixes replic"),
    "centred by the batch": (lambda w, v: (w * v).sum(-1) - w.mean(), "mixes replicates"),
    "depends on the batch's size": (lambda w, v: (w * v).sum(-1) * len(w), "mixes replicates"),
    "closed form and noise": (
        lambda w, v: 5.07 + torch.randn(len(w)).to(w), "draws nothing itself",
    ),
    "one number an entry": (lambda w, v: w * v, "returned shape"),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("name", IMPOSTORS)
def test_a_single_definition_that_cannot_fail_is_refused(name: str) -> None:
    statistic, message = IMPOSTORS[name]
    draws = {"w": Tensor("w", Normal(0, σ), d), "v": Tensor("v", Normal(0, σ), d)}
    with pytest.raises(ValueError, match=f"statistic: .*{message}"):
        measure(Sampled("E w.v", draws, statistic), None, AT, 0.0, name="x", design=MEDIUM)


@pytest.mark.canary
def test_a_definition_in_numpy_cannot_be_drawn_alone() -> None:
    quantity = Piloted("E w", {"w": Tensor("w", Normal(0, σ), d)}, lambda w: w.sum(-1))
    with pytest.raises(TypeError, match=r"statistic: none given, .* is in NumPy"):
        measure(quantity, None, AT, 0.0, name="x")


def test_a_statistic_may_be_the_same_for_all_draws_of_its_own_law() -> None:
    draws = {"w": Tensor("w", Rademacher(σ), d)}
    require_definition(lambda w: (w * w).sum(-1), draws, {d: 3, σ: 2}, "|w|²")


def test_a_statistic_is_given_sizes_as_integers() -> None:
    seen = {}

    def statistic(w: torch.Tensor, point: dict) -> torch.Tensor:
        seen.update(point)
        return w.sum(-1)

    require_definition(statistic, {"w": Tensor("w", Rademacher(σ), d)}, {d: 2, σ: 1}, "w")
    assert isinstance(seen[d], int) and isinstance(seen[σ], float)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("point", "error", "message"),
    [
        ({"d": 3, σ: 1}, TypeError, "point: got the key 'd', a str"),
        ({σ: 1}, ValueError, "point: got no value for d, a size of the input 'w'"),
        ({d: 3}, ValueError, "point: got no value for sigma, in the law of the input 'w'"),
        ({d: 0, σ: 1}, ValueError, "point: gives the input 'w' the size 0"),
        ({d: 2.5, σ: 1}, ValueError, "point: gives the input 'w' the size 2.5"),
    ],
)
def test_a_bad_point_is_named(point: dict, error: type[Exception], message: str) -> None:
    draws = {"w": Tensor("w", Rademacher(σ), d)}
    with pytest.raises(error, match=message):
        measure(Sampled("E w_1", draws, lambda w: w.sum(-1)), None, point, 0.0, name="x")


@pytest.mark.canary
def test_bad_draws_and_statistics_are_named() -> None:
    with pytest.raises(TypeError, match="draws: got 'w': 3; accepted: a name and what is drawn"):
        Sampled("E", {"w": 3}, lambda w: w)  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="draws: got none"):
        Sampled("E", {}, lambda: None)
    draws = {"w": Tensor("w", Rademacher(1), d)}
    for statistic, message in (
        (lambda x: x, r"statistic: takes x; accepted: .* inputs, w, and point"),
        (lambda w: 3.0, "statistic: returned float; accepted: a torch tensor"),
    ):
        with pytest.raises(TypeError, match=message):
            require_definition(statistic, draws, {d: 2}, "E")
    with pytest.raises(ValueError, match="replicates: got 5; accepted: at least 1024"):
        Sampled("E", draws, lambda w: w.sum(-1), replicates=5)
    with pytest.raises(TypeError, match="definition: got 5; accepted: a function"):
        Piloted("E", draws, 5)  # type: ignore[arg-type]
