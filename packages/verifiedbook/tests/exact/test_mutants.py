"""Mutants: every operator occurs, none is the formula in another spelling, the order is fixed."""

from __future__ import annotations

import re
from functools import cache

import pytest
import sympy as sp

from verifiedbook.exact.formulas.evaluation import equivalent, number, random_points
from verifiedbook.exact.formulas.mutants import Mutant, formula_mutants
from verifiedbook.exact.formulas.notation import parse

ALPHA = "(sqrt(2/pi)/(1 - exp(1/2)*erfc(1/sqrt(2))))"
TWO_SIGMA = "Integral(x**2*exp(-x**2/2), (x, -2, 2))/Integral(exp(-x**2/2), (x, -2, 2))"
FORMULAS = {
    "mean of the squared norm": "d*sigma**2",
    "its second moment": "d*kappa*sigma**4 + d*(d - 1)*sigma**4",
    "its variance": "2*d*sigma**4",
    "its relative variance": "(kappa - 1)/d",
    "error of the norm": "2 - 2*sqrt(2)*gamma((d + 1)/2)/(sqrt(d)*gamma(d/2))",
    "variance of a dot product": "d*sigma**2*tau**2",
    "truncated variance": f"sigma**2*{TWO_SIGMA}",
    "fan-in and fan-out": "2/(m + n)",
    "He's bound": "sqrt(6/m)",
    "SELU's alpha": ALPHA,
    "ELU's second moment": "1 + exp(2)*erfc(sqrt(2))/2 - exp(1/2)*erfc(1/sqrt(2))",
    "a single symbol": "mu",
}
PARSED = {name: parse(text) for name, text in FORMULAS.items()}


@cache
def mutants_of(name: str) -> tuple[Mutant, ...]:
    return tuple(formula_mutants(PARSED[name]))


def labels_of(name: str) -> list[str]:
    return [mutant.label for mutant in mutants_of(name)]


@pytest.mark.parametrize("name", FORMULAS)
def test_mutants_are_other_formulas_that_have_a_value(name):
    f, point = PARSED[name], random_points(PARSED[name])[0]
    mutants = [mutant.formula for mutant in mutants_of(name)]
    assert len(set(mutants)) == len(mutants) >= 6
    assert not any(equivalent(mutant, f) for mutant in mutants)
    assert all(number(mutant, point, 15) is not None for mutant in mutants)
    assert {f + 1, f - 1, 2 * f, sp.Rational(101, 100) * f, -f} <= set(mutants)


@pytest.mark.parametrize(
    "name, mistake, wrong",
    [
        ("its variance", "constant + 1", "3*d*sigma**4"),
        ("its variance", "constant - 1", "d*sigma**4"),
        ("its relative variance", "constant doubled", "(kappa - 2)/d"),
        ("its relative variance", "constant 1 % off", "(kappa - 101/100)/d"),
        ("its relative variance", "sign of a constant", "(kappa + 1)/d"),
        ("SELU's alpha", "pi off", "sqrt(2/3)/(1 - exp(1/2)*erfc(1/sqrt(2)))"),
        ("its variance", "exponent + 1", "2*d*sigma**5"),
        ("its variance", "exponent - 1", "2*d*sigma**3"),
        ("its variance", "exponent doubled", "2*d*sigma**8"),
        ("its variance", "exponent dropped", "2*d*sigma"),
        ("its second moment", "term dropped", "d*(d - 1)*sigma**4"),
        ("its second moment", "factor dropped", "d*sigma**4 + d*(d - 1)*sigma**4"),
        ("its relative variance", "sign of a term", "(-kappa - 1)/d"),
        ("variance of a dot product", "symbols swapped", "tau*sigma**2*d**2"),
        ("fan-in and fan-out", "fan-in only", "2/m"),
        ("fan-in and fan-out", "size + 1", "2/(m + 1 + n)"),
        ("its variance", "size - 1", "2*(d - 1)*sigma**4"),
        ("a single symbol", "scale squared", "mu**2"),
        ("its relative variance", "scale rooted", "(sqrt(kappa) - 1)/d"),
        ("its variance", "variance for deviation", "2*d*sigma**8"),
        ("SELU's alpha", "exponential dropped", "sqrt(2/pi)/(1 - erfc(1/sqrt(2)))"),
        ("SELU's alpha", "other tail", "sqrt(2/pi)/(1 - exp(1/2)*erf(1/sqrt(2)))"),
        ("ELU's second moment", "no root 2", "1 + exp(2)*erfc(2)/2 - exp(1/2)*erfc(1/sqrt(2))"),
        ("truncated variance", "range", f"sigma**2*{TWO_SIGMA.replace('-2, 2', '-1, 2', 1)}"),
    ],
)
def test_a_mistake_that_people_make_is_among_the_mutants(name, mistake, wrong):
    assert not equivalent(PARSED[name], parse(wrong))
    assert any(equivalent(mutant.formula, parse(wrong)) for mutant in mutants_of(name)), mistake


def test_the_symbols_of_a_sum_are_not_swapped_where_that_changes_nothing():
    assert not any("swapped" in label for label in labels_of("fan-in and fan-out"))


def test_the_variable_of_an_integral_is_left_alone():
    labels = labels_of("truncated variance")
    assert not any(re.match(r"x\b|root of x", label) for label in labels)
    assert "exponent 2 + 1 on x" in labels


@pytest.mark.parametrize("at_most", [5, 20])
@pytest.mark.parametrize("name", FORMULAS)
def test_at_most_bounds_the_number_within_a_factor_of_two(name, at_most):
    some, every = formula_mutants(PARSED[name], at_most=at_most), mutants_of(name)
    assert min(at_most, len(every)) // 2 <= len(some) <= 2 * at_most
    assert set(some) <= set(every)


# ----------------------------------------------------------------------- sums with whole ends


@pytest.mark.parametrize("run", [sp.Sum, sp.Product])
def test_no_mutant_of_a_sum_runs_to_a_broken_end(run):
    """SymPy evaluates such a sum for hours: 1 % more than 10 is no last term."""
    k = sp.Symbol("k", integer=True, positive=True)
    mutants = formula_mutants(run(1 + 1 / k**2, (k, 1, 10)))
    labels = [mutant.label for mutant in mutants]
    assert "10 -> 11" in labels and "10 doubled" in labels and "10 + 1 %" not in labels


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="formula: got str; accepted: a SymPy expression"):
        formula_mutants("2*d")
    with pytest.raises(ValueError, match="at_most: got 0; accepted: 1 or more"):
        formula_mutants(PARSED["fan-in and fan-out"], at_most=0)
