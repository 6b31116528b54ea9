"""Laws of one entry: moments, nodes and samplers against independent references."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
import pytest
import sympy as sp
import torch
from simulated_device import simulated_device

from verifiedbook.exact.formulas.evaluation import quadrature
from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.laws import (
    SKEWED,
    Discrete,
    General,
    MissingMoment,
    Normal,
    Rademacher,
    TruncatedNormal,
    Uniform,
)

σ, τ, κ, μ, a, b = symbols("sigma tau kappa mu a b")
x = sp.Symbol("x", real=True)

INFINITY = math.inf
# each law with symbols, a point, and there its unnormalised log density between two ends
CASES = {
    "normal": (
        Normal(μ, σ), {μ: 0.4, σ: 1.3}, (lambda w: -((w - 0.4) ** 2) / 3.38, -INFINITY, INFINITY),
    ),
    "uniform": (Uniform(a, b), {a: -0.6, b: 1.7}, (np.zeros_like, -0.6, 1.7)),
    "two-sided": (
        TruncatedNormal(μ, σ, a, b), {μ: 0.2, σ: 1.3, a: -1.1, b: 2.3},
        (lambda w: -((w - 0.2) ** 2) / 3.38, -1.1, 2.3),
    ),
    "symmetric": (
        TruncatedNormal(0, σ, -2 * σ, 2 * σ), {σ: 0.7}, (lambda w: -(w**2) / 0.98, -1.4, 1.4),
    ),
    "one-sided": (
        TruncatedNormal(0, σ, a, sp.oo), {σ: 1.3, a: 0.9},
        (lambda w: -(w**2) / 3.38, 0.9, INFINITY),
    ),
    "untruncated": (
        TruncatedNormal(μ, σ, -sp.oo, sp.oo), {μ: 0.4, σ: 1.3},
        (lambda w: -((w - 0.4) ** 2) / 3.38, -INFINITY, INFINITY),
    ),
    "Rademacher": (Rademacher(σ), {σ: 1.3}, None),
}  # fmt: skip
CONTINUOUS = [name for name in CASES if name != "Rademacher"]
SIX = General({1: μ, 2: τ, 3: a, 4: b, 5: σ, 6: κ})


def integral(density, function):
    """The mean of a function under an unnormalised density, by quadrature."""
    log, low, high = density
    parts = (quadrature(lambda w, f=f: f(w) * np.exp(log(w)), low, high).value
             for f in (function, np.ones_like))  # fmt: skip
    return next(parts) / next(parts)


def nodes_of(law):
    return map(np.array, law.nodes())


def raw_moments(law, order):
    return [float(sp.N(law.raw_moment(k), 25)) for k in range(order + 1)]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_raw_moments_equal_a_reference(name):
    law, point, density = CASES[name]
    found = raw_moments(law.at(point), 6)
    expected = [integral(density, lambda w, k=k: w**k) for k in range(7)]
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_closed_forms():
    uniform = Uniform.of_variance(σ**2)
    assert [uniform.raw_moment(k) for k in (1, 2, 4)] == [0, σ**2, 9 * σ**4 / 5]
    truncated = TruncatedNormal(0, σ, -2 * σ, 2 * σ)
    variance = σ**2 * (1 - 4 * sp.exp(-2) / sp.sqrt(2 * sp.pi) / sp.erf(sp.sqrt(2)))
    assert sp.simplify(truncated.raw_moment(2) - variance) == 0
    assert [SKEWED.raw_moment(k) for k in range(5)] == [1, 0, 2, 3, 11]
    assert (uniform.variance, SKEWED.variance, Normal(μ, σ).variance) == (σ**2, 2, σ**2)


def test_names_are_deterministic_text():
    assert Normal(0, σ).name == "Normal(0, sigma)"
    assert Rademacher(σ).name == "Rademacher(sigma)"
    assert General({4: κ * σ**4, 1: 0}).name == "General({1: 0, 4: kappa*sigma**4})"
    assert TruncatedNormal(0, σ, -sp.oo, a).name == "TruncatedNormal(0, sigma, -oo, a)"


def test_decimals_are_read_as_they_print():
    assert Normal(0, 1.3).sd == sp.Rational(13, 10)
    assert Normal(0, np.float64(0.1) * 3).sd == sp.Rational("0.30000000000000004")
    assert Normal(0, 1.5 * σ).sd == 3 * σ / 2
    assert Normal(0, σ).at({σ: 0.02}).sd == sp.Rational(1, 50)


# ------------------------------------------------------------------------------------- nodes


@pytest.mark.parametrize("name", CASES)
def test_nodes_give_means_of_powers_to_rounding(name):
    law, point, _ = CASES[name]
    law = law.at(point)
    nodes, weights = nodes_of(law)
    assert weights.min() >= 0 and abs(weights.sum() - 1) < 1e-14
    size = raw_moments(law, 12)
    for k in range(13):
        assert abs(weights @ nodes**k - size[k]) < 1e-13 * size[k + k % 2]


@pytest.mark.parametrize("law", [Normal(0, 1), Uniform(-1, 1), TruncatedNormal(0, 1, -2, 2)])
def test_odd_powers_of_a_symmetric_law_have_the_mean_zero(law):
    nodes, weights = law.nodes()
    for k in (1, 3, 9):
        assert math.fsum(p * x**k for x, p in zip(nodes, weights, strict=True)) == 0


def test_nodes_deep_in_a_tail():
    law = TruncatedNormal(0, 1, 10, sp.oo)
    nodes, weights = nodes_of(law)
    expected = float(sp.N(law.raw_moment(6), 30))
    assert nodes.min() >= 10 and abs(weights @ nodes**6 / expected - 1) < 1e-12


# --------------------------------------------------------------------------- laws by moments


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("reference", [Normal(1, 2), Uniform(0, 3), SKEWED, Normal(0, 0.02)])
def test_general_law_reproduces_the_moments_it_was_given(reference, order):
    raw = raw_moments(reference, order)
    values, weights = nodes_of(General({k: raw[k] for k in range(1, order + 1)}).at({}))
    unit = math.sqrt(raw_moments(reference, 2)[2])
    for k in range(1, order + 1):
        assert abs(weights @ values**k - raw[k]) < 1e-9 * unit**k


def test_general_law_needs_as_few_points_as_the_moments_allow():
    values, weights = nodes_of(General({1: 0, 2: σ**2, 4: σ**4}).at({σ: 1.3}))
    assert np.allclose(values, [-1.3, 1.3]) and np.allclose(weights, 0.5)
    values, _ = nodes_of(General({1: 0, 2: σ**2, 4: κ * σ**4}).at({σ: 1.3, κ: 2.5}))
    assert len(values) == 3 and np.allclose(values, -values[::-1], atol=1e-14)
    assert len(General({1: 0, 2: 2, 3: 3, 4: 11, 5: 30, 6: 92}).at({}).nodes()[0]) == 3


def test_unknown_moments_are_refused_by_name():
    law = General({1: 0, 2: σ**2, 4: κ * σ**4})
    for k in (3, 6):
        with pytest.raises(MissingMoment, match=rf"E\[w\*\*{k}\]"):
            law.raw_moment(k)
    with pytest.raises(MissingMoment, match=r"E\[w\*\*3\]"):
        General({1: 1, 2: 2, 4: 6}).at({})
    assert SIX.at(dict.fromkeys((μ, a, σ), 0) | {τ: 1, b: 3, κ: 15}).raw_moment(1) is not None


# ---------------------------------------------------------------------------------- sampling

DRAWS, BOUND = 200_000, 4.9  # |z| < 4.9 in each of about 60 comparisons: false alarm 6e-5 in all
SAMPLED = {
    **{name: law.at(point) for name, (law, point, _) in CASES.items()},
    "skewed": SKEWED,
    "discrete": Discrete((-2, 0.5, 4), (0.2, 0.7, 0.1)),
    "general": General({1: 0, 2: 1.69, 4: 9}),
    "rare": TruncatedNormal(0, 1, 2, sp.oo),
}


def z_scores(draws, law, orders=(1, 2, 3)):
    """Distances of sample moments from the law's, in standard errors known from the law."""
    nodes, weights = nodes_of(law)
    for k in orders:
        moment = weights @ nodes**k
        error = math.sqrt((weights @ nodes ** (2 * k) - moment**2) / draws.size)
        yield (np.mean(draws**k) - moment) / error if error else 0.0


