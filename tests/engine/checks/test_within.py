"""A run within the article's own setting: what meets a condition, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from verified_transformer.engine.checks.claim import ClaimFailed, claim
from verified_transformer.engine.exact.derivations import Oracle
from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.laws import Normal, Rademacher
from verified_transformer.engine.exact.moments import Index, Tensor, total, variance

d, σ = symbols("d sigma")
i = Index("i", d)
AT = [{d: 3, σ: 1.3}, {d: 5, σ: 0.7}]
NORMAL = {"i": "Index(d)", "w": "Tensor(Normal(0, sigma), d)"}
UNDER = {"condition": "normal entries", "setting": "normal weights", "met_by": "its weights"}


def norm2(law: Any) -> Any:
    return variance(total(Tensor("w", law, d)[i] ** 2, i))


def test_a_condition_is_met_by_a_run_in_the_setting(reading) -> None:
    reading(formula="2*d*sigma**4", **UNDER)
    made = claim("LOSS-14").meets(norm2(Normal(0, σ)), at=AT)
    assert (made.kind, made.outcome) == ("met", "meets")
    assert made.statement.endswith("= 2*d*sigma**4 in the article's setting")
    assert made.detail == "w ~ Normal(0, sigma); d=3, sigma=1.3: 17.1366; d=5, sigma=0.7: 2.401"


def test_the_definition_of_the_reading_is_taken(reading) -> None:
    reading(quantity="variance(total(w[i]**2, i))", where=NORMAL, formula="2*d*sigma**4", **UNDER)
    assert claim("LOSS-14").meets(at=AT).outcome == "meets"


def test_the_tolerance_is_that_of_the_reading(reading) -> None:
    reading(claimed="1", within=0.1, **UNDER)
    near = Oracle("a ratio", lambda _: sum([1.0, 0.05]))
    assert "= 1 within 0.1 in" in claim("LOSS-14").meets(near, at=[{}]).line
    reading(claimed="1", within=0.01, **UNDER)
    with pytest.raises(ClaimFailed, match="fails in the article's own setting"):
        claim("LOSS-14").meets(near, at=[{}])


@pytest.mark.canary
def test_what_fails_in_the_setting_does_not_meet_the_condition(reading) -> None:
    reading(formula="2*d*sigma**4", **UNDER)
    with pytest.raises(ClaimFailed, match=r"fails in the article's own setting: .*d=3.*is wrong"):
        claim("LOSS-14").meets(norm2(Rademacher(σ)), at=AT)


@pytest.mark.canary
@pytest.mark.parametrize("key", ["condition", "setting", "met_by"])
def test_setting_and_condition_stand_in_the_reading(key: str, reading) -> None:
    reading(formula="2*d*sigma**4", **{name: text for name, text in UNDER.items() if name != key})
    with pytest.raises(ValueError, match=f"LOSS-14: its reading has no .*{key}"):
        claim("LOSS-14").meets(norm2(Normal(0, σ)), at=AT)


@pytest.mark.canary
def test_a_quantity_without_an_oracle_is_refused(reading) -> None:
    reading(formula="2*d*sigma**4", **UNDER)
    with pytest.raises(TypeError, match="quantity: got int"):
        claim("LOSS-14").meets(3, at=AT)
