"""The moment engine: known results, exact enumeration, and wrong versions that must be caught."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

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
from verifiedbook.exact.moments import (
    Index,
    Tensor,
    mean,
    patterns,
    total,
    variance,
)

d, n, h, m, σ, τ, κ, μ = symbols("d n h m sigma tau kappa mu")
i, j, k = (Index(name, d) for name in "ijk")
a, b = Index("a", h), Index("b", h)
o = Index("o", n)
CENTRED = General({1: 0, 2: σ**2, 4: κ * σ**4})
FREE = General({order: sp.Symbol(f"m{order}", real=True) for order in range(1, 9)})
m1, m2, m3, m4 = (FREE.raw_moment(order) for order in (1, 2, 3, 4))


def tensors(law, other=None):
    """The tensors of the catalogue, all with one law, or the vectors v, y with another."""
    other = other or law
    return {
        "w": Tensor("w", law, d),
        "v": Tensor("v", other, d),
        "y": Tensor("y", other, d),
        "Q": Tensor("Q", law, d, h),
        "K": Tensor("K", law, d, h),
        "U": Tensor("U", law, n, h),
    }


def norm2(t):
    return total(t["w"][i] ** 2, i)


def dot(t):
    return total(t["w"][i] * t["v"][i], i)


def frobenius(t):
    return total(t["Q"][i, a] * t["Q"][j, a] * t["Q"][j, b] * t["Q"][i, b], i, j, a, b)


def logit(t):
    return total(t["w"][i] * t["Q"][i, a] * t["K"][j, a] * t["y"][j], i, j, a)


def two_layers(t):
    return total(total(t["U"][o, a] * t["Q"][i, a] * t["w"][i], i, a) ** 2, o)


NORMAL, GENERAL, ANY = tensors(Normal(0, σ), Normal(0, τ)), tensors(CENTRED), tensors(FREE)

KNOWN = {
    "E|w|^2": (mean(norm2(ANY)), d * m2),
    "E|w|^4": (mean(norm2(ANY) ** 2), d * m4 + d * (d - 1) * m2**2),
    "E|w|^4 normal": (mean(norm2(NORMAL) ** 2), d * (d + 2) * σ**4),
    "E|w|^8 normal": (mean(norm2(NORMAL) ** 4), d * (d + 2) * (d + 4) * (d + 6) * σ**8),
    "Var|w|^2": (variance(norm2(ANY)), d * (m4 - m2**2)),
    "Var|w|^2 normal": (variance(norm2(NORMAL)), 2 * d * σ**4),
    "Var|w|^2 kurtosis": (variance(norm2(GENERAL)), d * (κ - 1) * σ**4),
    "E(w.v)^2": (mean(dot(NORMAL) ** 2), d * σ**2 * τ**2),
    "E(w.v)^4": (mean(dot(NORMAL) ** 4), 3 * d * (d + 2) * σ**4 * τ**4),
    "Var w.v": (variance(dot(ANY)), d * (m2**2 - m1**4)),
    "E tr(QQ')^2": (
        mean(frobenius(GENERAL)),
        d * h * (d - 1 + h - 1 + κ) * σ**4,
    ),
    "E(x'QK'y)^2": (mean(logit(NORMAL) ** 2), d**2 * h * σ**6 * τ**2),
    "Var|UQ'x|^2": (
        variance(two_layers(NORMAL)),
        n * h * d * σ**12 * ((n + 2) * (h + 2) * (d + 2) - n * h * d),
    ),
    "fixed coordinate": (mean(NORMAL["w"][i] ** 2 * norm2(NORMAL)), (d + 2) * σ**4),
    "coefficients": (mean((norm2(ANY) / d - m2) ** 2), (m4 - m2**2) / d),
    "mean shift": (mean((norm2(ANY) - d * m2) ** 2), d * (m4 - m2**2)),
    "integer size": (
        mean(total(Tensor("g", FREE, 3)[Index("p", 3)] ** 2, Index("p", 3)) ** 2),
        3 * m4 + 6 * m2**2,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_results_with_symbolic_sizes(name):
    quantity, expected = KNOWN[name]
    assert sp.expand(quantity.value - expected) == 0
    assert sp.expand(quantity.value - expected - σ**2 / 1000) != 0


def test_values_are_shown_in_a_short_form():
    shown = {name: str(KNOWN[name][0].value) for name in KNOWN}
    assert shown["Var|w|^2 normal"] == "2*d*sigma**4"
    assert KNOWN["Var|w|^2 normal"][0].quantity == "Var(Sum(w[i]**2, (i, 1, d)))"
    assert shown["Var|w|^2"] == "d*(-m2**2 + m4)"
    assert shown["Var|w|^2 kurtosis"] == "d*sigma**4*(kappa - 1)"
    assert shown["E|w|^4 normal"] == "d*sigma**4*(d + 2)"
    assert shown["E(w.v)^4"] == "3*d*sigma**4*tau**4*(d + 2)"


# -------------------------------------------------------------------------- exact enumeration


SKEWED_PAIRS = [(int(v), Fraction(int(p.p), int(p.q)))
                for v, p in zip(SKEWED.values, SKEWED.probabilities, strict=True)]  # fmt: skip


def enumerated(function, entries):
    """Mean and variance of a function of iid skewed entries, in rational numbers."""
    first = second = Fraction(0)
    for draw in itertools.product(SKEWED_PAIRS, repeat=entries):
        weight = Fraction(1)
        for _, p in draw:
            weight *= p
        value = function([v for v, _ in draw])
        first, second = first + weight * value, second + weight * value**2
    return first, second - first**2


def enumeration_cases():
    t = tensors(SKEWED)

    def matrix(x, rows, columns):
        return [x[r * columns : (r + 1) * columns] for r in range(rows)]

    def gram(x):
        q = matrix(x, 2, 3)
        return sum(sum(q[r][c] * q[s][c] for c in range(3)) ** 2 for r in (0, 1) for s in (0, 1))

    def attention(x):
        w, y, q, keys = x[:1], x[1:2], x[2:4], x[4:6]
        return w[0] * y[0] * sum(q[c] * keys[c] for c in (0, 1))

    def layers(x):
        inner = [x[0] * x[1 + c] for c in (0, 1)]
        return sum(sum(x[3 + 2 * r + c] * inner[c] for c in (0, 1)) ** 2 for r in (0, 1))

    return {
        "norm": (norm2(t), {d: 3}, 3, lambda x: sum(v * v for v in x)),
        "norm squared": (norm2(t) ** 2, {d: 3}, 3, lambda x: sum(v * v for v in x) ** 2),
        "cube of the sum": (total(t["w"][i], i) ** 3, {d: 4}, 4, lambda x: sum(x) ** 3),
        "dot": (dot(t) ** 2, {d: 3}, 6, lambda x: sum(x[p] * x[p + 3] for p in range(3)) ** 2),
        "fixed index": (
            (t["w"][i] + 2) * total(t["w"][j] ** 3, j) - norm2(t),
            {d: 3},
            3,
            lambda x: (x[0] + 2) * sum(v**3 for v in x) - sum(v * v for v in x),
        ),
        "gram": (frobenius(t), {d: 2, h: 3}, 6, gram),
        "attention": (logit(t), {d: 1, h: 2}, 6, attention),
        "layers": (two_layers(t), {d: 1, h: 2, n: 2}, 7, layers),
    }


ENUMERATED = enumeration_cases()


@pytest.mark.parametrize("name", ENUMERATED)
def test_the_derivation_and_the_oracle_equal_exact_enumeration(name):
    statistic, point, entries, function = ENUMERATED[name]
    for quantity, expected in zip(
        (mean(statistic), variance(statistic)), enumerated(function, entries), strict=True
    ):
        assert quantity.value.subs(point) == sp.Rational(expected)
        oracle = quantity.oracle(point)
        assert abs(oracle.value - float(expected)) <= oracle.error < 1e-9 * max(1, expected)


@pytest.mark.parametrize("name", ["norm squared", "gram", "fixed index"])
def test_the_definition_is_evaluated_literally(name):
    statistic, point, entries, function = ENUMERATED[name]
    quantity = mean(statistic)
    ((label, tensor),) = quantity.draws.items()
    sizes = [int(size.xreplace(point)) for size in tensor.sizes]
    draws = np.random.default_rng(1).normal(size=(5, entries))
    found = quantity.evaluate({label: draws.reshape(5, *sizes)}, point)
    assert np.allclose(found, [function(list(x)) for x in draws], rtol=1e-13)


LAWS = {
    "normal": (Normal(μ, σ), {μ: 0.3, σ: 1.3}),
    "uniform": (Uniform(-σ, 2 * τ), {σ: 1.3, τ: 0.7}),
    "truncated": (TruncatedNormal(μ, σ, -τ, sp.oo), {μ: 0.2, σ: 1.3, τ: 0.7}),
    "Rademacher": (Rademacher(σ), {σ: 1.3}),
    "discrete": (Discrete((0, σ), (κ, 1 - κ)), {σ: 1.3, κ: 0.3}),
    "general": (General({1: μ, 2: σ**2, 3: τ, 4: κ}), {μ: 0.3, σ: 1.3, τ: 0.7, κ: 7.0}),
}


@pytest.mark.parametrize("name", LAWS)
def test_every_law_agrees_with_the_oracle(name):
    law, point = LAWS[name]
    t = tensors(law)
    for quantity in (mean(norm2(t) ** 2), variance(norm2(t) - 3 * d), variance(dot(t))):
        for size in (2, 3):
            at = {**point, d: size}
            expected = quantity.oracle(at)
            exact = {s: sp.Rational(str(v)) for s, v in at.items()}
            found = float(quantity.value.subs(exact))
            assert abs(found - expected.value) <= expected.error < 1e-10 * max(1, found)


def random_statistic(source):
    """A random polynomial of degree at most 8 in the statistic's mean square."""
    laws = [SKEWED, Normal(μ, σ), Normal(0, σ), Uniform(-σ, 2 * τ)]
    pool = [Tensor("w", source.choice(laws), d), Tensor("Q", source.choice(laws), d, h)]

    def monomial():
        product = source.choice([1, 2, -1]) * source.choice([sp.Integer(1), σ, 1 / d])
        for _ in range(source.randint(1, 2)):
            tensor = source.choice(pool)
            indices = tuple(source.choice((i, j, k) if s == d else (a, b)) for s in tensor.sizes)
            product *= tensor[indices] ** source.choice([1, 1, 2])
        summed = [
            x for x in product.free_symbols if isinstance(x, Index) and (x != i or fixed == 0)
        ]
        return total(product, *sorted(summed, key=str)) if summed else product

    fixed = source.randint(0, 1)
    statistic = monomial() + monomial()
    return statistic * monomial() if source.random() < 0.3 else statistic


