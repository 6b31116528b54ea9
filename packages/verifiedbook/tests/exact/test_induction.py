"""Induction: base and step are proved, a wrong closed form fails, and wrong recursions break it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
from recursions import branch, d, front, gradient, k, l, passed, α, σ, τ

from verifiedbook.checks.claim import ClaimFailed, claim
from verifiedbook.exact.derivations import Derivation, StepFailed
from verifiedbook.exact.formulas.mutants import formula_mutants
from verifiedbook.exact.induction import Induction
from verifiedbook.exact.judging import break_definitions
from verifiedbook.exact.laws import Normal
from verifiedbook.exact.moments import Index, Tensor, variance

FRONT, BRANCH = 2 ** (-l / 2), 2 ** (-(l - k) / 2)
CASES = [(front, FRONT), (branch, BRANCH), (gradient, σ**2)]


@pytest.mark.parametrize(("recursion", "closed"), CASES)
def test_a_closed_form_solves_its_recursion(recursion: Induction, closed: Any) -> None:
    found = recursion.solved_by(closed)
    assert found.value == closed and len(found.steps) >= 4
    point = {k: 2, l: 6, d: 2, σ: 1.3, τ: 0.7}
    assert abs(found.oracle(point).value - float(closed.subs(point))) < 1e-9


@pytest.mark.parametrize(("recursion", "closed"), CASES)
def test_other_recursions_break_the_proof(recursion: Induction, closed: Any) -> None:
    broken, unmoved = break_definitions(recursion.solved_by(closed), closed)
    assert not unmoved and len(broken) >= 5
    assert any(label.startswith("step") for label in broken)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("recursion", "mutant"),
    [(r, m) for r, closed in CASES for m in formula_mutants(closed)],
    ids=lambda thing: getattr(thing, "label", getattr(thing, "quantity", "")),
)
def test_no_mutant_solves_the_recursion(recursion: Induction, mutant: Any) -> None:
    with pytest.raises(StepFailed, match=r"the (base|step) .* the formula"):
        recursion.solved_by(mutant.formula)


@pytest.mark.canary
def test_a_right_step_from_another_base_is_caught() -> None:
    with pytest.raises(StepFailed, match="the base at l = 0 gives 1, the formula 3"):
        front.solved_by(3 * FRONT)


def test_a_recursion_goes_as_far_as_it_is_told() -> None:
    s = sp.Symbol("s", integer=True, positive=True)
    share = Induction("share", s, base=(0, 1), step=lambda u, t: u / (1 + 1 / l))
    found = share.up_to(2 * l, (1 + 1 / l) ** (-s))
    assert found.value == (1 + 1 / l) ** (-2 * l) and found.free_symbols == {l}
    assert abs(found.oracle({l: 3}).value - 0.75**6) < 1e-12
    assert not break_definitions(found, found.value)[1]
    with pytest.raises(StepFailed, match="share: the step from t to t"):
        share.up_to(2 * l, (1 + 1 / l) ** (-2 * s))


def test_a_recursion_that_adds() -> None:
    steady = Induction("E x**2 after l", l, base=(0, 1), step=lambda v, t: v + 1)
    assert steady.solved_by(l + 1).value == l + 1
    factorial = Induction("l!", l, base=(0, 1), step=lambda v, t: (t + 1) * v)
    assert factorial.solved_by(sp.gamma(l + 1)).value == sp.gamma(l + 1)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"over": σ}, TypeError, "over: got sigma; accepted: a whole-number symbol"),
        ({"base": 1}, ValueError, "base: got 1; accepted: "),
        ({"step": 2}, TypeError, "step: got int; accepted: a function"),
        ({"step": lambda c, t: 2 ** (-t / 2)}, TypeError, "step: gives .*whatever the value"),
        ({"step": lambda c, t: c}, ValueError, "step: leaves every value as it is"),
        ({"step": lambda c, t: 2 * c - c}, ValueError, "step: leaves every value as it is"),
    ],
)
def test_bad_recursions_are_named(changes: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Induction("c", **{"over": l, "base": (0, 1), "step": passed} | changes)


@pytest.mark.canary
def test_a_point_before_the_base_is_named() -> None:
    with pytest.raises(ValueError, match="at: l = 2, where the recursion starts at 4; accepted"):
        branch.solved_by(BRANCH).oracle({l: 2, k: 3})


# ------------------------------------------------------------------ a claim


def test_a_claim_is_proved_by_induction() -> None:
    record = claim("RES-06").case("front").prove(front)
    assert "by induction, base and step proved; exact at 2 points" in record.line
    claim("RES-06").case("branch").prove(branch, at=[{l: 5, k: 2}, {l: 4, k: 1}])


def test_a_step_may_be_an_expectation_of_the_engine(reading: Callable[..., None]) -> None:
    reading(formula="sigma**2")
    assert claim("LOSS-14").prove(gradient).kind == "proof"


@pytest.mark.canary
@pytest.mark.parametrize("wrong", ["2**(-l)", "2**(-l/2)/2", "2**(l/2)"])
def test_a_claim_that_does_not_solve_the_recursion_fails(
    wrong: str, reading: Callable[..., None]
) -> None:
    reading(formula=wrong)
    with pytest.raises(ClaimFailed, match=r"LOSS-14 .*does not solve the recursion: coefficient"):
        claim("LOSS-14").prove(front)


@pytest.mark.canary
def test_a_recursion_without_its_subject_breaks(reading: Callable[..., None]) -> None:
    """A branch that is the input again, instead of independent of it, has another recursion."""
    reading(formula="(1 + alpha**2)**l")
    alone = Induction("E x_l**2", l, base=(0, 1), step=lambda v, t: v + α**2 * v)
    tied = Induction("E x_l**2", l, base=(0, 1), step=lambda v, t: (1 + α) ** 2 * v)
    assert claim("LOSS-14").prove(alone).mutants.killed
    with pytest.raises(ClaimFailed, match="does not solve"):
        claim("LOSS-14").prove(tied)


i = Index("i", d)
w = Tensor("w", Normal(0, τ), d)
TYPED = Derivation("share", sp.Product(1 / (1 + α**2), (sp.Symbol("t"), 1, l)))


@pytest.mark.canary
@pytest.mark.parametrize(
    ("formula", "given", "message"),
    [
        ("(1 + alpha**2)**(-l)", TYPED, "got Derivation, and .* goes over layers; accepted: an "),
        ("sigma**2", TYPED, r"begins with the product Product\(.*, which is typed in"),
        ("(tau**2)**l", variance(w[i]), "got Expectation, and .* goes over layers"),
    ],
)
def test_a_product_over_layers_is_not_typed(
    formula: str, given: Any, message: str, reading: Callable[..., None]
) -> None:
    reading(formula=formula)
    with pytest.raises(TypeError, match=message):
        claim("LOSS-14").prove(given)


@pytest.mark.canary
def test_a_few_depths_decide_no_formula_over_layers(reading: Callable[..., None]) -> None:
    reading(formula="2**l")
    with pytest.raises(ValueError, match=r"a few depths cannot decide 2\*\*l, which goes over"):
        claim("LOSS-14").check("doubled", lambda point: sum(1 for _ in range(4)), [{l: 2}])
