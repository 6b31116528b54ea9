"""A derivation in the reader's cell: the right one is proved, everything else is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from sympy import (
    Abs,
    Piecewise,
    Rational,
    Symbol,
    diff,
    exp,
    expand,
    integrate,
    limit,
    log,
    oo,
    pi,
    simplify,
    solve,
    sqrt,
    summation,
)

from verifiedbook import ClaimFailed, claim, derive, mean, symbols
from verifiedbook.exact.formulas.evaluation import small_points
from verifiedbook.exact.numeric_twin import Twinned

d, k, σ, x, t = *symbols("d k sigma x"), Symbol("t", positive=True)
φ = exp(-(x**2) / (2 * σ**2)) / (σ * sqrt(2 * pi))
laplace = exp(-Abs(x) / σ) / (2 * σ)
half, bell, twice = Rational(1, 2), exp(-(x**2) / 2), exp(2 * x)
normal = bell / sqrt(2 * pi)
box = Piecewise((1 / (2 * sqrt(3) * σ), Abs(x) < sqrt(3) * σ), (0, True))


def squared_length(density: Any = φ) -> Any:
    """The variance of a squared length."""
    square, fourth = (integrate(x**p * density, (x, -oo, oo)) for p in (2, 4))
    diagonal, rest = d * fourth, d * (d - 1) * square**2
    return expand(diagonal + rest - (d * square) ** 2)


def test_a_derivation_proves_its_claim() -> None:
    record = claim("LOSS-14").derive(squared_length, wrong=[box, laplace])
    assert record.kind == "proof" and "19/19 mutants; 35/35 slips" in record.detail
    assert "2/2 wrong objects" in record.detail

    @derive(claim("LOSS-17").case("uniform"), wrong=laplace)
    def of_uniform_entries(density: Any = box) -> Any:
        return squared_length(density)


def ignores_its_density(density: Any = φ) -> Any:
    return d * (integrate(x**4 * φ, (x, -oo, oo)) - integrate(x**2 * φ, (x, -oo, oo)) ** 2)


def follows_the_variance_alone(density: Any = φ) -> Any:
    return 2 * d * integrate(x**2 * density, (x, -oo, oo)) ** 2


def writes_it_down(σ: Any = σ) -> Any:
    return 2 * d * σ**4


def hides_it_behind_an_integral(density: Any = φ) -> Any:
    return 2 * d * σ**4 * integrate(density, (x, -oo, oo))


def asks_the_library(density: Any = φ) -> Any:
    return mean(density)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("function", "wrong", "why"),
    [
        (ignores_its_density, laplace, "is the same with density"),
        (follows_the_variance_alone, laplace, "and the definition 171.36"),
        (writes_it_down, 2 * σ, "writes the formula down"),
        (hides_it_behind_an_integral, laplace, "slips in hides it behind an integral give"),
        (asks_the_library, laplace, "uses mean of this library"),
        (lambda: 2 * d * σ**4, 1, "accepted: a function of what the definition is about"),
        (squared_length, {"law": box}, "another object for each of density"),
    ],
)
def test_what_derives_nothing_is_refused(
    function: Callable[..., Any], wrong: Any, why: str
) -> None:
    with pytest.raises((ClaimFailed, TypeError, ValueError), match=why):
        claim("LOSS-14").derive(function, wrong=wrong)


@pytest.mark.canary
def test_another_density_in_the_cell_is_told_by_its_formula() -> None:
    says = r"is 4\*d\*sigma\*\*4/5, not 2\*d\*sigma\*\*4; at d=3, sigma=1.3 that is 6.85464 and not"
    with pytest.raises(ClaimFailed, match=says):
        claim("LOSS-14").derive(squared_length, density=box, wrong=φ)


def test_a_name_of_its_own_is_not_the_one_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("diagonal", "density"):
        monkeypatch.setitem(globals(), name, mean)
    assert Twinned(squared_length).value == 2 * d * σ**4


def test_nor_is_the_parameter_of_a_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    def second_moment(density: Any = φ) -> Any:
        E = lambda measured: integrate(measured * density, (x, -oo, oo))  # noqa: E731
        return E(x**2)

    for other in (lambda: None, x + d):
        monkeypatch.setitem(globals(), "measured", other)
        assert Twinned(second_moment).computes({σ: 1.3})


@pytest.mark.canary
def test_a_formula_that_is_no_sentence_is_told_by_its_number() -> None:
    def mean_of_exponentials(map: Any = twice) -> Any:
        left = integrate(map * bell, (x, -oo, 0)) / sqrt(2 * pi)
        return simplify(sqrt(2 * pi) * (half - left))

    says = "mean of exponentials is 0.831945, not 0.597635: 1.39 times as much"
    with pytest.raises(ClaimFailed, match=says):
        claim("INIT-27").case("alpha").derive(mean_of_exponentials, wrong=exp(x))


@pytest.mark.canary
def test_a_wrong_formula_is_shown_where_it_is_wrong() -> None:
    def length_of_a_factor(entries: Any = t**2) -> Any:
        (length,) = solve(entries - d, t)
        return length

    says = r"at d=2, k=3 that is 1\.4142136 and not 1\.259921: 1\.12 times as much"
    with pytest.raises(ClaimFailed, match=says):
        claim("FACT-24").case("length").truth.derive(length_of_a_factor, wrong=k * t)


def roots(shift: Any = 2) -> Any:
    (root,) = solve(t**2 - shift * σ, t)
    return root


def ends(power: Any = half) -> Any:
    return limit((1 + power * σ / t) ** t, t, oo)


def sums(term: Any = 2**k) -> Any:
    return simplify(summation(term, (k, 1, d)))


def slopes(map: Any = bell) -> Any:
    return integrate(diff(map, x) ** 2, (x, -oo, oo)) * σ


def sums_of_means(density: Any = normal) -> Any:
    return summation(integrate(exp(k * σ * x) * density, (x, -oo, oo)), (k, 1, 4))


def within_another(score: Any = 2 * t * x) -> Any:
    held = integrate(score**2 * normal, (x, -oo, oo))
    return integrate(held * exp(-t / σ), (t, 0, oo))


@pytest.mark.parametrize(
    "function",
    [squared_length, roots, ends, sums, slopes, sums_of_means, within_another],
)
def test_the_numeric_twin_gives_the_same_number(function: Callable[..., Any]) -> None:
    shown = Twinned(function)
    points = small_points(shown.value.free_symbols)
    for point in points:
        assert shown.numeric(point) == pytest.approx(float(shown.value.subs(point)), rel=1e-10)
    for label, tree in shown.slips():
        assert any(shown.differs(point, tree) for point in points), label


def test_a_slip_that_changes_nothing_is_argued() -> None:
    def odd(density: Any = φ) -> Any:
        tail = 2 * integrate(x**2 * density, (x, 0, oo))
        return d * (integrate(x**4 * density, (x, -oo, oo)) - 1 * tail**2)

    slip = "line 3: 1 * tail ** 2 -> 1 / tail ** 2"
    with pytest.raises(ValueError, match=r"alike: line 3.*gives another number"):
        claim("LOSS-14").derive(odd, wrong=laplace, alike={slip: "no reason"})
    with pytest.raises(ValueError, match=r"alike: got line 9, no slip of.*accepted: line 2"):
        claim("LOSS-14").derive(odd, wrong=laplace, alike={"line 9": "no such line"})


def test_an_integral_waits_for_the_number_that_a_limit_has() -> None:
    def end_of_a_mean(density: Any = normal) -> Any:
        return limit(log(d + integrate(exp(σ * x / t) * density, (x, -oo, oo))), t, oo)

    assert Twinned(end_of_a_mean).numeric({d: 3, σ: 1.3}) == pytest.approx(math.log(4))


@pytest.mark.parametrize(("end", "value"), [(oo, 1), (-oo, 0)])
def test_a_limit_is_taken_at_either_end(end: Any, value: int) -> None:
    def share(rate: Any = σ) -> Any:
        return limit(1 / (1 + exp(-rate * x)), x, end)

    assert Twinned(share).numeric({σ: 1.3}) == value


def test_what_is_large_cancels_in_a_limit_with_a_symbol_beside_it() -> None:
    n, y, z = Symbol("n", positive=True), Symbol("y", positive=True), Symbol("z", real=True)

    def left(share: Any = 1 / (n * sqrt(n))) -> Any:  # noqa: B008
        missed = limit((y + z) / sqrt(n) - n * share * y, y, oo)
        return integrate(missed**2, (z, 0, 1))

    assert Twinned(left).numeric({n: 3}) == pytest.approx(1 / 9)
