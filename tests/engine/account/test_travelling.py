"""What a claim takes over from those on which it rests: their failure, and their conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from verified_transformer.engine.account.reading import Reading, RegistryError
from verified_transformer.engine.account.records.record import LedgerError, Record
from verified_transformer.engine.account.registry import Statement
from verified_transformer.engine.account.verdicts.decide import Decision, decide_all

RIGHT = {"truth": "the other way round", "truth_formula": "2"}
RAINS = {"condition": "where it rains", "setting": "a country", "met_by": "its north"}


def statement(name: str, **reading: Any) -> Statement:
    return Statement(name, "tied-loss", "here", "equation", "said", Reading("read", **reading))


def record(name: str, kind: str, outcome: str = "supports", of: str = "reading") -> Record:
    return Record((name,), ("x",), kind, outcome, "s", "d", of)


def records(statements: Mapping[str, Statement]) -> list[Record]:
    """All that each claim needs: wrong with a truth, conditional with a condition, else true."""
    made = []
    for name, found in statements.items():
        assert found.reading is not None
        of = "truth" if found.reading.truth else "reading"
        made += [record(name, "proof", of=of), record(name, "measurement", of=of)]
        if found.reading.truth:
            made.append(record(name, "counterexample", "contradicts"))
        if found.reading.condition:
            made += [record(name, "witness", "fails"), record(name, "met", "meets")]
    return made


def decided(*statements: Statement) -> dict[str, Decision]:
    known = {s.id: s for s in statements}
    return decide_all(known, records(known))


BASE = statement("LOSS-97", **RAINS)
RESTS = statement("LOSS-98", uses=("LOSS-97",))


def test_nothing_holds_that_rests_on_what_does_not() -> None:
    found = decided(statement("LOSS-98", **RIGHT), statement("LOSS-99", uses=("LOSS-98",)))
    assert found["LOSS-98"].verdict == "wrong"
    assert found["LOSS-99"].verdict == "undecided"
    assert found["LOSS-99"].why == "rests on LOSS-98 (wrong)"


@pytest.mark.canary
def test_a_condition_travels_to_what_rests_on_it() -> None:
    found = decided(BASE, RESTS)["LOSS-98"]
    assert found.verdict == "holds-if"
    assert found.inherited == (("LOSS-97", "where it rains"),)
    assert found.why == "proof + measurement; inherits the condition of LOSS-97"


@pytest.mark.canary
def test_a_condition_travels_any_way() -> None:
    found = decided(BASE, RESTS, statement("LOSS-99", uses=("LOSS-98",)))["LOSS-99"]
    assert found.verdict == "holds-if"
    assert found.inherited == (("LOSS-97", "where it rains"),)


def test_a_condition_that_is_discharged_travels_no_further() -> None:
    dry = statement("LOSS-98", uses=("LOSS-97",), discharges={"LOSS-97": "it rains here"})
    found = decided(BASE, dry, statement("LOSS-99", uses=("LOSS-98",)))
    assert {name: found[name].verdict for name in found} == {
        "LOSS-97": "holds-if", "LOSS-98": "holds", "LOSS-99": "holds",
    }  # fmt: skip
    assert found["LOSS-98"].inherited == found["LOSS-99"].inherited == ()


def test_a_claim_may_discharge_what_comes_by_way_of_another() -> None:
    late = statement("LOSS-99", uses=("LOSS-98",), discharges={"LOSS-97": "it rains here"})
    found = decided(BASE, RESTS, late)
    assert (found["LOSS-98"].verdict, found["LOSS-99"].verdict) == ("holds-if", "holds")


def test_a_conditional_claim_keeps_its_own_condition_and_shows_the_other() -> None:
    found = decided(BASE, statement("LOSS-98", uses=("LOSS-97",), condition="at night",
                                    setting="a year", met_by="winter"))["LOSS-98"]  # fmt: skip
    assert found.verdict == "holds-if" and found.inherited == (("LOSS-97", "where it rains"),)


def test_claims_whose_records_rest_on_each_other_are_refused() -> None:
    known = {"LOSS-97": statement("LOSS-97"), "LOSS-98": statement("LOSS-98", uses=("LOSS-97",))}
    back = replace(record("LOSS-97", "proof"), uses=("LOSS-98",))
    with pytest.raises(
        RegistryError, match=r"LOSS-9\d: uses itself by way of LOSS-9\d -> LOSS-9\d"
    ):
        decide_all(known, [back])


@pytest.mark.canary
def test_a_discharge_of_what_is_not_used_is_refused() -> None:
    stray = statement("LOSS-98", discharges={"LOSS-97": "why not"})
    with pytest.raises(LedgerError, match="LOSS-98: discharges LOSS-97, on which it does not rest"):
        decided(BASE, stray)
