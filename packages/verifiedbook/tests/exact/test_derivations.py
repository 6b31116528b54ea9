"""Chains of checked steps: a wrong step is refused, a changed definition leads elsewhere."""

from __future__ import annotations

import pytest
import sympy as sp

from verifiedbook.exact.derivations import Derivation, Step, StepFailed
from verifiedbook.exact.formulas.evaluation import equivalent, number, random_points
from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.integrals.closed_forms import integrate_by_parts

d, k, σ, τ, c, x, z = symbols("d k sigma tau c x z")
SECOND_MOMENT = sp.Integral(x**2 * sp.exp(-(x**2) / (2 * σ**2)), (x, -c, c))
SQUARE = Derivation("(sigma + tau)**2", (σ + τ) ** 2)


def chain() -> Derivation:
    start = Derivation("the second moment between -c and c", SECOND_MOMENT)
    return start.then("integrate by parts", integrate_by_parts).then("expand", sp.expand)


def test_a_chain_carries_its_steps():
    derived = chain()
    assert [step.reason for step in derived.steps] == ["definition", "integrate by parts", "expand"]
    assert derived.steps[0] == Step("definition", SECOND_MOMENT)
    assert derived.steps[-1].expression == derived.value
    assert not derived.value.has(sp.Integral)
    assert derived.route == "2 checked steps"
    assert SQUARE.then("expand", sp.expand).route == "1 checked step"
    assert derived.free_symbols == {σ, c}


def test_a_step_leaves_the_shorter_chain_as_it_was():
    longer = SQUARE.then("expand", sp.expand)
    assert (SQUARE.value, len(SQUARE.steps), SQUARE.route) == ((σ + τ) ** 2, 1, "0 checked steps")
    assert (longer.start, longer.value) == (SQUARE.start, σ**2 + 2 * σ * τ + τ**2)


@pytest.mark.canary
@pytest.mark.parametrize(
    "mistake",
    [
        lambda e: e + sp.Rational(1, 10**9),
        lambda e: e.subs(τ, σ),
        lambda e: σ**2 + τ**2,
        lambda e: -e,
        lambda e: sp.nan,
        lambda e: sp.Integral(x, (x, 0, c)),
    ],
    ids=["1e-9", "two symbols identified", "cross term", "sign", "nan", "another quantity"],
)
def test_a_step_that_changes_the_value_fails(mistake):
    with pytest.raises(StepFailed, match=r"\(sigma \+ tau\)\*\*2: the step 'a mistake' changes"):
        SQUARE.then("a mistake", mistake)


@pytest.mark.canary
def test_a_step_that_changes_an_integral_fails():
    half = Derivation("half", SECOND_MOMENT)
    with pytest.raises(StepFailed):
        half.then("even integrand", lambda e: sp.Integral(e.function, (x, 0, c)))


@pytest.mark.canary
def test_the_start_must_be_an_expression():
    with pytest.raises(TypeError, match="start: got float"):
        Derivation("two", 2.0)


def test_the_oracle_evaluates_the_definition():
    for point in random_points(SECOND_MOMENT):
        approximation = chain().oracle(point)
        assert abs(approximation.value - number(chain().value, point)) <= approximation.error


def test_the_oracle_has_no_answer_where_there_is_no_value():
    assert Derivation("a root", sp.sqrt(-σ)).oracle({σ: 1}) is None


@pytest.mark.canary
def test_the_same_steps_from_a_changed_definition_reach_another_result():
    derived, killed, labels = chain(), 0, []
    for label, recompute in derived.definition_mutants():
        labels.append(label)
        try:
            killed += not equivalent(recompute(), derived.value)
        except ValueError:  # integration by parts does not apply to this one
            killed += 1
    assert killed == len(labels) >= 10
    assert any("exponent" in label for label in labels)


def test_a_changed_definition_gets_the_result_that_belongs_to_it():
    fourth = sp.Integral(x**4 * sp.exp(-(x**2) / (2 * σ**2)), (x, -c, c))
    assert equivalent(chain().replay(SECOND_MOMENT), chain().value)
    assert equivalent(chain().replay(2 * SECOND_MOMENT), 2 * chain().value)
    assert not equivalent(chain().replay(fourth), chain().value)
