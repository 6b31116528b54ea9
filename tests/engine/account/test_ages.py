"""How old evidence may be, and which recordings of an experiment count."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verified_transformer import claim
from verified_transformer.engine.account import registry
from verified_transformer.engine.account.reading import Reading, RegistryError, read_reading
from verified_transformer.engine.account.recordings import of_the_same
from verified_transformer.engine.account.records.notebook_records import Found, uncounted
from verified_transformer.engine.account.records.record import (
    LedgerError,
    Record,
    Recorded,
    from_json,
    to_json,
)
from verified_transformer.engine.account.registry import Statement
from verified_transformer.engine.account.verdicts.decide import decide


def refuse(rule: str) -> RegistryError:
    return RegistryError(rule)


def statement(**reading: Any) -> Statement:
    read = Reading("read", **reading)
    return Statement("LOSS-99", "tied-loss", "here", "statement", "said", read)


def record(until: str | None = None, **more: Any) -> Record:
    return Record(("LOSS-99",), ("x",), "exact", "supports", "years", "d", until=until, **more)


# ------------------------------------------------------------------ the age of evidence


@pytest.mark.parametrize("until", ["2023", "2023-07", "2023-06-30", "2019"])
def test_evidence_of_its_day_or_older_counts(until: str) -> None:
    assert decide(statement(day="2023-07"), [record(until)]).verdict == "holds"
    assert decide(statement(), [record()]).verdict == "holds"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("until", "why"),
    [
        ("2024", "exact “years” is of 2024, younger than 2023-07"),
        ("2023-08", "exact “years” is of 2023-08, younger than 2023-07"),
        (None, "exact “years” does not say how young its data are; the claim speaks of 2023-07"),
    ],
)
def test_evidence_that_is_younger_than_the_claim_is_refused(until: str | None, why: str) -> None:
    with pytest.raises(LedgerError, match=f"LOSS-99: {why}"):
        decide(statement(day="2023-07"), [record(until)])


@pytest.mark.canary
@pytest.mark.parametrize(("until", "why"), [("2026", "is of 2026, younger"), (None, "how young")])
def test_a_source_that_is_younger_than_the_claim_is_refused(until: str | None, why: str) -> None:
    item = {"key": "a", "says": "supports", "at": "1", "quote": "so it is."}
    item |= {"until": until} if until else {}
    with pytest.raises(RegistryError, match=rf"the citation of a \(until\).*{why}"):
        read_reading({"text": "read", "day": "2021-08", "citations": [item]}, refuse)
    case = {"text": "case", "citations": [item]}  # which inherits the day
    with pytest.raises(RegistryError, match=why):
        read_reading({"text": "read", "day": "2021-08", "cases": {"a": case}}, refuse)


@pytest.mark.canary
def test_what_is_no_day_is_refused() -> None:
    with pytest.raises(RegistryError, match="day: got 'July'; accepted: YYYY"):
        read_reading({"text": "read", "day": "July"}, refuse)
    with pytest.raises(ValueError, match="day: got '23'; accepted: YYYY"):
        claim("LOSS-14").until("23")


def test_a_check_says_how_young_its_data_are(reading: Callable[..., None]) -> None:
    reading(kind="statement", day="2023-07")
    made = claim("LOSS-14").until("2023-06").check_that("so", bool, on=1, not_on=0)
    assert made.until == "2023-06" and "; data until 2023-06   #" in made.line
    assert from_json(to_json(made)) == dataclasses.replace(made, volatile=made.volatile)
    assert claim("LOSS-14").check_that("so", bool, on=1, not_on=0).until is None


def test_a_day_takes_no_part_in_the_fingerprint() -> None:
    known = registry.statement("LOSS-05")
    assert known.reading is not None and known.reading.day
    other = dataclasses.replace(known.reading, day=None, without={"a": "b"})
    assert dataclasses.replace(known, reading=other).hash == known.hash


# ------------------------------------------------------------------ recordings that are left out


def found(name: str) -> Found:
    made = record(recorded=Recorded(name, "x"))
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
    known = {"LOSS-99": statement()}
    assert uncounted([found(one)], known) == [
        f"LOSS-99: rests on recordings of an experiment without {other}; accepted: a record of it, "
        "or why it says nothing (without)"
        for other in others
    ]
    assert not uncounted([found(one), *map(found, others)], known)
    reasoned = {"LOSS-99": statement(without=dict.fromkeys(others, "it has no such arm"))}
    assert not uncounted([found(one)], reasoned)


@pytest.mark.canary
def test_a_recording_is_not_left_out_without_a_reason() -> None:
    with pytest.raises(RegistryError, match="without: why it says nothing is missing"):
        read_reading({"text": "read", "without": {"race_again": " "}}, refuse)
