"""The law of the first loss at random points: what the bench found, and the code of today."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from verified_transformer.models.first_loss import GaussianStart

KNOWN = json.loads(
    (Path(__file__).parents[2] / "bench/first_loss_law.json").read_text(encoding="utf-8")
)
WITHIN, MOST_Z = 1e-8, 4.5


def faults(known: dict[str, Any]) -> list[str]:
    """What is not so: too few points, another number than the code's, or a promise not kept."""
    found = []
    if len(known["integrated"]) < 200 or len(known["drawn"]) < 50:
        found.append("too few points")
    for number, row in enumerate(known["integrated"]):
        law = GaussianStart(**row["start"]).loss()
        if abs(law - row["law"]) > 1e-11 * max(1, abs(law)):
            found.append(f"point {number}: the code gives {law!r}, not {row['law']!r}")
        off = abs(row["law"] - row["other"]) / max(1, abs(row["other"]))
        if not off <= WITHIN or abs(off - row["off"]) > 1e-15:
            found.append(f"point {number}: off by {off:.1e}")
    for number, row in enumerate(known["drawn"]):
        if not max(abs(row["z"]), abs(row["z of variance"])) < MOST_Z:
            found.append(f"drawn {number}: z {row['z']:.1f}")
    return found


@pytest.mark.slow
def test_the_law_is_the_other_integral_at_200_random_points() -> None:
    assert faults(KNOWN) == []
    assert KNOWN["summary"]["worst error"] <= WITHIN
    assert KNOWN["summary"]["greatest |z|"] < MOST_Z


@pytest.mark.canary
def test_a_law_that_is_off_by_a_millionth_is_seen() -> None:
    spoiled = copy.deepcopy(KNOWN)
    spoiled["integrated"] = spoiled["integrated"][:1]
    spoiled["integrated"][0]["other"] *= 1 + 1e-6
    assert faults(spoiled) == ["too few points", "point 0: off by 1.0e-06"]