@pytest.mark.slow
# 0 and 16 would take three times as long as all of the others
@pytest.mark.parametrize("seed", [*range(1, 16), *range(17, 40)])
def test_random_polynomials_agree_with_the_oracle(seed):
    """Values that cancel are included: the oracle's own bound for its rounding must hold."""
    source = random.Random(seed)
    quantity = source.choice((mean, variance))(random_statistic(source))
    point = {d: 2, h: 2, **{s: sp.Rational(v) for s, v in ((σ, "1.3"), (τ, "0.7"), (μ, "0.4"))}}
    expected = quantity.oracle(point)
    found = float(sp.N(quantity.value.subs(point), 20))
    assert abs(found - expected.value) <= expected.error + 1e-14 * abs(found)


@pytest.mark.canary
def test_a_rule_of_too_few_nodes_is_seen(monkeypatch):
    rule, point, quantity = Normal.nodes, {d: 3, σ: 1.3}, variance(norm2(NORMAL))
    usual = quantity.oracle(point)
    monkeypatch.setattr(Normal, "nodes", lambda law: [part[::16] for part in rule(law)])
    assert abs(quantity.oracle(point).value - usual.value) > 0.1 * usual.value


# ---------------------------------------------------------------------------- the derivation


def test_patterns_are_the_derivation_in_plain_words():
    quantity = mean(norm2(ANY) ** 2)
    assert [p.text for p in quantity.patterns] == [
        "i = j: d terms of E[w^4]",
        "i != j: d(d - 1) terms of E[w^2]^2",
    ]
    assert [(p.count, p.value) for p in quantity.patterns] == [(d, m4), (d * (d - 1), m2**2)]
    assert "i = j, k, l all different: 6 d(d - 1)(d - 2) terms of E[w^4] E[w^2]^2" in [
        p.text.replace("E[w^2]^2 E[w^4]", "E[w^4] E[w^2]^2") for p in mean(norm2(ANY) ** 4).patterns
    ]


