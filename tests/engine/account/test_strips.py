"""The line of evidence of a claim: plain words that follow from its records."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from verified_transformer.engine.account import evidence, ledger
from verified_transformer.engine.account.records.record import (
    Estimate,
    Record,
    Sample,
    Score,
    Volatile,
)
from verified_transformer.engine.account.rendering.readable import told

ROOT = Path(__file__).parents[3]


def record(kind: str, detail: str = "", **more: Any) -> Record:
    outcome = more.pop("outcome", evidence.KINDS[kind].outcomes[0])
    if kind in ("sampled", "equality"):
        more["sample"] = Sample(64, ("seed",), "a difference of 1e-9")
    statement = more.pop("statement", "x = 1")
    return Record(("LOSS-14",), ("0",), kind, outcome, statement, detail, **more)


TWO = Volatile(estimates=(Estimate(0.1, 1000, "cpu"),) * 2)


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (
            [
                record("measurement", "d=3; d=5; sees 1%", volatile=TWO),
                record("proof", "two routes; exact at 2 points", mutants=Score(19, 19)),
            ],
            "proved two ways · measured to 1 % at 2 points · 19/19 wrong versions rejected",
        ),
        ([record("proof", "3 checked steps")], "proved step by step"),
        ([record("proof", "by induction, base"), record("proof", "two routes")], "proved"),
        ([record("exact", "exact at 1 point")], "computed exactly at 1 point"),
        ([record("count", "counted at 2 points; 3/3 mutants")], "counted at 2 points"),
        ([record("sampled")], "true on 64 random draws"),
        ([record("equality")], "equal on 64 random draws"),
        (
            [record("counterexample"), record("proof", "two routes", of="truth")],
            "refuted by a counter-example · the right statement proved two ways",
        ),
        ([record("witness"), record("met")],
         "false without its condition · its condition met in the article's setting"),
        ([record("experiment", "8 runs, replicate: seed")], "seen in 8 runs"),
        ([record("experiment", "8 runs", outcome="contradicts")], "the opposite seen in 8 runs"),
        ([record("experiment", "8 runs", outcome="unsettled")], "tried in 8 runs, not settled"),
        (
            [record("experiment", "8 runs", outcome="unsettled"), record("experiment", "9 runs")],
            "seen in 9 runs, tried in 8 runs, not settled",
        ),
        ([record("census", "12 data; 3/3 mutants")], "counted in 12 published data"),
        ([record("citation"), record("citation")], "held against 2 sources"),
        ([record("set-aside", statement="opinion")], "set aside: an opinion"),
    ],
)  # fmt: skip
def test_words_follow_from_the_records(records: list[Record], words: str) -> None:
    assert told(records) == words


def test_every_stored_record_has_words() -> None:
    found, _ = ledger.read(ROOT)
    for item in found:
        words = told([item.record])
        assert not re.search(r"\b0 |nothing", words), (item.text, words)
