"""The timing of factorised lookups: every way does the work that it is said to do."""

from __future__ import annotations

import json

import pytest
import torch

from verified_transformer.book.experiments.factorised_lookup import (
    HEADS,
    LOOKUPS,
    Setting,
    compare,
    figures,
    flop_ratio,
    job,
    module,
    timed,
)

SMALL = Setting(n=500, d=24, tokens=30, scored=4, low_rank=3, terms=2, inner_rank=2)


def test_building_and_gathering_give_the_same_rows() -> None:
    built, gathered = job("built", SMALL)(), job("tensor train", SMALL)()
    assert gathered.shape == (30, 24) and torch.allclose(built, gathered, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("way", [*LOOKUPS, *HEADS])
def test_every_way_serves_the_whole_table(way: str) -> None:
    assert job(way, SMALL)().shape == ((4, 500) if way in HEADS else (30, 24))


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ValueError, match=r"way: got 'fast'; accepted: plain, built"):
        module("fast", SMALL)


def test_timing_runs_the_work_without_gradients() -> None:
    seen = []
    wall, cpu = timed(lambda: seen.append(torch.is_grad_enabled()))
    assert seen == [False] and wall > 0 and cpu >= 0


def test_figures_are_the_ratios_that_they_name() -> None:
    seconds = {
        "plain": 2.0, "built": 90.0, "low rank": 4.0, "Kronecker": 1.0, "tensor train": 3.0,
        "tensor product": 2.5, "dense head": 60.0, "low-rank head": 3.0,
    }  # fmt: skip
    setting = Setting(n=100, d=100, low_rank=2)
    assert flop_ratio(setting) == 25
    assert figures(seconds, setting) == {
        "built over tensor train": 30, "built over the slowest": 22.5, "slowest over plain": 2,
        "dense head over low-rank head": 20, "part of the FLOP ratio": 0.8,
    }  # fmt: skip


def test_a_run_is_json_with_every_way() -> None:
    found = compare(300, 16, tokens=10, scored=2, repeats=3)
    assert json.loads(json.dumps(found)) == found
    assert set(found["seconds"]) == {*LOOKUPS, *HEADS} and min(found["seconds"].values()) > 0
    assert found["parameters"]["plain"] == 300 * 16
    assert found["counted"]["plain"] == {"multiplications": 0, "bytes": 4 * 10 * 16}
    assert found["counted"]["built"]["bytes"] > 4 * 300 * 16
    assert found["parameters"]["low rank"] == 128 * (300 + 16)
    assert found["figures"] == figures(found["seconds"], Setting(300, 16))