@pytest.mark.parametrize("name", KNOWN)
def test_patterns_add_up_and_steps_lead_to_the_value(name):
    quantity, expected = KNOWN[name]
    added = sp.Add(*(p.count * p.value for p in quantity.patterns))
    squared = (
        expected if quantity.estimator == "mean" else expected + mean(quantity.statistic).value ** 2
    )
    assert sp.expand(added - squared) == 0
    assert quantity.steps[0].reason == "definition"
    assert quantity.steps[-1].expression == quantity.value
    assert all(sp.latex(step.expression) for step in quantity.steps)


# ---------------------------------------------------------------------------- breaking things


@pytest.mark.canary
def test_a_fault_in_the_cases_is_seen_by_the_oracle(monkeypatch):
    right, point = patterns.falling, {d: 4, σ: sp.Rational(13, 10)}
    monkeypatch.setattr(
        patterns, "falling",
        lambda *given: [2 * x if k == 3 else x for k, x in enumerate(right(*given))],
    )  # fmt: skip
    for power, off in ((3, False), (4, True)):
        quantity = mean(norm2(NORMAL) ** power)
        ratio = float(quantity.value.subs(point)) / quantity.oracle(point).value
        assert (abs(ratio - 1) > 0.01) is off


@pytest.mark.canary
@pytest.mark.parametrize("law", [TruncatedNormal(0, σ, -2 * σ, 2 * σ), Normal(0, σ)])
def test_a_fault_in_a_law_is_seen_by_the_oracle(law, monkeypatch):
    raw = type(law)._raw
    monkeypatch.setattr(type(law), "_raw", lambda law, k: raw(law, k) * (2 if k == 4 else 1))
    quantity = mean(norm2(tensors(law)) ** 2)
    point = {d: 3, σ: sp.Rational(13, 10)}
    assert abs(float(quantity.value.subs(point)) / quantity.oracle(point).value - 1) > 0.1


