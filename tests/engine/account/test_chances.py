"""How often checks fail by chance: the levels are those of the checks, and are summed."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from verified_transformer.engine.account.records import chances
from verified_transformer.engine.account.records.record import (
    Estimate,
    Record,
    Recorded,
    Sample,
    Score,
    Volatile,
)
from verified_transformer.engine.sampling.design import Design

MEASURED = Record(
    ("LOSS-14",), ("abc",), "measurement", "supports", "Var = 2*d", "d=3", mutants=Score(9, 9, 0),
    volatile=Volatile(estimates=(Estimate(0.5, 100, "cpu"), Estimate(0.1, 100, "cpu"))),
)  # fmt: skip
TRIED = Record(
    ("LOSS-48",), ("a",), "experiment", "supports", "loss: positive",
    f"8 runs, replicate: seed; {chances.PLACEBOS_TRIED}",
)  # fmt: skip
KEPT = replace(TRIED, recorded=Recorded("a run", "0"))
FEW = replace(TRIED, detail="4 runs, replicate: seed; too few runs for a placebo")
SURE = Record(
    ("LOSS-14",), ("abc",), "sampled", "supports", "it is even", "true on every draw",
    sample=Sample(500, ("a",), "one in a hundred"),
)  # fmt: skip


def test_the_levels_are_those_that_measurements_are_designed_to() -> None:
    assert chances.FALSE_ALARM == Design().false_alarm and chances.MISS == Design().miss


@pytest.mark.parametrize(
    ("record", "chance"),
    [(MEASURED, 18e-6), (TRIED, 2e-4), (KEPT, 0), (FEW, 0), (SURE, 0)],
)
def test_what_has_a_level_counts(record: Record, chance: float) -> None:
    assert math.isclose(chances.by_chance(record), chance, rel_tol=1e-4)


def test_chances_are_summed() -> None:
    assert math.isclose(chances.expected([MEASURED, TRIED, TRIED]), 4.18e-4, rel_tol=1e-4)
