"""From records to verdicts: what each verdict needs, and the hedges that are refused."""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from verified_transformer.account import ledger, registry
from verified_transformer.account.ledger import LedgerError, decide, decide_all
from verified_transformer.account.registry import Reading, Statement

ROOT = Path(__file__).parents[2]


def statement(kind: str = "equation", **reading: Any) -> Statement:
    return Statement("LOSS-99", "tied-loss", "here", kind, "said", Reading("read", **reading))


def record(kind: str, outcome: str = "supports", of: str = "reading", **more: Any) -> dict:
    return {
        "claims": ["LOSS-99"], "readings": ["x"], "kind": kind, "of": of, "case": None,
        "outcome": outcome, "statement": "s", "detail": "d", "cited": None, "latex": None,
        "mutants": None, "uses": [], "volatile": {}, **more,
    }  # fmt: skip


PROOF, EXACT, MEASURED = record("proof"), record("exact"), record("measurement")
WITNESS, COUNTER = record("witness", "fails"), record("counterexample", "contradicts")
TRUTH = [record("proof", of="truth"), record("measurement", of="truth")]
CITED = record("citation")
CONDITION = {"condition": "where it rains"}
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
        (statement("equation"), [record("census")], "undecided"),
        (statement("statement"), [PROOF], "holds"),
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
        (statement("empirical"), [record("experiment")], "reproduced"),
        (statement("empirical"), [record("experiment", "contradicts")], "not-reproduced"),
        (statement("empirical"), [record("experiment", "unsettled")], "open"),
        (statement("empirical"), [record("attempt", "none")], "open"),
        (statement("statement"), [record("set-aside", "none")], "not-truth-apt"),
    ],
)
def test_a_verdict_follows_from_the_records(
    claim: Statement, records: list[dict], verdict: str
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
        (statement("empirical"), [record("experiment"), record("experiment", "contradicts")]),
        (statement(), [record("proof", case="unheard of")]),
    ],
)
def test_contradictory_records_are_refused(claim: Statement, records: list[dict]) -> None:
    with pytest.raises(LedgerError, match="LOSS-99"):
        decide(claim, records)


def test_the_verdict_over_cases_is_the_worst_and_a_missing_case_leaves_it_open() -> None:
    claim = statement(
        cases={"fine": Reading("a"), "rainy": Reading("b", condition="only in the rain")}
    )
    fine = [{**r, "case": "fine"} for r in (PROOF, MEASURED)]
    rainy = [{**r, "case": "rainy"} for r in (PROOF, MEASURED, WITNESS)]
    assert decide(claim, fine + rainy).verdict == "holds-if"
    assert decide(claim, fine).verdict == "undecided"


def test_nothing_holds_that_rests_on_what_does_not() -> None:
    base = dataclasses.replace(statement(**RIGHT), id="LOSS-98")
    rests = statement(uses=("LOSS-98",))
    wrong = [{**r, "claims": ["LOSS-98"]} for r in (COUNTER, *TRUTH)]
    found = decide_all({"LOSS-98": base, "LOSS-99": rests}, [*wrong, PROOF, MEASURED])
    assert found["LOSS-98"].verdict == "wrong"
    assert found["LOSS-99"].verdict == "undecided"
    assert found["LOSS-99"].why == "rests on LOSS-98 (wrong)"


@pytest.mark.parametrize("field", ["outcome", "statement", "detail", "case", "of", "mutants"])
def test_the_hash_covers_every_deterministic_field(field: str) -> None:
    changed = {**PROOF, field: "other"}
    assert ledger.seal(changed) != ledger.seal(PROOF)
    assert ledger.seal({**PROOF, "volatile": {"seconds": 3}}) == ledger.seal(PROOF)


@pytest.fixture(scope="module")
def collected() -> dict[str, Any]:
    return ledger.collect(ROOT)


def own_not_held(claims: list[dict[str, Any]]) -> dict[str, str]:
    own = (c for c in claims if c["article"] == registry.OWN)
    return {c["id"]: c["verdict"] for c in own if c["verdict"] not in ("holds", "reproduced")}


def test_what_the_book_itself_says_holds(collected: dict[str, Any]) -> None:
    assert own_not_held(collected["claims"]) == {}


