"""The judge: what agrees, what falls, what survives, and what it refuses to judge."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import sympy as sp

from verifiedbook.exact.formulas.evaluation import (
    Approximation,
    place,
    refuse_points_that_hide,
    small_points,
)
from verifiedbook.exact.formulas.mutants import Mutant, formula_mutants
from verifiedbook.exact.formulas.notation import parse, symbols
from verifiedbook.exact.judging import (
    Comparison,
    Judgement,
    approximation,
    break_definitions,
    digits_match,
    judge,
)

d, n, σ, κ, μ = symbols("d n sigma kappa mu")
FORMULA = 2 * d * σ**4
POINTS = [{d: 3, σ: sp.Rational(13, 10)}, {d: 5, σ: sp.Rational(7, 10)}]


def definition(point):
    return float(2 * point[d] * point[σ] ** 4)


@pytest.mark.canary
def test_a_number_beyond_all_floats_agrees_with_nothing():
    for formula in (sp.Float("1e400"), parse("d**400*10**300")):
        found = (Comparison.of(formula, approximation(definition(at)), at) for at in POINTS)
        assert not any(one.agrees for one in found)


def test_the_right_formula_agrees_and_all_its_mutants_fall():
    mutants = formula_mutants(FORMULA)
    found = judge(FORMULA, mutants, definition, POINTS)
    assert found == Judgement(None, tuple(m.label for m in mutants), ())
    assert found.agrees


@pytest.mark.canary
def test_a_wrong_formula_disagrees_at_the_first_point_that_shows_it():
    wrong = FORMULA + (d - 3)  # right at the first point
    found = judge(wrong, formula_mutants(wrong), definition, POINTS)
    assert not found.agrees and found.killed == found.survivors == ()
    assert found.first_disagreement.point == POINTS[1]
    assert found.first_disagreement.exact.value == definition(POINTS[1])
    assert float(found.first_disagreement.said) == pytest.approx(definition(POINTS[1]) + 2)


@pytest.mark.canary
def test_a_mutant_that_the_points_hide_survives():
    mutant = Mutant("sigma squared", 2 * d * σ**2)
    assert judge(FORMULA, [mutant], definition, [{d: 3, σ: 1}]).survivors == ("sigma squared",)
    assert judge(FORMULA, [mutant], definition, POINTS).killed == ("sigma squared",)


@pytest.mark.canary
def test_one_part_in_a_hundred_million_is_seen_and_rounding_is_not():
    assert not judge(FORMULA * (1 + sp.Float(1e-8)), [], definition, POINTS).agrees
    assert judge(FORMULA * (1 + sp.Float(1e-14)), [], definition, POINTS).agrees


def test_the_error_of_the_oracle_is_allowed_for():
    def rough(point):
        return Approximation(definition(point) + 1e-3, 2e-3)

    assert judge(FORMULA, [], rough, POINTS).agrees


def test_a_formula_without_value_agrees_with_nothing():
    found = judge(1 / (d - 3), [], lambda _: 1.0, [{d: 3}])
    assert found.first_disagreement.said is None
    assert not found.first_disagreement.within(1e9)


def test_no_points_are_refused():
    with pytest.raises(ValueError, match="points: got none"):
        judge(FORMULA, [], definition, [])


@pytest.mark.parametrize("value", [3, 3.0, sp.Integer(3), Approximation(3.0, 0.0)])
def test_an_oracle_may_give_numbers_of_any_kind(value):
    assert approximation(value) == Approximation(3.0, 0.0)


def test_an_oracle_must_give_a_real_number():
    with pytest.raises(ValueError, match="oracle: gave no value"):
        approximation(None)
    for value in ("three", sp.I, [1]):
        with pytest.raises(TypeError, match=r"oracle: got .*; accepted: a real number"):
            approximation(value)


@pytest.mark.canary
def test_a_mutant_survives_beside_another_of_the_same_label():
    mutants = [Mutant("d -> d + 1", d**2), Mutant("d -> d + 1", d**2 + 1)]
    found = judge(d**2, mutants, lambda _: 9, [{d: 3}], counted=True)
    assert (found.killed, found.survivors) == (("d -> d + 1",),) * 2


# ------------------------------------------------------------------------- changed definitions


def test_a_change_to_which_the_rules_do_not_apply_is_left_out():
    @dataclass
    class Refusing:
        def definition_mutants(self):
            def refuse():
                raise ValueError("no rule")

            yield "refused", refuse
            yield "elsewhere", lambda: d + 1

    assert break_definitions(Refusing(), d) == (["elsewhere"], [])


# ------------------------------------------------------------------------- digits and points


@pytest.mark.parametrize("printed", ["3", "3.1", "3.14", "3.141592"])
def test_leading_digits_match(printed):
    assert digits_match(sp.Rational(1, 2), "0.5") and not digits_match(-sp.pi.evalf(25), printed)
    assert digits_match(sp.N(sp.pi, 25), printed)
    assert digits_match(-sp.N(sp.pi, 25), f"-{printed}")


@pytest.mark.canary
@pytest.mark.parametrize("printed", ["4", "3.2", "3.1416", "-3.14", "3.13"])
def test_rounded_or_wrong_digits_do_not_match(printed):
    assert not digits_match(sp.N(sp.pi, 25), printed)


def test_digits_must_be_digits():
    with pytest.raises(ValueError, match="printed: got 'three'; accepted: decimal digits"):
        digits_match(sp.pi.evalf(25), "three")


def test_small_points_tell_sizes_and_scales_apart():
    assert small_points(set()) == [{}]
    for point in small_points({d, n, σ, κ, μ}):
        assert point[d] != point[n] and {point[d], point[n]} <= {2, 3}
        assert point[σ] != point[μ] and 1 not in point.values() and point[κ] > 1
    first, second = small_points({d, σ})
    assert first[σ] != second[σ]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "at: got 0 points"),
        ([{d: 3, σ: 2}], "at: got 1 points; accepted: two or more"),
        ([{d: 3, n: 3, σ: 2}] * 2, "at: equal sizes in d=3, n=3, sigma=2"),
        ([{d: 3, σ: 1}] * 2, "at: a scale of 1 in d=3, sigma=1"),
    ],
)
def test_points_that_hide_mistakes_are_refused(points, message):
    with pytest.raises(ValueError, match=message):
        refuse_points_that_hide(FORMULA, points)


def test_good_points_are_accepted():
    refuse_points_that_hide(FORMULA, POINTS)
    refuse_points_that_hide(parse("3"), [{}])


def test_a_point_is_written_in_a_line():
    assert place(POINTS[0]) == "d=3, sigma=1.3" and place({}) == ""
