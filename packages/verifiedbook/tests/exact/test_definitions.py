"""Definitions that readings give as data: what is read, and what is refused."""

from __future__ import annotations

import pytest
import sympy as sp

from verifiedbook.account import registry
from verifiedbook.exact.definitions import definition, is_law_of, under
from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.laws import Discrete, General, Normal, Rademacher, Uniform
from verifiedbook.exact.moments import Expectation, Index, Tensor, mean, total

d, n, σ, τ, z = symbols("d n sigma tau z")
W = {"i": "Index(d)", "w": "Tensor(Normal(0, sigma), d)"}


def test_a_mean_is_the_engines() -> None:
    i = Index("i", d)
    w, v = Tensor("w", Normal(0, σ), d), Tensor("v", General({1: 0, 2: τ**2}), d)
    where = W | {"v": "Tensor(General({1: 0, 2: tau**2}), d)"}
    found = definition("mean(total(w[i]*v[i], i)**2/d)", where)
    assert isinstance(found, Expectation)
    assert found.statistic == mean(total(w[i] * v[i], i) ** 2 / d).statistic
    assert found.value == σ**2 * τ**2


def test_an_integral_stays_one() -> None:
    found = definition("Integral(exp(-z**2/2), (z, -oo, oo))", {})
    assert isinstance(found, sp.Integral)


def test_every_law_is_read() -> None:
    laws = (
        "Uniform(-1, 2)", "Uniform.of_variance(sigma**2)", "Rademacher(2)",
        "Discrete((-1, 1, 3), (5/8, 1/4, 1/8))", "TruncatedNormal(0, sigma, -2*sigma, 2*sigma)",
    )  # fmt: skip
    for law in laws:
        where = {"i": "Index(d)", "w": f"Tensor({law}, d)"}
        assert set(definition("mean(total(w[i], i)**2)", where).draws) == {"w"}


BAD = {
    "a closed form": ("2*d*sigma**4", {}, "is a closed form"),
    "a name that stands for nothing": ("mean(w[i])", {"i": "Index(d)"}, "uses w, .* accepted: i, "),
    "a name that is not used": ("mean(w[i]**2)", W | {"j": "Index(n)"}, "j not in the quantity"),
    "code": ("mean(w[i])", W | {"w": "open('x')"}, "accepted: a call of .*Index"),
    "code for a law": ("mean(w[i])", W | {"w": "Tensor(eval('x'), d)"}, "accepted: a call of"),
    "code in the quantity": ("mean(w[i] + __import__('os'))", W, "accepted: a call of"),
    "no definition": ("mean(w[i", W, "is not a SymPy formula"),
}


@pytest.mark.canary
@pytest.mark.parametrize("fault", BAD)
def test_what_is_no_definition_is_refused(fault: str) -> None:
    quantity, where, message = BAD[fault]
    with pytest.raises(ValueError, match=message):
        definition(quantity, where)


def test_a_law_by_its_moments_speaks_of_every_law_that_has_them() -> None:
    centred = General({1: 0, 2: σ**2})
    assert is_law_of(Uniform.of_variance(σ**2), centred)
    assert is_law_of(Rademacher(σ), centred)
    assert not is_law_of(Normal(0, σ**2), centred)  # a standard deviation for a variance
    assert not is_law_of(Uniform.of_variance(σ**2), Normal(0, σ))
    assert not is_law_of(Discrete((0, σ), (sp.Rational(1, 2), sp.Rational(1, 2))), centred)


def test_other_laws_take_the_place_of_the_definitions() -> None:
    defined = definition("variance(total(w[i]**2, i))", W)
    assert under(defined, {"w": Rademacher(σ)}).value == 0
    with pytest.raises(ValueError, match="laws: got v; accepted: w"):
        under(defined, {"v": Rademacher(σ)})


DEFINED = [
    (claim.id, case)
    for claim in registry.load()[1].values()
    for case, reading in (claim.reading.parts if claim.reading else {}).items()
    if reading.quantity
]


@pytest.mark.parametrize(("id", "case"), DEFINED)
def test_every_definition_of_the_registry_is_read(id: str, case: str | None) -> None:
    reading = registry.statement(id).reading
    assert reading
    part = reading.parts[case]
    assert definition(part.quantity or "", part.where) is not None
