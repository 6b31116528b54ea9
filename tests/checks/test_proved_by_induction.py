"""A recursion proves a claim: the reading's formula must solve it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from recursions import branch, front, gradient, k, l, α

from verified_transformer.checks.claim import ClaimFailed, claim
from verified_transformer.exact.induction import Induction


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