def sampled(law, dtype, seed, shape=(DRAWS,)):
    out = torch.full(shape, float("nan"), dtype=dtype)
    assert law.sample_(out, torch.Generator().manual_seed(seed)) is out
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", SAMPLED)
def test_draws_have_the_laws_moments(name, dtype):
    """And so have those in a view of a buffer that is filled again; around it nothing is drawn."""
    law, source = SAMPLED[name], torch.Generator().manual_seed(20244)
    draws = sampled(law, dtype, 20240)
    assert torch.equal(draws, sampled(law, dtype, 20240))
    buffer = torch.full((300, 4, 200), float("nan"), dtype=dtype)
    view = buffer[:, 1:3].transpose(0, 2)
    for found in (draws, law.sample_(view, source), law.sample_(view, source)):
        assert all(abs(z) < BOUND for z in z_scores(found.double().numpy().ravel(), law))
    assert buffer[:, 0].isnan().all() and buffer[:, 3].isnan().all()


@pytest.mark.parametrize(
    ("wrong", "right", "clipped"),
    [
        (Normal(0, 1.3), Normal(0.4, 1.3), math.inf),  # mean ignored
        (Normal(0.4, 1.69), Normal(0.4, 1.3), math.inf),  # variance for standard deviation
        (Uniform.of_variance(1.69, 0.4), Normal(0.4, 1.3), math.inf),  # of the same variance
        (Normal(0, 1), TruncatedNormal(0, 1, -1, 1), 1),  # clipping is not truncation
    ],
)
def test_draws_from_a_wrong_law_are_noticed(wrong, right, clipped):
    draws = sampled(wrong, torch.float64, 20241).clamp(-clipped, clipped).numpy()
    assert any(abs(z) > BOUND for z in z_scores(draws, right, (1, 2, 3, 4)))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_follow_the_whole_distribution(name):
    """Shares below five thresholds: |z| < 4.9 each, n = 20 000."""
    log, low, high = CASES[name][2]
    draws = sampled(SAMPLED[name], torch.float64, 20243, (20_000,)).numpy()
    whole = quadrature(lambda w: np.exp(log(w)), low, high).value
    for threshold in np.quantile(draws, [0.05, 0.3, 0.5, 0.7, 0.95]):
        share = quadrature(lambda w: np.exp(log(w)), low, threshold).value / whole
        error = math.sqrt(share * (1 - share) / draws.size)
        assert abs(np.mean(draws <= threshold) - share) < BOUND * error