@pytest.mark.canary
@pytest.mark.parametrize("verdict", ["wrong", "holds-if", "open", "undecided"])
def test_a_statement_of_the_book_that_does_not_hold_is_found(verdict: str) -> None:
    claims = [{"id": "BOOK-01", "article": registry.OWN, "verdict": verdict}]
    assert own_not_held(claims) == {"BOOK-01": verdict}


def test_the_ledger_lists_all_292_in_order(collected: dict[str, Any]) -> None:
    assert [c["id"] for c in collected["claims"]] == list(registry.load()[1])
    assert collected["summary"]["total"] == 292
    for claim in collected["claims"]:
        decided = claim["verdict"] != "undecided"
        assert decided == bool(claim["evidence"]) or claim["why"].startswith(("still", "rests"))
        assert not decided or claim["reading"]
        assert claim["verdict"] not in ("wrong", "holds-if") or claim["truth"]
        assert claim["verdict"] != "holds-if" or claim["condition"]


def vanished(data: dict[str, Any]) -> list[str]:
    """Claims whose reading is written, but whose deciding cells are gone."""
    return [c["id"] for c in data["claims"] if c["reading"] and c["verdict"] == "undecided"]


def test_no_decided_claim_has_vanished(collected: dict[str, Any]) -> None:
    assert vanished(collected) == []


@pytest.mark.canary
def test_a_claim_whose_cells_are_gone_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    found, faults = ledger.read(ROOT)
    fewer = [item for item in found if "LOSS-16" not in item.record["claims"]]
    monkeypatch.setattr(ledger, "read", lambda root: (fewer, faults))
    assert vanished(ledger.collect(ROOT)) == ["LOSS-16", "LOSS-22"]  # the second rests on it


def test_no_equation_or_number_is_decided_by_citation(collected: dict[str, Any]) -> None:
    for claim in collected["claims"]:
        if claim["kind"] in ("equation", "number"):
            assert "citation" not in {e["kind"] for e in claim["evidence"]}


def test_every_source_cited_is_in_the_bibliography() -> None:
    bibliography = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    for item in ledger.read(ROOT)[0]:
        key = item.record["cited"]
        assert key is None or f"{{{key}," in bibliography, key


def test_every_mutant_counted_is_rejected(collected: dict[str, Any]) -> None:
    mutants = collected["summary"]["mutants"]
    assert mutants["killed"] == mutants["total"] > 0


def test_the_z_scores_of_the_book_look_normal(collected: dict[str, Any]) -> None:
    """Too many large ones: a bias. Too few: a check that does not measure what it says."""
    scores = [
        estimate["z"]
        for item in ledger.read(ROOT)[0]
        for estimate in item.record["volatile"].get("estimates", [])
    ]
    n, total = len(scores), sum(z * z for z in scores)
    # chi-square with n degrees of freedom, by Wilson and Hilferty, within ±4.5 standard deviations
    deviation = ((total / n) ** (1 / 3) - (1 - 2 / (9 * n))) / (2 / (9 * n)) ** 0.5
    assert n >= 20 and abs(deviation) < 4.5, (n, total)


@pytest.mark.canary
def test_flipping_any_reading_makes_the_ledger_red_and_names_the_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    articles, statements = registry.load()
    decided = {name for item in ledger.read(ROOT)[0] for name in item.record["claims"]}
    for name in sorted(decided):
        reading = copy.copy(statements[name].reading)
        flipped = dataclasses.replace(reading, text=reading.text + " not", formula="17")
        changed = {**statements, name: dataclasses.replace(statements[name], reading=flipped)}
        monkeypatch.setattr(registry, "load", lambda changed=changed: (articles, changed))
        with pytest.raises(LedgerError, match=name):
            ledger.collect(ROOT)


@pytest.mark.canary
def test_a_decided_claim_that_vanishes_from_the_registry_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    articles, statements = registry.load()
    fewer = {name: s for name, s in statements.items() if name != "LOSS-14"}
    monkeypatch.setattr(registry, "load", lambda: (articles, fewer))
    with pytest.raises(LedgerError, match="LOSS-14 is not in the registry"):
        ledger.collect(ROOT)


def test_the_ledger_needs_neither_sympy_nor_torch() -> None:
    program = (
        "import sys; from pathlib import Path; from verified_transformer.account import ledger; "
        "ledger.collect(Path('.')); print({'sympy', 'torch', 'numpy'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "set()"
