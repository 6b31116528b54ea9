"""Experiments with two arms: the library subtracts, and says how much."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from verifiedbook.account.recordings import Recording
from verifiedbook.checks import by_experiment
from verifiedbook.checks.claim import claim
from verifiedbook.commands.notebooks.bands import effect_moved

SEEDS = range(12)


def runs(mean: float, spread: float = 0.1, name: str = "runs") -> dict[int, float]:
    source = random.Random(name)
    return {seed: mean + spread * source.gauss(0, 1) for seed in SEEDS}


ARMS = {"tied": runs(2.4, name="a"), "untied": runs(3.1, name="b"), "other": runs(2.4, name="c")}
KEPT = Recording("kept", {}, {"seeds": {"runs": [*SEEDS]}}, {})


@pytest.fixture(autouse=True)
def empirical(reading: Callable[..., None]) -> None:
    reading(kind="empirical")


def experiment(**changes: Any) -> Any:
    given = {
        "arms": ARMS, "compares": ("tied", "untied"), "predicts": "negative", "unit": "loss",
    } | changes  # fmt: skip
    return claim("LOSS-14").experiment(**given)


def test_an_experiment_says_which_arm_less_which_and_how_much() -> None:
    record = experiment()
    assert record.line == (
        "LOSS-14 experiment   loss, tied less untied: negative   12 runs, replicate: seed; "
        f"its margin suffices   #{record.hash}"
    )
    assert record.volatile.rows[0]["mean of untied"].startswith("3.0")


def test_a_recording_is_judged_by_its_interval_and_live_runs_by_a_margin() -> None:
    means = {"edge": (0.0, 0.5), "inside": (-1.0, 0.0)}
    for name, (low, high) in means.items():
        mean = next(m / 1000 for m in range(1, 400) if low <= margin_of(m / 1000) - 1e-9 < high)
        arms = {"tied": runs(mean), "none": dict.fromkeys(SEEDS, 0.0)}
        told = {"arms": arms, "compares": ("tied", "none"), "predicts": "positive"}
        live, kept = experiment(**told), experiment(**told, recorded=KEPT)
        found = (live.outcome, kept.outcome)
        assert found == ("unsettled", "supports" if name == "edge" else "unsettled")
        interval = kept.measured
        assert kept.line.count(f"99 % interval {interval.low:.3g} … {interval.high:.3g}") == 1


def margin_of(mean: float) -> float:
    return by_experiment.interval_of(runs(mean).values()).margin


@pytest.mark.canary
def test_the_arms_the_other_way_round_have_the_other_outcome() -> None:
    outcomes = [
        experiment(compares=compares, predicts=predicts).outcome
        for compares in (("tied", "untied"), ("untied", "tied"))
        for predicts in ("negative", "positive")
    ]
    assert outcomes == ["supports", "contradicts", "contradicts", "supports"]
    assert experiment(compares=("tied", "other")).outcome == "unsettled"


@pytest.mark.canary
def test_arms_that_are_swapped_or_added_have_another_effect() -> None:
    effect = experiment().measured
    swapped = {**ARMS, "tied": ARMS["untied"], "untied": ARMS["tied"]}
    added = {**ARMS, "untied": {seed: -value for seed, value in ARMS["untied"].items()}}
    doubled = {**ARMS, "untied": {seed: 2 * value for seed, value in ARMS["untied"].items()}}
    for arms in (swapped, added, doubled):
        assert effect_moved(effect, experiment(arms=arms).measured) > 1


def test_an_arm_may_be_a_bound() -> None:
    for name, bound in (("3", 3), ("0.6", 0.6), ("one hundredth", 0.01)):
        arms = {"tied": [value - 9 for value in ARMS["tied"].values()], name: bound}
        record = experiment(arms=arms, compares=("tied", name))
        assert record.statement == f"loss, tied less {name}: negative"


@pytest.mark.canary
@pytest.mark.parametrize(("name", "bound"), [("3", 4), ("half", 0.6), ("a bound", 3)])
def test_a_bound_that_is_not_what_it_is_called_is_refused(name: str, bound: float) -> None:
    with pytest.raises(ValueError, match=f"{bound} is called '{name}'; accepted: its digits"):
        experiment(arms={"tied": ARMS["tied"], name: bound}, compares=("tied", name))


# ------------------------------------------------------------------ from a recording


@pytest.mark.canary
@pytest.mark.parametrize("kept", [8, 3])
def test_a_choice_of_recorded_seeds_is_refused(kept: int) -> None:
    best = sorted(SEEDS, key=lambda seed: ARMS["tied"][seed])[:kept]
    few = {name: {seed: arm[seed] for seed in best} for name, arm in ARMS.items()}
    with pytest.raises(ValueError, match=rf"have {kept} of the seeds of kept; accepted: all, 12"):
        experiment(arms=few, recorded=KEPT)


def test_an_arm_is_a_list_or_a_tensor_of_one_value_for_each_seed() -> None:
    """The record is the same as of the values by seed."""
    told = set()
    for made in (dict, lambda by: [*by.values()], lambda by: np.array([*by.values()]),
                 lambda by: torch.tensor([*by.values()], dtype=torch.float64)):  # fmt: skip
        told.add(repr(experiment(arms={name: made(by_seed) for name, by_seed in ARMS.items()})))
    assert len(told) == 1


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"arms": [1, 2]}, TypeError, "arms: got list; accepted: runs by the name"),
        ({"arms": {"tied": "123", "untied": ARMS["tied"]}}, TypeError, r"arms\['tied'\]: got str"),
        ({"arms": {"tied": [[1, 2]], "untied": ARMS["tied"]}}, TypeError, r"\['tied'\]: got list"),
        ({"arms": {"tied": torch.ones(3, 2), "untied": ARMS["tied"]}}, TypeError, "got list"),
        ({"arms": {"tied": [1, 2, 3], "untied": ARMS["tied"]}}, ValueError, "have other seeds"),
        ({"compares": None}, ValueError, "compares: got None; accepted: the names of two arms"),
        ({"compares": ("tied", "tied")}, ValueError, "compares: got"),
        ({"compares": ("tied", "free")}, ValueError, "compares: got 'free'; accepted"),
        ({"arms": {"tied": ARMS["tied"], "untied": runs(1.0) | {99: 1.0}}}, ValueError, "other"),
        ({"arms": {"tied": {0: 1, 1: 2}, "untied": {0: 2, 1: 3}}}, ValueError, "got 2 runs"),
        ({"arms": {"tied": runs(float("nan")), "untied": runs(1.0)}}, ValueError, "got nan for 0"),
        ({"arms": {"tied": 1.0, "untied": 2.0}}, ValueError, "tied and untied are both numbers"),
        ({"effect": runs(1.0)}, TypeError, "unexpected keyword argument 'effect'"),
        ({"arms": None}, TypeError, "arms: got NoneType; accepted: runs by the name"),
        ({"predicts": "up"}, ValueError, "predicts: got 'up'; accepted: positive, negative"),
    ],
)  # fmt: skip
def test_bad_arms_are_named(changes: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        experiment(**changes)
