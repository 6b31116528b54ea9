"""From records to verdicts: what each needs, what travels, how old evidence may be."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from verified_transformer import claim
from verifiedbook.account.reading import Reading, read_reading
from verifiedbook.account.recordings import of_the_same
from verifiedbook.account.records.notebook_records import Found, uncounted
from verifiedbook.account.records.ran import NamedModel, Ran
from verifiedbook.account.records.record import (
    Interval,
    LedgerError,
    Record,
    Recorded,
    Sample,
    from_json,
    to_json,
)
from verifiedbook.account.registry import Statement
from verifiedbook.account.rules import RegistryError
from verifiedbook.account.verdicts import decide as verdict
from verifiedbook.account.verdicts.decide import Decision, decide, decide_all

GAIN: Any = {"compares": ("it", "nothing"), "predicts": "positive", "unit": "gain"}


def statement(kind: str = "equation", id: str = "LOSS-99", **reading: Any) -> Statement:
    return Statement(id, "tied-loss", "here", kind, "said", Reading("read", **reading))


def record(
    kind: str, outcome: str = "supports", of: str = "reading", id: str = "LOSS-99", **more: Any
) -> Record:
    return Record((id,), ("x",), kind, outcome, "s", "d", of, **more)


def experiment(outcome: str, low: float, high: float) -> Record:
    return record("experiment", outcome, measured=Interval(low, high))


PROOF, EXACT, MEASURED = record("proof"), record("exact"), record("measurement")
WITNESS, COUNTER = record("witness", "fails"), record("counterexample", "contradicts")
TRUTH = [record("proof", of="truth"), record("measurement", of="truth")]
COUNT = record("count")
CITED = record("citation")
SAMPLED = record("sampled", sample=Sample(100, ("a",), "one in a hundred"))
CONDITION = {"condition": "where it rains"}
MEETS = {**CONDITION, "setting": "a country", "met_by": "its north"}
MET = record("met", "meets")
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
        (statement(**MEETS), [PROOF, MEASURED, WITNESS, MET], "holds-if"),
        (statement(**MEETS), [PROOF, MEASURED, MET], "undecided"),
        (statement(**MEETS), [WITNESS, MET], "undecided"),
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
        (statement(), [PROOF, MEASURED, MET]),
        (statement("statement"), [record("set-aside", "none"), PROOF]),
        (statement("attribution", **RIGHT), [CITED, record("citation", "contradicts")]),
        (statement(), [record("proof", case="unheard of")]),
    ],
)
def test_contradictory_records_are_refused(claim: Statement, records: list[Record]) -> None:
    with pytest.raises(LedgerError, match="LOSS-99"):
        decide(claim, records)


def test_the_verdict_over_cases_is_the_worst_and_a_missing_case_leaves_it_open() -> None:
    claim = statement(cases={"fine": Reading("a"), "rainy": Reading("b", **MEETS)})
    fine = [dataclasses.replace(r, case="fine") for r in (PROOF, MEASURED)]
    rainy = [dataclasses.replace(r, case="rainy") for r in (PROOF, MEASURED, WITNESS, MET)]
    found = decide(claim, fine + rainy)
    assert found.verdict == "holds-if" and found.why == (
        "case rainy: proof + measurement; met in the article's setting, fails without the condition"
    )
    assert decide(claim, fine).verdict == "undecided"


# ------------------------------------------------------------------ conditions, recipes


@pytest.mark.canary
@pytest.mark.parametrize(
    ("reading", "records", "missing"),
    [
        (CONDITION, [MET], "the article's setting in the reading"),
        ({**CONDITION, "setting": "a country"}, [MET], "what of the article's setting meets the "),
        (MEETS, [], "a run in the article's setting with the condition"),
    ],
)
def test_a_condition_that_the_setting_is_not_seen_to_meet_is_refused(
    reading: dict[str, str], records: list[Record], missing: str
) -> None:
    claim, held = statement(**reading), [PROOF, MEASURED, WITNESS, *records]
    found = decide(claim, held)
    assert found.verdict == "undecided" and found.why.startswith(f"still missing: {missing}")


def of_case(case: str, *records: Record) -> list[Record]:
    return [dataclasses.replace(r, case=case) for r in records]


RECIPE = statement(cases={"as printed": Reading("a", **RIGHT), "exists": Reading("b")})
FALLS = of_case("as printed", COUNTER, *TRUTH)
STANDS = of_case("exists", PROOF, MEASURED)


def test_of_a_recipe_what_is_printed_decides_and_what_exists_is_shown() -> None:
    found = decide(RECIPE, FALLS + STANDS)
    assert found.verdict == "wrong"
    assert found.why.startswith("case as printed: counter-example; ")
    assert found.why.endswith("; beside it, case exists: holds (proof + measurement)")
    held = {"as printed": Reading("a"), "exists": Reading("b", **RIGHT)}
    other = [dataclasses.replace(r, case="exists") for r in FALLS]
    other += of_case("as printed", PROOF, MEASURED)
    assert decide(statement(cases=held), other).verdict == "holds"


@pytest.mark.canary
@pytest.mark.parametrize(("records", "case"), [(FALLS, "exists"), (STANDS, "as printed")])
def test_a_recipe_with_one_case_alone_is_undecided(records: list[Record], case: str) -> None:
    found = decide(RECIPE, records)
    assert found.verdict == "undecided" and f"case {case}: still missing" in found.why


# ------------------------------------------------------------------ experiments that differ


def leg(name: str, outcome: str) -> Record:
    ends = {"supports": (1.0, 3.0), "contradicts": (-3.0, -1.0), "unsettled": (-1.0, 1.0)}
    made = experiment(outcome, *ends[outcome])
    return dataclasses.replace(
        made, recorded=Recorded(name, "x"), statement=f"loss of {name}, a less b: +"
    )


SMALL, LARGE = leg("small", "supports"), leg("large", "contradicts")


@pytest.mark.canary
@pytest.mark.parametrize("legs", [[SMALL, LARGE], [LARGE, SMALL], [SMALL, leg("x", "unsettled")]])
def test_experiments_that_differ_decide_nothing_by_themselves(legs: list[Record]) -> None:
    found = decide(statement("empirical"), legs)
    assert found.verdict == "undecided"
    assert "experiments differ (" in found.why and "says not which decides" in found.why


@pytest.mark.parametrize(
    ("decides", "verdict"),
    [
        ("small", "reproduced"),
        ("loss of small", "reproduced"),
        ("large", "not-reproduced"),
        ("huge", "undecided"),
    ],
)
def test_the_leg_that_the_reading_named_decides(decides: str, verdict: str) -> None:
    found = decide(statement("empirical", decides=decides), [SMALL, LARGE])
    assert found.verdict == verdict
    if verdict == "reproduced":
        assert found.why.endswith("; beside it, large: contradicts")


def test_a_case_may_decide_with_the_others_beside_it() -> None:
    cases = {"small": Reading("a"), "large": Reading("b")}
    legs = [*of_case("small", SMALL), *of_case("large", LARGE)]
    found = decide(statement("empirical", cases=cases, decides="small"), legs)
    assert found.verdict == "reproduced"
    assert "; beside it, case large: not-reproduced (" in found.why
    assert decide(statement("empirical", cases=cases), legs).verdict == "not-reproduced"


def test_experiments_that_agree_all_count() -> None:
    agree = [SMALL, leg("large", "supports")]
    assert decide(statement("empirical"), agree).verdict == "reproduced"
    assert decide(statement("empirical", decides="small"), agree).why.endswith("large: supports")


# ------------------------------------------------------------------ experiments on a truth


def of_truth(name: str, outcome: str) -> Record:
    return dataclasses.replace(leg(name, outcome), of="truth")


REFUTED = [COUNTER, record("exact", of="truth"), of_truth("small", "supports")]


def test_a_truth_that_its_experiments_support_is_decided() -> None:
    assert decide(statement("statement", **RIGHT), REFUTED).verdict == "wrong"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("outcome", "why"), [("contradicts", "speaks against it"), ("unsettled", "does not settle it")]
)
def test_an_experiment_that_does_not_support_the_truth_is_not_ignored(
    outcome: str, why: str
) -> None:
    against = of_truth("large", outcome)
    found = decide(statement("statement", **RIGHT), [*REFUTED, against])
    assert found.verdict == "undecided"
    assert found.why == (
        "refuted, but the truth is not decided: experiment “loss of large, a less b: +” " + why
    )
    cited = [record("citation", "contradicts"), record("citation", of="truth"), against]
    assert decide(statement("attribution", **RIGHT), cited).verdict == "undecided"


def test_a_truth_may_say_what_it_leaves_open() -> None:
    honest = statement("statement", **RIGHT, left_open=("loss of large",))
    assert decide(honest, [*REFUTED, of_truth("large", "unsettled")]).verdict == "wrong"


@pytest.mark.canary
def test_what_a_truth_leaves_open_is_open() -> None:
    honest = statement("statement", **RIGHT, left_open=("loss of large",))
    with pytest.raises(LedgerError, match="its truth leaves 'loss of large' open, it is settled"):
        decide(honest, [*REFUTED, of_truth("large", "supports")])
    found = decide(honest, REFUTED)
    assert found.verdict == "undecided" and found.why.endswith("leaves open, loss of large")


@pytest.mark.canary
def test_what_an_experiment_supports_is_not_refuted() -> None:
    with pytest.raises(LedgerError, match="LOSS-99: decided twice, as supported and as refuted"):
        decide(statement("statement", **RIGHT), [*REFUTED, SMALL])


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


def test_a_recording_is_moved_by_no_processor_and_needs_no_margin() -> None:
    edge, inside = (
        dataclasses.replace(experiment("supports", low, 0.11), recorded=Recorded("kept", "0"))
        for low in (0.02, -0.02)
    )
    assert decide(statement("empirical"), [edge]).verdict == "reproduced"
    with pytest.raises(LedgerError, match=r"0\.00 half widths from zero; it needs more than 0"):
        decide(statement("empirical"), [inside])


@pytest.mark.canary
def test_an_outcome_without_an_interval_is_refused() -> None:
    with pytest.raises(LedgerError, match="LOSS-99: experiment “s” has no interval"):
        decide(statement("empirical"), [record("experiment")])


@pytest.mark.parametrize(
    ("low", "high", "margin"),
    [
        (1.0, 3.0, 1.0),
        (-3.0, -1.0, 1.0),
        (0.5, 2.5, 0.5),
        (0.4, 2.5, 0.4 / 1.05),
        (-1.0, 2.0, 0.0),
        (2.0, 2.0, float("inf")),
    ],
)
def test_a_margin_is_the_near_end_in_halves_of_the_width(
    low: float, high: float, margin: float
) -> None:
    assert Interval(low, high).margin == pytest.approx(margin)


@pytest.mark.parametrize("ends", [(1.0, 0.0), (float("nan"), 1.0)])
def test_an_interval_the_wrong_way_round_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"interval: got .*; accepted: low <= high"):
        Interval(*ends)


@pytest.mark.parametrize(("run", "outcome"), [(1.1, "supports"), (-1.1, "unsettled")])
def test_what_an_experiment_leaves_behind_carries_its_interval(run: float, outcome: str) -> None:
    made = claim("LOSS-29").experiment(**GAIN, arms={"it": [1.0, run, 1.05], "nothing": 0})
    assert made.measured is not None and made.measured.low < 1.05 < made.measured.high
    assert made.outcome == outcome
    assert ("its margin suffices" in made.detail) == (outcome == "supports")
    assert verdict.margin_fault(made) is None


# ------------------------------------------------------------------ the models of which it speaks

SPOKEN = {"models": (NamedModel("T5ForConditionalGeneration", tied=False), NamedModel("BertModel"))}
T5, BERT = Ran("T5ForConditionalGeneration", tied=False), Ran("BertModel", layers=(2,))


def test_a_claim_about_models_is_decided_once_they_have_run() -> None:
    ran = record("exact", ran=(T5, BERT, Ran("Linear", "torch.nn")))
    assert decide(statement("statement", **SPOKEN), [ran]).verdict == "holds"
    half = record("exact", ran=(T5,))
    found = decide(statement("statement", **SPOKEN), [half, EXACT])
    assert found.verdict == "undecided" and found.why == "still missing: a run of BertModel"
    stack = statement("statement", models=(NamedModel("nn.LSTM"),))
    assert decide(stack, [record("exact", ran=(Ran("LSTM", "torch.nn"),))]).verdict == "holds"
    assert decide(stack, [record("exact", ran=(Ran("LSTM", "the book"),))]).verdict == "undecided"
    toy = record("exact", ran=(Ran("BertModel", "the book"),))
    assert decide(statement("statement", **SPOKEN), [half, toy]).verdict == "undecided"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("ran", "why"),
    [
        (Ran("T5ForConditionalGeneration", tied=True), "T5ForC.*, tied by identity; the reading"),
        (Ran("T5ForConditionalGeneration"), "ran T5ForConditionalGeneration; the reading speaks"),
        (Ran("GPT2Model"), "ran GPT2Model; .* of T5ForConditionalGeneration, untied or BertModel"),
    ],
)
def test_another_model_than_the_reading_speaks_of_is_refused(ran: Ran, why: str) -> None:
    with pytest.raises(LedgerError, match=why):
        decide(statement("statement", **SPOKEN), [record("exact", ran=(T5, BERT, ran))])


def test_models_are_read() -> None:
    found = read_reading({"text": "read", "model": ["A", "B, untied"]}, RegistryError)
    assert list(map(str, found.models)) == ["A", "B, untied"]


# ------------------------------------------------------------------ what travels


def records(statements: Mapping[str, Statement]) -> list[Record]:
    """All that each claim needs: wrong with a truth, conditional with a condition, else true."""
    made = []
    for name, found in statements.items():
        assert found.reading is not None
        of = "truth" if found.reading.truth else "reading"
        made += [record("proof", of=of, id=name), record("measurement", of=of, id=name)]
        if found.reading.truth:
            made.append(record("counterexample", "contradicts", id=name))
        if found.reading.condition:
            made += [record("witness", "fails", id=name), record("met", "meets", id=name)]
    return made


def decided(*statements: Statement) -> dict[str, Decision]:
    known = {s.id: s for s in statements}
    return decide_all(known, records(known))


BASE = statement(id="LOSS-97", **MEETS)
RESTS = statement(id="LOSS-98", uses=("LOSS-97",))


def test_nothing_holds_that_rests_on_what_does_not() -> None:
    found = decided(statement(id="LOSS-98", **RIGHT), statement(id="LOSS-99", uses=("LOSS-98",)))
    assert found["LOSS-98"].verdict == "wrong"
    assert found["LOSS-99"].verdict == "undecided"
    assert found["LOSS-99"].why == "rests on LOSS-98 (wrong)"


@pytest.mark.canary
def test_a_condition_travels_any_way() -> None:
    found = decided(BASE, RESTS, statement(id="LOSS-99", uses=("LOSS-98",)))
    assert found["LOSS-98"].why == "proof + measurement; inherits the condition of LOSS-97"
    for name in ("LOSS-98", "LOSS-99"):
        assert found[name].verdict == "holds-if"
        assert found[name].inherited == (("LOSS-97", "where it rains"),)


def test_a_condition_that_is_discharged_travels_no_further() -> None:
    dry = statement(id="LOSS-98", uses=("LOSS-97",), discharges={"LOSS-97": "it rains here"})
    found = decided(BASE, dry, statement(id="LOSS-99", uses=("LOSS-98",)))
    assert {name: found[name].verdict for name in found} == {
        "LOSS-97": "holds-if", "LOSS-98": "holds", "LOSS-99": "holds",
    }  # fmt: skip
    assert found["LOSS-98"].inherited == found["LOSS-99"].inherited == ()


def test_a_claim_may_discharge_what_comes_by_way_of_another() -> None:
    late = statement(id="LOSS-99", uses=("LOSS-98",), discharges={"LOSS-97": "it rains here"})
    found = decided(BASE, RESTS, late)
    assert (found["LOSS-98"].verdict, found["LOSS-99"].verdict) == ("holds-if", "holds")


def test_a_conditional_claim_keeps_its_own_condition_and_shows_the_other() -> None:
    found = decided(BASE, statement(id="LOSS-98", uses=("LOSS-97",), condition="at night",
                                    setting="a year", met_by="winter"))["LOSS-98"]  # fmt: skip
    assert found.verdict == "holds-if" and found.inherited == (("LOSS-97", "where it rains"),)


def test_claims_whose_records_rest_on_each_other_are_refused() -> None:
    known = {
        "LOSS-97": statement(id="LOSS-97"),
        "LOSS-98": statement(id="LOSS-98", uses=("LOSS-97",)),
    }
    back = record("proof", id="LOSS-97", uses=("LOSS-98",))
    with pytest.raises(
        RegistryError, match=r"LOSS-9\d: uses itself by way of LOSS-9\d -> LOSS-9\d"
    ):
        decide_all(known, [back])


@pytest.mark.canary
def test_a_discharge_of_what_is_not_used_is_refused() -> None:
    stray = statement(id="LOSS-98", discharges={"LOSS-97": "why not"})
    with pytest.raises(LedgerError, match="LOSS-98: discharges LOSS-97, on which it does not rest"):
        decided(BASE, stray)


# ------------------------------------------------------------------ the age of evidence


@pytest.mark.parametrize("until", ["2023", "2023-07", "2023-06-30", "2019"])
def test_evidence_of_its_day_or_older_counts(until: str) -> None:
    assert (
        decide(statement("statement", day="2023-07"), [record("exact", until=until)]).verdict
        == "holds"
    )
    assert decide(statement("statement"), [record("exact")]).verdict == "holds"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("until", "why"),
    [
        ("2024", "exact “s” is of 2024, younger than 2023-07"),
        ("2023-08", "exact “s” is of 2023-08, younger than 2023-07"),
        (None, "exact “s” does not say how young its data are; the claim speaks of 2023-07"),
    ],
)
def test_evidence_that_is_younger_than_the_claim_is_refused(until: str | None, why: str) -> None:
    with pytest.raises(LedgerError, match=f"LOSS-99: {why}"):
        decide(statement("statement", day="2023-07"), [record("exact", until=until)])


@pytest.mark.canary
def test_what_is_no_day_is_refused() -> None:
    with pytest.raises(ValueError, match="day: got '23'; accepted: YYYY"):
        claim("LOSS-14").until("23")


def test_a_check_says_how_young_its_data_are(reading: Callable[..., None]) -> None:
    reading(kind="statement", day="2023-07")
    made = claim("LOSS-14").until("2023-06").check_that("so", bool, on=1, not_on=0)
    assert made.until == "2023-06" and "; data until 2023-06   #" in made.line
    assert from_json(to_json(made)) == dataclasses.replace(made, volatile=made.volatile)
    assert claim("LOSS-14").check_that("so", bool, on=1, not_on=0).until is None


# ------------------------------------------------------------------ recordings that are left out


def found(name: str) -> Found:
    made = record("exact", recorded=Recorded(name, "x"))
    return Found(made, made.line, "notebooks/a.ipynb", 1)


def recordings(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.json").write_text(json.dumps({}), encoding="utf-8")


def test_recordings_of_one_experiment_belong_together(tmp_path: Path) -> None:
    recordings(tmp_path, "race", "race_again", "races", "other_again")
    assert of_the_same("race", tmp_path) == ["race", "race_again"]
    assert of_the_same("race_again", tmp_path) == ["race", "race_again"]
    assert of_the_same("races", tmp_path) == ["races"]
    assert of_the_same("other_again", tmp_path) == ["other_again"]


@pytest.mark.canary
@pytest.mark.parametrize("one", ["residual_schemes", "residual_schemes_again"])
def test_a_recording_that_is_left_out_is_found(one: str) -> None:
    others = [name for name in of_the_same(one) if name != one]
    known = {"LOSS-99": statement("statement")}
    assert uncounted([found(one)], known) == [
        f"LOSS-99: rests on recordings of an experiment without {other}; accepted: a record of it, "
        "or why it says nothing (without)"
        for other in others
    ]
    assert not uncounted([found(one), *map(found, others)], known)
    reasoned = {
        "LOSS-99": statement("statement", without=dict.fromkeys(others, "it has no such arm"))
    }
    assert not uncounted([found(one)], reasoned)
