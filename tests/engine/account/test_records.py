"""Records: what they can be, their line, their place in notebooks, what moved, what chance does."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from verifiedbook.account import registry
from verifiedbook.account.ledger import LedgerError
from verifiedbook.account.records import chances
from verifiedbook.account.records.notebook_records import (
    notebooks,
    records_in,
    stored_records,
)
from verifiedbook.account.records.ran import OWN, Ran
from verifiedbook.account.records.record import (
    METADATA_KEY,
    Estimate,
    Interval,
    Record,
    Recorded,
    Sample,
    Score,
    Volatile,
    fields,
    from_json,
    to_json,
)
from verifiedbook.account.registry import statement
from verifiedbook.account.rendering import cards as rendering
from verifiedbook.commands.verify import compared
from verifiedbook.pytest_plugin.banded_notebooks import moved_fields
from verifiedbook.sampling.design import Design

PROOF = Record(
    ("LOSS-14",), ("abc",), "proof", "supports", "Var = 2*d", "two routes",
    latex="2d", mutants=Score(3, 3), uses=("LOSS-10",),
)  # fmt: skip
MEASURED = Record(
    ("LOSS-14",), ("abc",), "measurement", "supports", "Var = 2*d", "d=3",
    mutants=Score(2, 2, 1),
    volatile=Volatile(({"point": "d=3"},), (Estimate(0.5, 100, "cpu"),), 0.25),
)  # fmt: skip
TRIED = Record(
    ("LOSS-48", "LOSS-49"), ("a", "b"), "experiment", "supports", "loss: positive", "5 runs",
    case="slowest", recorded=Recorded("tied_convergence", "0"), counts={"runs": 5},
    measured=Interval(1.0, 2.0),
)  # fmt: skip
DRAWN = Record(
    ("LOSS-14",), ("abc",), "sampled", "supports", "it is even", "",
    of="truth", sample=Sample(500, ("a", "b"), "one in a hundred"),
)  # fmt: skip
RAN = replace(
    MEASURED, ran=(Ran("BertModel", layers=(2,), norms=("LayerNorm ε 1e-12",)), Ran("A", OWN)),
    volatile=Volatile(versions="torch 2.13.0"),
)  # fmt: skip
SOUND = to_json(PROOF)


@pytest.mark.parametrize("record", [PROOF, MEASURED, TRIED, DRAWN, RAN], ids=lambda r: r.kind)
def test_a_record_goes_through_json_and_back(record: Record) -> None:
    back = from_json(json.loads(json.dumps(to_json(record))))
    assert back == record and back.hash == record.hash and back.line == record.line


def test_the_line_names_all_that_was_decided() -> None:
    assert PROOF.line == f"LOSS-14 proof   Var = 2*d   two routes   #{PROOF.hash}"
    assert TRIED.line.startswith(
        "LOSS-48 LOSS-49 [slowest] experiment   loss: positive   5 runs   #"
    )
    assert "LOSS-14 sampled (truth)   it is even   500 draws; would have caught" in DRAWN.line
    assert repr(PROOF) == PROOF.line


CHANGES: dict[str, Any] = {
    "claims": ("LOSS-15",), "readings": ("abd",), "kind": "exact", "statement": "other",
    "detail": "other", "of": "truth", "case": "other", "cited": "other", "latex": "other",
    "mutants": Score(2, 3), "uses": (), "recorded": Recorded("a", "0"), "way": "by induction",
    "counts": {"points": 2}, "tolerance": "1 %",
    "made": "0123abcd", "beside": "kept", "until": "2023-07", "ran": (Ran("BertModel"),),
}  # fmt: skip


@pytest.mark.parametrize("field", CHANGES)
def test_the_hash_covers_every_deterministic_field_and_names_what_moved(field: str) -> None:
    changed = replace(PROOF, **{field: CHANGES[field]})
    assert changed.hash != PROOF.hash
    moved = {*fields(changed)} ^ {*fields(PROOF)}
    assert field in ("kind", "of") or {line.split(": ")[1] for line in moved} == {field}


def test_nbval_names_the_field_behind_another_hash() -> None:
    card = {"metadata": {"verified_transformer": {"kind": "card", "claims": ["LOSS-14"]}}}
    before, after = (
        [card, {"metadata": {"verified_transformer": to_json(record)}}]
        for record in (PROOF, replace(PROOF, made="0123abcd"))
    )
    assert moved_fields(before, before) == []
    (line,) = moved_fields(before, after)
    assert line == "LOSS-14: new: proof: made: '0123abcd'"


def test_no_deterministic_field_is_forgotten() -> None:
    own = {"outcome", "sample"}  # an outcome and a sample go with the kind
    names = {f.name for f in dataclasses.fields(Record)} - {"measured", "volatile", "steps"}
    assert names == set(CHANGES) | own
    assert {"outcome", "sample"} <= set(to_json(DRAWN))


def test_what_differs_from_run_to_run_moves_nothing() -> None:
    volatile = Volatile(seconds=3.0)
    later = replace(MEASURED, volatile=volatile, steps=(("why", "what"),), measured=Interval(1, 2))
    assert later.hash == MEASURED.hash and fields(later) == fields(MEASURED)


def test_a_field_that_is_empty_makes_no_record_anew() -> None:
    assert set(SOUND) == {
        "claims", "readings", "kind", "outcome", "statement", "detail", "of", "latex", "mutants",
        "uses", "volatile",
    }  # fmt: skip
    assert PROOF.hash == "5d81b769"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "record: 'list' object"),
        ({}, "record: .*missing 6 required positional arguments: 'claims'"),
        (SOUND | {"verdict": "holds"}, "record: 'verdict'"),
        (SOUND | {"kind": "guess"}, "kind: got 'guess'; accepted: proof, exact"),
        (SOUND | {"of": "lie"}, "of: got 'lie' of kind proof; accepted: reading, truth"),
        (SOUND | {"outcome": "fails"}, "outcome: got 'fails' of kind proof; accepted: supports"),
        (SOUND | {"mutants": {"killed": 3}}, "record: .*missing 1 required .*: 'total'"),
        (SOUND | {"sample": {"n": 1, "seeds": [], "sees": ""}}, "sample: needed by .* sampled"),
        (SOUND | {"kind": "sampled"}, "sample: needed by a record of kind sampled"),
        (SOUND | {"measured": {"low": 2, "high": 1}}, "interval: got 2 … 1"),
    ],
)
def test_what_is_no_record_is_refused(data: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_json(data)


# ------------------------------------------------------------------ stored and fresh


def test_what_comes_out_as_stored_is_the_same() -> None:
    claim = registry.statement("LOSS-14")
    assert compared(claim, [PROOF, MEASURED], [PROOF, MEASURED]) == (
        True, [claim.says, "holds (proof + measurement)", "what came out is what is stored"],
    )  # fmt: skip


@pytest.mark.canary
def test_what_comes_out_otherwise_names_the_field() -> None:
    claim = registry.statement("LOSS-14")
    moved = replace(PROOF, detail="one route")
    same, (_, _, before, old, new, *lacking) = compared(claim, [PROOF, MEASURED], [moved])
    assert not same and before == "stored as holds (proof + measurement)"
    assert old == "stored: proof: detail: 'two routes'"
    assert new == "   now: proof: detail: 'one route'"
    assert lacking[0].startswith("gone: measurement: claims: ")


@pytest.mark.canary
def test_an_outcome_that_turned_is_not_the_same() -> None:
    claim = registry.statement("LOSS-29")
    before = Record(
        ("LOSS-29",), ("x",), "experiment", "supports", "loss: positive", "5 runs",
        measured=Interval(1.0, 2.0),
    )  # fmt: skip
    after = replace(before, outcome="unsettled", statement="loss: unsettled")
    same, lines = compared(claim, [before], [after])
    assert not same and lines[1].startswith("open") and lines[2].startswith("stored as reproduced")
    assert "stored: experiment: outcome: 'supports'" in lines


# ------------------------------------------------------------------ records in notebooks


def output(record: Record = PROOF) -> dict[str, Any]:
    data, metadata = rendering.record_output(record)
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def test_records_are_found_and_cards_are_not() -> None:
    data, metadata = rendering.card(statement("LOSS-14"), None)
    cells = [{"outputs": [{"data": data, "metadata": metadata}]}, {}, {"outputs": [output()]}]
    found = list(records_in(cells, "a.ipynb"))
    assert [(item.record, item.cell) for item in found] == [(PROOF, 2)]


@pytest.mark.canary
@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("kind", "guess", "a.ipynb, cell 0: LOSS-14: kind: got 'guess'"),
        ("detail", "one route", "belong to the record: .* \\(the record says LOSS-14 .* one route"),
        ("latex", "3d", r"\(a field that the text does not show\)"),
        ("verdict", "holds", "a.ipynb, cell 0: LOSS-14: record: 'verdict'"),
        ("statement", None, "belong to the record"),
        ("claims", ["LOSS-15"], "belong to the record"),
        ("readings", [], "belong to the record"),
        ("mutants", {"killed": 3, "total": 4}, r"\(a field that the text does not show\)"),
    ],
)
def test_an_edited_record_is_refused(field: str, value: object, fault: str) -> None:
    spoiled = output()
    spoiled["metadata"][METADATA_KEY][field] = value
    with pytest.raises(LedgerError, match=fault):
        list(records_in([{"outputs": [spoiled]}], "a.ipynb"))


def test_a_notebook_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "1-a.ipynb"
    path.write_text(json.dumps({"cells": [{"outputs": [output()]}]}), encoding="utf-8")
    assert len(list(stored_records(path, tmp_path))) == 1
    path.write_text(json.dumps({"cells": []}), encoding="utf-8")
    assert list(stored_records(path, tmp_path)) == []


def test_notebooks_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "notebooks" / "1-first"
    folder.mkdir(parents=True)
    for name in ("10-j", "2-b", "1-a"):
        (folder / f"{name}.ipynb").write_text("{}", encoding="utf-8")
    assert [path.stem for path in notebooks(tmp_path)] == ["1-a", "2-b", "10-j"]
    with pytest.raises(ValueError, match=r"root: got .*, which has no notebooks"):
        notebooks(folder)


# ------------------------------------------------------------------ how often checks fail by chance

LEVELLED = replace(
    MEASURED, mutants=Score(9, 9, 0), volatile=Volatile(estimates=(Estimate(0.5, 100, "cpu"),) * 2)
)
RUNS = Record(
    ("LOSS-48",), ("a",), "experiment", "supports", "loss: positive",
    "8 runs, replicate: seed",
)  # fmt: skip


def test_the_levels_are_those_that_measurements_are_designed_to() -> None:
    assert chances.FALSE_ALARM == Design().false_alarm and chances.MISS == Design().miss


@pytest.mark.parametrize(("record", "chance"), [(LEVELLED, 18e-6), (RUNS, 0), (DRAWN, 0)])
def test_what_has_a_level_counts(record: Record, chance: float) -> None:
    assert math.isclose(chances.by_chance(record), chance, rel_tol=1e-4)


def test_chances_are_summed() -> None:
    assert math.isclose(chances.expected([LEVELLED, RUNS, LEVELLED]), 36e-6, rel_tol=1e-4)
