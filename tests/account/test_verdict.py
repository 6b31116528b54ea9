"""From records to verdicts: what each verdict needs, and the hedges that are refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from verified_transformer import claim
from verified_transformer.account.reading import Reading
from verified_transformer.account.records.margins import Interval
from verified_transformer.account.records.record import Record, Sample, Volatile
from verified_transformer.account.registry import Statement
from verified_transformer.account.verdicts import decide as verdict
from verified_transformer.account.verdicts.decide import LedgerError, decide, decide_all


def statement(kind: str = "equation", **reading: Any) -> Statement:
    return Statement("LOSS-99", "tied-loss", "here", kind, "said", Reading("read", **reading))


def record(kind: str, outcome: str = "supports", of: str = "reading", **more: Any) -> Record:
    return Record(("LOSS-99",), ("x",), kind, outcome, "s", "d", of, **more)


def experiment(outcome: str, low: float, high: float) -> Record:
    interval = Interval(low, high)
    return record(
        "experiment", outcome, margin=interval.printed, volatile=Volatile(interval=interval)
    )


PROOF, EXACT, MEASURED = record("proof"), record("exact"), record("measurement")
WITNESS, COUNTER = record("witness", "fails"), record("counterexample", "contradicts")
TRUTH = [record("proof", of="truth"), record("measurement", of="truth")]
COUNT = record("count")
CITED = record("citation")
SAMPLED = record("sampled", sample=Sample(100, ("a",), "one in a hundred"))
CONDITION = {"condition": "where it rains"}
SEEN = experiment("supports", 1, 3)
RIGHT = {"truth": "the other way round", "truth_formula": "2"}


@pytest.mark.parametrize(
    ("claim", "records", "verdict"),
    [
        (statement(), [], "undecided"),
        (statement(), [PROOF, MEASURED], "holds"),
        (statement(), [EXACT, MEASURED], "holds"),
        (statement(), [PROOF], "undecided"),
        (statement(), [MEASURED], "undecided"),
        (statement("number"), [MEASURED], "undecided"),
        (statement("number"), [record("census")], "holds"),
        (statement("number"), [COUNT], "holds"),
        (statement("equation"), [COUNT], "holds"),
        (statement("number"), [record("count", of="truth")], "undecided"),
        (statement(**RIGHT), [COUNTER, record("count", of="truth")], "wrong"),
        (statement("equation"), [record("census")], "undecided"),
        (statement("statement"), [PROOF], "holds"),
        (statement("statement"), [SAMPLED], "holds"),
        (statement("equation"), [SAMPLED], "undecided"),
        (statement("equation"), [SAMPLED, MEASURED], "undecided"),
        (statement("number"), [SAMPLED, MEASURED], "undecided"),
        (statement("attribution"), [CITED], "holds"),
        (statement("attribution", **RIGHT), [record("citation", "contradicts")], "wrong"),
        (statement("attribution"), [record("citation", "contradicts")], "undecided"),
        (statement("attribution", **CONDITION), [record("citation", "partly")], "holds-if"),
        (statement(**CONDITION), [PROOF, MEASURED, WITNESS], "holds-if"),
        (statement(**CONDITION), [PROOF, MEASURED], "undecided"),
        (statement(**RIGHT), [COUNTER, *TRUTH], "wrong"),
        (statement(**RIGHT), [COUNTER], "undecided"),
        (statement(**RIGHT), [COUNTER, TRUTH[0]], "undecided"),
        (statement(), [COUNTER, *TRUTH], "undecided"),
        (statement("empirical"), [SEEN], "reproduced"),
        (statement("empirical"), [experiment("contradicts", -3, -1)], "not-reproduced"),
        (statement("empirical"), [experiment("unsettled", -1, 1)], "open"),
        (statement("empirical"), [record("attempt", "none")], "open"),
        (statement("statement"), [record("set-aside", "none")], "not-truth-apt"),
    ],
)
def test_a_verdict_follows_from_the_records(
    claim: Statement, records: list[Record], verdict: str
) -> None:
    assert decide(claim, records).verdict == verdict


def test_a_verdict_by_citation_alone_is_called_judged() -> None:
    assert decide(statement("attribution"), [CITED]).judged
    assert not decide(statement("statement"), [CITED, PROOF]).judged


@pytest.mark.canary
@pytest.mark.parametrize(
    ("claim", "records"),
    [
        (statement(), [PROOF, MEASURED, COUNTER]),
        (statement(), [PROOF, MEASURED, WITNESS]),
        (statement("statement"), [record("set-aside", "none"), PROOF]),
        (statement("attribution", **RIGHT), [CITED, record("citation", "contradicts")]),
        (statement("empirical"), [SEEN, experiment("contradicts", -3, -1)]),
        (statement(), [record("proof", case="unheard of")]),
    ],
)
def test_contradictory_records_are_refused(claim: Statement, records: list[Record]) -> None:
    with pytest.raises(LedgerError, match="LOSS-99"):
        decide(claim, records)


def test_the_verdict_over_cases_is_the_worst_and_a_missing_case_leaves_it_open() -> None:
    claim = statement(
        cases={"fine": Reading("a"), "rainy": Reading("b", condition="only in the rain")}
    )
    fine = [dataclasses.replace(r, case="fine") for r in (PROOF, MEASURED)]
    rainy = [dataclasses.replace(r, case="rainy") for r in (PROOF, MEASURED, WITNESS)]
    assert decide(claim, fine + rainy).verdict == "holds-if"
    assert decide(claim, fine).verdict == "undecided"


def test_nothing_holds_that_rests_on_what_does_not() -> None:
    base = dataclasses.replace(statement(**RIGHT), id="LOSS-98")
    rests = statement(uses=("LOSS-98",))
    wrong = [dataclasses.replace(r, claims=("LOSS-98",)) for r in (COUNTER, *TRUTH)]
    found = decide_all({"LOSS-98": base, "LOSS-99": rests}, [*wrong, PROOF, MEASURED])
    assert found["LOSS-98"].verdict == "wrong"
    assert found["LOSS-99"].verdict == "undecided"
    assert found["LOSS-99"].why == "rests on LOSS-98 (wrong)"


# ------------------------------------------------------------------ margins


@pytest.mark.canary
@pytest.mark.parametrize(
    ("outcome", "low", "high", "margin"),
    [("supports", 0.02, 0.11, "0.44"), ("contradicts", -1.0, -0.3, "0.86")],
)
def test_an_outcome_without_margin_is_refused_by_name(
    outcome: str, low: float, high: float, margin: str
) -> None:
    with pytest.raises(LedgerError, match=rf"LOSS-99: experiment “s” .* {margin} half widths"):
        decide(statement("empirical"), [experiment(outcome, low, high)])


@pytest.mark.canary
@pytest.mark.parametrize("margin", ["margin at least 1/2", None])
def test_an_outcome_without_an_interval_is_refused(margin: str | None) -> None:
    with pytest.raises(LedgerError, match="LOSS-99: experiment “s” has no interval"):
        decide(statement("empirical"), [record("experiment", margin=margin)])


@pytest.mark.parametrize(
    ("low", "high", "margin", "printed"),
    [
        (1.0, 3.0, 1.0, "margin at least 1/2"),
        (-3.0, -1.0, 1.0, "margin at least 1/2"),
        (0.5, 2.5, 0.5, "margin at least 1/2"),
        (0.4, 2.5, 0.4 / 1.05, "margin below 1/2"),
        (-1.0, 2.0, 0.0, None),
        (2.0, 2.0, float("inf"), "margin at least 1/2"),
    ],
)
def test_a_margin_is_the_near_end_in_halves_of_the_width(
    low: float, high: float, margin: float, printed: str | None
) -> None:
    assert Interval(low, high).margin == pytest.approx(margin)
    assert Interval(low, high).printed == printed


@pytest.mark.parametrize("ends", [(1.0, 0.0), (float("nan"), 1.0)])
def test_an_interval_the_wrong_way_round_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"interval: got .*; accepted: low <= high"):
        Interval(*ends)


def test_what_an_experiment_leaves_behind_carries_its_interval() -> None:
    effect = {1: 1.0, 2: 1.1, 3: 1.05}
    made = claim("LOSS-29").experiment(effect, predicts="positive", unit="gain")
    interval = made.volatile.interval
    assert interval is not None and interval.low < 1.05 < interval.high
    assert made.margin == interval.printed == "margin at least 1/2"
    assert verdict.margin_fault(made) is None


def test_an_unsettled_experiment_needs_no_margin() -> None:
    effect = {1: 1.0, 2: -1.1, 3: 1.05}
    made = claim("LOSS-29").experiment(effect, predicts="positive", unit="gain")
    assert (made.outcome, made.margin, verdict.margin_fault(made)) == ("unsettled", None, None)