@pytest.mark.parametrize("shape", [(0,), (), (1,), (3, 5)])
def test_small_and_empty_tensors(shape):
    law = TruncatedNormal(0, 1, 2.5, 3)
    draws = sampled(law, torch.float64, 1, shape)
    assert bool(((draws >= 2.5) & (draws <= 3)).all()) and draws.shape == shape


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", SAMPLED)
def test_draws_on_cuda(name, dtype):
    law = SAMPLED[name]
    with nullcontext() if torch.cuda.is_available() else simulated_device():
        out = torch.full((DRAWS, 2), float("nan"), dtype=dtype, device="cuda")[:, 0]
        law.sample_(out, torch.Generator("cuda").manual_seed(20245))
        draws = out.double().cpu().numpy()
    assert all(abs(z) < BOUND for z in z_scores(draws, law))


def test_parameters_that_need_gradients_can_be_filled():
    weight = torch.nn.Parameter(torch.empty(4, 3))
    TruncatedNormal(0, 1, -1, 1).sample_(weight, torch.Generator().manual_seed(0))
    assert bool((weight.abs() <= 1).all())


# ---------------------------------------------------------------------------------- refusals


GENERATOR = torch.Generator()
REFUSED = {
    "sd": (lambda: Normal(0, -1), "sd: got -1"),
    "zero sd": (lambda: TruncatedNormal(0, 0, -1, 1), "sd: got 0"),
    "text": (lambda: Normal("0", 1), "mean: got '0'"),
    "infinite mean": (lambda: Normal(sp.oo, 1), "mean: got oo"),
    "not a number": (lambda: Normal(math.nan, 1), "mean: got nan"),
    "complex": (lambda: Normal(0, sp.I), "sd: got I"),
    "bounds": (lambda: Uniform(1, 1), "high - low: got 0"),
    "truncation": (lambda: TruncatedNormal(0, 1, 2, 1), "high - low: got -1"),
    "probabilities": (lambda: Discrete((1, 2), (0.5, 0.4)), "accepted: >= 0 with sum 1"),
    "negative": (lambda: Discrete((1, 2), (1.5, -0.5)), "accepted: >= 0 with sum 1"),
    "lengths": (lambda: Discrete((1, 2), (1,)), "got 1 for 2 values"),
    "no moments": (lambda: General({}), "accepted: integers >= 1"),
    "order zero": (lambda: General({0: 1}), "accepted: integers >= 1"),
    "impossible moments": (lambda: General({1: 0, 2: 1, 4: 0.5}).at({}), "no law has"),
    "negative variance": (lambda: General({1: 0, 2: -1}).at({}), "no law has"),
    "order": (lambda: Normal(0, 1).raw_moment(-1), "k: got -1"),
    "fractional order": (lambda: Normal(0, 1).raw_moment(1.5), "k: got 1.5"),
    "symbol in nodes": (lambda: Normal(0, σ).nodes(), "sigma not a number yet"),
    "symbol in draws": (lambda: Uniform(0, σ).sample_(torch.empty(2), GENERATOR), "sigma not a"),
    "integers": (
        lambda: Normal(0, 1).sample_(torch.empty(2, dtype=torch.int64), GENERATOR),
        "got torch.int64",
    ),
    "half": (
        lambda: Normal(0, 1).sample_(torch.empty(2, dtype=torch.float16), GENERATOR),
        "got torch.float16",
    ),
    "array": (lambda: Normal(0, 1).sample_(np.empty(2), GENERATOR), "accepted: a float32 or"),
    "hopeless rejection": (
        lambda: TruncatedNormal(0, 1, 4, 5).sample_(torch.empty(2), GENERATOR),
        "rejection would accept only 3.1e-05",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused(name):
    action, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=message):
        action()
