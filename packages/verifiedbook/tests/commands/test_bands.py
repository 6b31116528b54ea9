"""Two runs of a cell: words are the same or not, numbers lie within their bands or not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from verifiedbook.account.records.record import Interval
from verifiedbook.commands.notebooks import bands, comparing

EFFECT = Interval(1.2, 1.8)


def printed(text: str) -> list[dict[str, Any]]:
    return [{"output_type": "stream", "name": "stdout", "text": text}]


def tried(effect: Interval, **more: Any) -> list[dict[str, Any]]:
    record = {"claims": ["LOSS-29"], "kind": "experiment", "case": None, **more}
    record["measured"] = {"low": effect.low, "high": effect.high}
    return [{"output_type": "display_data", "data": {"text/plain": "LOSS-29 experiment"},
             "metadata": {"verified_transformer": record}}]  # fmt: skip


def red(stored: Any, new: Any, known: bands.Bands | None = None) -> list[str]:
    found = comparing.moves(stored, new, known or {})
    return [comparing.told(move) for move in found if move.far > 1]


def test_a_number_may_move_within_its_band() -> None:
    known = {"stdout": {1: 3}}
    assert not red(printed("after 20 steps 3.66"), printed("after 20 steps 3.69"), known)
    assert red(printed("after 20 steps 3.66"), printed("after 20 steps 3.70"), known) == [
        "1.3 times its band: 3.66 -> 3.70, of ± 0.03 in after 20 steps 3.70"
    ]


@pytest.mark.canary
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("after 21 steps 3.66", "20 -> 21 in after 21 steps 3.66"),
        ("before 20 steps 3.66", "stored: after 20 steps 3.66"),
        ("after 20 steps 3.66, 3.67", "stored: after 20 steps 3.66"),
        ("", "gone: after 20 steps 3.66"),
    ],
    ids=["without a band", "word", "one more", "nothing"],
)
def test_what_has_no_band_is_the_same_or_red(text: str, said: str) -> None:
    assert red(printed("after 20 steps 3.66"), printed(text), {"stdout": {1: 99}})[0] == said


def test_an_effect_may_move_within_its_error() -> None:
    assert not red(tried(EFFECT), tried(Interval(1.3, 2.0)))


@pytest.mark.canary
@pytest.mark.parametrize(
    "effect",
    [Interval(1.8, 2.7), Interval(0.8, 1.2), Interval(0.0, 3.0), Interval(1.45, 1.55)],
    ids=["times 1.5", "by 1.5", "wider", "narrower"],
)
def test_another_effect_is_red_both_ways(effect: Interval) -> None:
    for one, other in ((EFFECT, effect), (effect, EFFECT)):
        (line,) = red(tried(one), tried(other))
        assert re.search(r"times its band: LOSS-29: effect [\d.]+ ± [\d.]+ -> ", line)


@pytest.mark.parametrize("more", [{"recorded": {"name": "kept", "data": "0"}}, {"beside": "kept"}])
def test_the_size_of_an_effect_is_a_recordings_matter(more: dict[str, Any]) -> None:
    """A recording says it in its words; an example beside one decides its sign alone."""
    assert not red(tried(EFFECT, **more), tried(Interval(8, 9), **more))


def test_a_band_is_three_times_the_largest_move_of_drawn_processors() -> None:
    stored = {"stdout": "3.66 of 20, 0.500 and 1.50", "stderr": "0.12, 0.02"}
    draws = [
        stored | {"stdout": f"{first} of 20, 0.500 and 1.50"} for first in ("3.67", "3.64", "3.66")
    ]
    loud = stored | {"stdout": "3.91 of 21, 0.499 and 1.50"}
    found = bands.measured(stored, draws, loud)
    assert found == {"stdout": {0: 6, 2: 1}}
    failed = bands.measured(stored | {"text/html": "0.5"}, [], {})
    assert failed == {"stdout": {0: 1, 2: 1, 3: 1}, "stderr": {0: 1}}
    assert bands.read({"bands": bands.written(found)}) == found
