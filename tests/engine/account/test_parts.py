"""Recordings hold parts that their experiments ask for, with every seed and every rate."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from verifiedbook.account import recordings
from verifiedbook.account.parts import assembled, part

NAMES = [*recordings.experiments()]


def rows(value: Any) -> Iterator[list[Any]]:
    """The rows by seed in a part."""
    if isinstance(value, list):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from rows(inner)


@pytest.fixture
def kept(request: pytest.FixtureRequest) -> recordings.Recording:
    """A recording that may be edited."""
    return copy.deepcopy(recordings.load(request.param))


@pytest.mark.slow
@pytest.mark.parametrize("kept", NAMES, indirect=True)
def test_a_recording_gives_a_result_and_a_part_less_or_more_gives_none(
    kept: recordings.Recording,
) -> None:
    assert kept.result
    last = [*kept.parts][-1]
    less = {name: value for name, value in kept.parts.items() if name != last}
    with pytest.raises(ValueError, match=r"is missing; accepted: "):
        _ = replace(kept, parts=less).result
    with pytest.raises(ValueError, match=r"part 'mean': is not asked for; accepted: "):
        _ = replace(kept, parts=kept.parts | {"mean": 1.0}).result


@pytest.mark.canary
@pytest.mark.parametrize("kept", NAMES, indirect=True)
def test_a_seed_less_is_refused(kept: recordings.Recording) -> None:
    found = [row for value in kept.parts.values() for row in rows(value)]
    if not found:  # each part is of one seed
        del kept.parts["seed 8"]
    else:
        found[-1].pop()
    with pytest.raises(ValueError, match=f"recording {kept.name}: part .* (is missing|one a seed)"):
        _ = kept.result


@pytest.mark.canary
@pytest.mark.parametrize("kept", NAMES, indirect=True)
def test_other_seeds_than_the_experiment_has_are_refused(kept: recordings.Recording) -> None:
    next(iter(kept.provenance["seeds"].values())).pop()
    with pytest.raises(ValueError, match=r"has seeds .*; accepted: "):
        _ = kept.result


@pytest.mark.canary
def test_the_best_half_of_the_seeds_and_a_rate_less_are_refused() -> None:
    kept = copy.deepcopy(recordings.load("transfer"))
    after = kept.parts["text, 8 layers, without"]["after"]
    best = {rate: sorted(row)[:8] for rate, row in after.items()}
    after.update(best)
    with pytest.raises(ValueError, match="has 8 rows; accepted: 16, one a seed"):
        _ = kept.result
    kept = copy.deepcopy(recordings.load("transfer"))
    del kept.parts["text, 8 layers, without"]["after"]["0.008"]
    with pytest.raises(
        ValueError, match=r"after: has 0.001, .*; accepted: 0.001, 0.002, 0.004, 0.008"
    ):
        _ = kept.result


@pytest.mark.canary
def test_a_figure_cannot_be_typed() -> None:
    kept = copy.deepcopy(recordings.load("factorised_lookup"))
    before = kept.result["0"]["figures"]["slowest over plain"]
    kept.parts["seed 0"]["figures"] = {"slowest over plain": before / 2}
    assert replace(kept).result["0"]["figures"]["slowest over plain"] == before


def test_two_parts_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="part 'a': is asked for twice"):
        assembled(lambda: part("a", int) + part("a", int), {"a": 1})


def test_each_list_of_seeds_has_no_gap_and_begins_where_another_ends() -> None:
    lists = [
        seeds for name in NAMES for seeds in recordings.experiment(name).SEEDS.values()
    ]  # fmt: skip
    ends = {0, *(seeds[-1] + 1 for seeds in lists)}
    for seeds in lists:
        assert seeds == [*range(seeds[0], seeds[-1] + 1)]
        assert seeds[0] in ends


def test_recordings_of_code_that_rounds_otherwise_now_are_counted() -> None:
    found = [name for name in NAMES if "rounded otherwise" in recordings.load(name).provenance]
    assert found == ["rotary_growth", "zeros_or_copies"]  # until they are recorded again
