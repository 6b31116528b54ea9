"""The command line: what it refuses, and what it says then."""

from __future__ import annotations

from pathlib import Path

import pytest

from verified_transformer.engine.commands.line import main

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("command", [["claims"], ["verify", "LOSS-14"], ["refresh"]])
def test_outside_the_repository_it_says_so(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--root", str(tmp_path)]) == 1
    assert "has no notebooks; accepted: the repository" in capsys.readouterr().err


def test_an_unknown_claim_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "LOSS-99", "--root", str(ROOT)]) == 1
    assert "id: 'LOSS-99' is not in the registry; accepted: ids" in capsys.readouterr().err


def test_an_unknown_notebook_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refresh", "notebooks/none.ipynb", "--root", str(ROOT)]) == 1
    assert "none of this repository's; accepted: paths such as" in capsys.readouterr().err


def test_no_salts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fresh-seeds", "--salts", "0", "--root", str(ROOT)]) == 1
    assert "--salts: got 0; accepted: 1 or more" in capsys.readouterr().err


def test_no_first_salt_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fresh-seeds", "--first", "0", "--root", str(ROOT)]) == 1
    assert "--first: got 0; accepted: 1 or more" in capsys.readouterr().err


def test_no_jobs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["portable", "--jobs", "0", "--root", str(ROOT)]) == 1
    assert "--jobs: got 0; accepted: 1 or more" in capsys.readouterr().err
