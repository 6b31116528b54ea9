"""A recursion proves a claim: the reading's formula must solve it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
from recursions import branch, d, front, gradient, k, l, α, τ

from verified_transformer.engine.checks.claim import ClaimFailed, claim
from verified_transformer.engine.exact.derivations import Derivation
from verified_transformer.engine.exact.induction import Induction
from verified_transformer.engine.exact.laws import Normal
from verified_transformer.engine.exact.moments import Index, Tensor, variance


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
