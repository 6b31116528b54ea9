"""Time limits follow the machine."""

from __future__ import annotations

import itertools
import time

import machine
import pytest


def test_a_person_may_set_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine.VARIABLE, "3.5")
    assert machine.patient(30) == 105


def test_the_answer_is_measured_once_and_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(machine.VARIABLE)
    first = machine.calibrate()
    assert first >= 1 and machine.calibrate() == first


@pytest.mark.canary
def test_a_machine_six_times_as_busy_is_waited_for_six_times_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(machine.VARIABLE)
    clock = itertools.count(0.0, 6 * machine.REFERENCE)
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    assert machine.patient(300) == pytest.approx(1800)
