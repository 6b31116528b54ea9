"""A reading that defines the quantity: the cell gives steps or a statistic, and no definition."""

from __future__ import annotations

import pytest
import sympy as sp
import torch

from verified_transformer.engine.checks.claim import ClaimFailed, claim
from verified_transformer.engine.exact.derivations import Derivation
from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.integrals.closed_forms import integrate_by_parts
from verified_transformer.engine.exact.laws import General, Law, Normal, Uniform
from verified_transformer.engine.exact.moments import (
    Expectation,
    Index,
    Tensor,
    mean,
    total,
    variance,
)

d, σ, τ, z = symbols("d sigma tau z")
NORMAL_LAW = Normal(0, σ)
AT = [{d: 3, σ: 1.3}, {d: 5, σ: 0.7}]
ANY = {"i": "Index(d)", "w": "Tensor(General({1: 0, 2: sigma**2}), d)"}
NORMAL = {"i": "Index(d)", "w": "Tensor(Normal(0, sigma), d)"}
SECOND = "Integral(z**2*exp(-z**2/2)/sqrt(2*pi), (z, -oo, oo))"


def squared_norm(w: torch.Tensor) -> torch.Tensor:
    return (w * w).sum(-1)


def test_the_definition_comes_from_the_reading(reading) -> None:
    reading(quantity="variance(total(w[i]**2, i))", where=NORMAL, formula="2*d*sigma**4")
    assert "= 2*d*sigma**4" in claim("LOSS-14").prove(variance(squares())).line
    assert claim("LOSS-14").measure(squared_norm, at=AT, resolution=0.1).outcome == "supports"
    assert claim("LOSS-14").measure(at=AT, resolution=0.1).outcome == "supports"


@pytest.mark.canary
def test_a_standard_deviation_for_a_variance_is_caught_by_the_reading(reading) -> None:
    where = NORMAL | {"w": "Tensor(Normal(0, sigma**2), d)"}
    reading(quantity="variance(total(w[i]**2, i))", where=where, formula="2*d*sigma**4")
    with pytest.raises(ClaimFailed, match=r"the derivation gives 2\*d\*sigma\*\*8"):
        claim("LOSS-14").prove(variance(squares(law=Normal(0, σ**2))))


def squares(name: str = "w", law: Law = NORMAL_LAW, power: int = 2) -> sp.Expr:
    """The sum of an entry's powers, of which LOSS-14 speaks."""
    i, w = Index(f"i_{name}", d), Tensor(name, law, d)
    return total(w[i] ** power, i)


def test_the_definition_may_stand_in_the_cell_by_other_names() -> None:
    plain, again = (claim("LOSS-14").prove(variance(squares(name))) for name in "wu")
    assert (again.statement, again.detail) == (plain.statement, plain.detail)
    u, v = (Tensor(name, General({1: 0, 2: s**2}), d) for name, s in (("u", τ), ("v", σ)))
    i = Index("i", d)
    inner = mean(total(u[i] * v[i], i) ** 2)  # the reading has v with τ, and w with σ
    assert claim("LOSS-19").case("meant").prove(inner).outcome == "supports"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (variance(squares(power=4)), r"Var\(Sum\(w\[i_w\]\*\*4, .* which is 96\*d\*sigma\*\*8"),
        (mean(squares()), r"E\(Sum\(w\[i_w\]\*\*2, .* which is d\*sigma\*\*2"),
        (variance(squares(law=Uniform(-σ, σ))), r"w = Tensor\(Uniform\(-sigma, sigma\), d\)"),
        (variance(squares() + squares("u")), r"u = Tensor\(.*, w = Tensor"),
    ],
    ids=["another power", "a mean", "another law", "one tensor more"],
)
def test_a_cell_cannot_bring_a_definition_of_its_own(given: Expectation, said: str) -> None:
    ours = (
        r"the reading defines Var\(Sum\(w\[i\]\*\*2, \(i, 1, d\)\)\) with "
        r"w = Tensor\(Normal\(0, sigma\), d\), which is 2\*d\*sigma\*\*4$"
    )
    for use in (claim("LOSS-14").prove, lambda q: claim("LOSS-14").measure(q, at=AT)):
        with pytest.raises(ClaimFailed, match=f"the cell gives .*{said}.*, {ours}"):
            use(given)


@pytest.mark.canary
def test_a_proof_without_a_definition_in_the_cell_says_what_to_write() -> None:
    said = r"written out in the cell, with i = Index\(d\), w = Tensor\(Normal\(0, sigma\), d\)$"
    with pytest.raises(TypeError, match=rf"accepted: variance\(total\(w\[i\]\*\*2, i\)\), {said}"):
        claim("LOSS-14").prove()


@pytest.mark.canary
def test_a_symbol_that_only_looks_like_ours_is_named() -> None:
    given = variance(squares(law=Normal(0, sp.Symbol("sigma"))))
    with pytest.raises(ClaimFailed, match=r"; sigma: take symbols from symbols"):
        claim("LOSS-14").prove(given)


def test_a_law_of_which_the_reading_speaks_is_drawn(reading) -> None:
    reading(quantity="mean(total(w[i]**2, i))", where=ANY, formula="d*sigma**2")
    drawn = {"w": Uniform.of_variance(σ**2)}
    record = claim("LOSS-14").measure(squared_norm, laws=drawn, at=AT, resolution=0.1)
    assert "w ~ Uniform(" in record.detail


@pytest.mark.canary
def test_a_law_of_which_the_reading_does_not_speak_is_refused(reading) -> None:
    reading(quantity="mean(total(w[i]**2, i))", where=ANY, formula="d*sigma**2")
    for law in (Normal(0, σ**2), Normal(1, σ), General({1: 0, 2: σ})):
        with pytest.raises(ValueError, match="the reading of LOSS-14 does not speak"):
            claim("LOSS-14").measure(squared_norm, laws={"w": law}, at=AT)


def test_a_chain_of_steps_begins_with_what_the_reading_defines(reading) -> None:
    reading(quantity=SECOND, formula="1")
    bell = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
    second = Derivation("E z**2", sp.Integral(z**2 * bell, (z, -sp.oo, sp.oo)))
    steps = second.then("integration by parts", integrate_by_parts)
    assert claim("LOSS-14").prove(steps).outcome == "supports"


@pytest.mark.canary
def test_a_chain_that_begins_elsewhere_is_refused(reading) -> None:
    reading(quantity=SECOND, formula="1")
    bell = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
    first = Derivation("E z**0", sp.Integral(2 * bell, (z, 1, sp.oo)))
    with pytest.raises(ClaimFailed, match=r"the derivation begins with .*, the reading defines"):
        claim("LOSS-14").prove(first.then("integration by parts", integrate_by_parts))
    with pytest.raises(TypeError, match="accepted: a Derivation that begins"):
        claim("LOSS-14").prove()


@pytest.mark.canary
def test_a_reading_that_defines_nothing_needs_a_quantity_in_the_cell(reading) -> None:
    reading(formula="2*d*sigma**4")
    with pytest.raises(TypeError, match="the reading of LOSS-14 defines none"):
        claim("LOSS-14").prove()
