"""What looks like evidence and is none: typed oracles, empty integrals, proofs of nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from verified_transformer.engine.checks.claim import claim
from verified_transformer.engine.exact.derivations import Oracle
from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.judging import is_constant, is_typed

d, σ = symbols("d sigma")
AT = [{d: 3, σ: 1.3}, {d: 5, σ: 0.7}]
Reading = Callable[..., None]
REAL = 2.0


def scale(value: Any) -> float:
    return float(value)


@pytest.mark.canary
@pytest.mark.parametrize(
    "typed",
    [
        lambda p: 2 * p[d] * p[σ] ** 4,
        lambda p: 2 * int(p[d]) * float(p[σ]) ** 4,
        lambda p: p[d] * (p[σ] ** 2) ** 2 + p[d] * p[σ] ** 4,
        lambda p: p[d] * math.comb(2, 1) * math.sqrt(p[σ]) ** 8,
        lambda p: 5.07,
    ],
)
def test_an_oracle_that_is_the_formula_is_refused(typed: Any) -> None:
    with pytest.raises(ValueError, match="oracle: is a number or the formula itself"):
        claim("LOSS-14").check("Var", typed, at=AT)


def test_an_oracle_that_computes_is_taken() -> None:
    formula = 2 * d * σ**4
    assert not is_typed(lambda p: 2 * scale(p[d]) * p[σ] ** 4, formula)
    assert not is_typed(lambda p: REAL * p[d] * p[σ] ** 4, formula)
    assert not is_typed(lambda p: 3 * p[d] * p[σ] ** 4, formula)
    assert not is_typed(lambda p: sum(2 * p[σ] ** 4 for _ in range(p[d])), formula)
    assert not is_constant(lambda p: REAL) and is_constant(lambda p: -1.5)


@pytest.mark.canary
def test_a_witness_that_is_a_number_is_refused(reading: Reading) -> None:
    reading(formula="2*d*sigma**4", condition="on a rainy day")
    for verb in ("fails_without", "refute"):
        with pytest.raises(ValueError, match=r"the oracle of bad luck returns a number that is ty"):
            getattr(claim("LOSS-14"), verb)(Oracle("bad luck", lambda p: 99), at=AT)
