"""Time limits follow the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifiedbook.pytest_plugin import machine


def test_a_person_may_set_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine.VARIABLE, "3.5")
    assert machine.patient(30) == 105


def test_the_answer_is_measured_once_and_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(machine.VARIABLE, raising=False)
    first = machine.calibrate()
    assert first >= 1 and machine.calibrate() == first


@pytest.mark.canary
@pytest.mark.parametrize(("slower", "patience"), [(6, 1800), (1.9, 570), (0.5, 300)])
def test_a_machine_that_takes_longer_is_waited_for_as_much_longer(
    slower: float, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(machine.VARIABLE, raising=False)
    monkeypatch.setattr(machine, "WORK", f"print({slower * machine.REFERENCE})")
    assert machine.patient(300) == pytest.approx(patience)


@pytest.mark.canary
def test_the_slowest_of_those_that_work_at_a_time_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(machine.VARIABLE, raising=False)
    # which of them makes the file is the first; it took no time, and the other three times as long
    seldom = f"import os; os.open({str(tmp_path / 'first')!r}, os.O_CREAT | os.O_EXCL); print(0)"
    slow = f"print({3 * machine.REFERENCE})"
    work = f"try:\n    {seldom}\nexcept FileExistsError:\n    {slow}\n"
    monkeypatch.setattr(machine, "WORK", work)
    assert machine.calibrate(2) == pytest.approx(3)