# ------------------------------------------------------------------------------------ refusals


W = NORMAL["w"]
REFUSED = {
    "negative power": (lambda: mean(norm2(NORMAL) ** -1), "is not a polynomial"),
    "division": (lambda: mean(1 / W[i]), "is not a polynomial"),
    "root": (lambda: variance(sp.sqrt(norm2(NORMAL))), "is not a polynomial"),
    "exponential": (lambda: mean(sp.exp(norm2(NORMAL))), "is not a polynomial"),
    "exponent": (lambda: mean(2 ** W[i]), "is not a polynomial"),
    "symbolic power": (lambda: mean(W[i] ** n), "is not a polynomial"),
    "two fixed indices": (lambda: mean(W[i] * W[j]), "might coincide"),
    "no entries": (lambda: mean(σ**2), "must have entries"),
    "no expression": (lambda: mean("w"), "accepted: a real number or SymPy expression"),
    "tensor without index": (lambda: mean(W * W[i]), "outside of an entry"),
    "index as a number": (lambda: mean(total(i * W[i], i)), "outside of an entry"),
    "wrong size": (lambda: W[a], "accepted: sizes"),
    "number as index": (lambda: W[0], "accepted: Index objects"),
    "index not in the body": (lambda: total(W[i], j), "accepted: distinct indices in it"),
    "index twice": (lambda: total(W[i], i, i), "accepted: distinct indices in it"),
    "one name for two": (lambda: mean(W[i] * Tensor("w", CENTRED, d)[i]), "share a name"),
    "size": (lambda: Index("i", -1), "accepted: a positive integer"),
    "fractional size": (lambda: Tensor("w", CENTRED, σ), "accepted: a positive integer"),
    "no law": (lambda: Tensor("w", 1, d), "accepted: a Law"),
    "unknown moment": (lambda: mean(norm2(GENERAL) ** 3).value, r"E\[w\*\*6\]"),
    "too many terms": (
        lambda: mean(norm2(NORMAL) ** 4).oracle({d: 60, σ: 1}),
        "595665 terms; accepted: at most",
    ),
    "no number": (lambda: mean(norm2(NORMAL)).oracle({d: 2}), "got nothing for sigma"),
    "size at the point": (lambda: mean(norm2(NORMAL)).oracle({d: 2.5, σ: 1}), "positive integer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_polynomial_or_no_point_is_refused(name):
    action, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=message):
        action()


def test_an_unknown_moment_matters_only_where_the_value_depends_on_it():
    law = General({1: μ, 2: σ**2, 4: κ})  # the third moment is not given
    quantity = mean(total(Tensor("w", law, d)[i] ** 2, i) ** 2)
    assert sp.expand(quantity.value - d * κ - d * (d - 1) * σ**4) == 0
    with pytest.raises(MissingMoment, match=r"E\[w\*\*3\]"):
        _ = mean(total(Tensor("w", law, d)[i] ** 3, i)).value


# ------------------------------------------------------------------------------ measuring side


@pytest.mark.parametrize("size", [3, 4, 5])
def test_moments_of_a_statistic(size):
    found = variance(norm2(NORMAL)).statistic_moments({d: size, σ: 1.3}, 6)
    chi2 = np.cumprod([1.69 * (size + 2 * r) for r in range(6)])
    assert np.allclose(found, chi2, rtol=1e-12)


def test_moments_of_a_large_statistic_come_from_the_engine():
    found = mean(dot(NORMAL) ** 2).statistic_moments({d: 64, σ: 1.3, τ: 0.7}, 2)
    scale = 1.69 * 0.49
    assert np.allclose(found, [64 * scale, 3 * 64 * 66 * scale**2], rtol=1e-12)


def test_moments_use_the_law_that_is_sampled():
    point = {d: 3, σ: 1.3, κ: 2.5}
    found = mean(norm2(GENERAL)).statistic_moments(point, 3)
    x, p = CENTRED.at(point).nodes()
    grid = np.array(list(itertools.product(x, repeat=3)))
    weights = np.prod(np.array(list(itertools.product(p, repeat=3))), axis=1)
    values = np.sum(grid**2, axis=1)
    assert np.allclose(found, [weights @ values**r for r in (1, 2, 3)], rtol=1e-12)


def test_a_sum_over_copies_of_an_entry_counts_them():
    copies = sp.Symbol("k", integer=True, positive=True)
    x, i, r = Tensor("x", Normal(0, σ), d), Index("i", d), Index("r", copies)
    repeated = mean(sp.Sum(x[i] ** 2, (i, 1, d), (r, 1, copies)))
    assert repeated.value == copies * d * σ**2
    assert repeated.oracle({d: 3, copies: 2, σ: 2}).value == pytest.approx(24)
