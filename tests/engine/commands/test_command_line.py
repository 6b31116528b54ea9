"""The command line: what it refuses, and what it says then."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifiedbook.commands.command_line import main

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("command", [["claims"], ["verify", "LOSS-14"], ["refresh"]])
def test_outside_the_repository_it_says_so(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--root", str(tmp_path)]) == 1
    assert "has no notebooks; accepted: the repository" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["verify", "LOSS-99"], "id: 'LOSS-99' is not in the registry; accepted: ids"),
        (["refresh", "notebooks/none.ipynb"], "none of this repository's; accepted: paths such as"),
        (["fresh-seeds", "--salts", "0"], "--salts: got 0; accepted: 1 or more"),
        (["fresh-seeds", "--first", "0"], "--first: got 0; accepted: 1 or more"),
        (["portable", "--jobs", "0"], "--jobs: got 0; accepted: 1 or more"),
    ],
)
def test_a_bad_argument_is_named(
    command: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--root", str(ROOT)]) == 1
    assert says in capsys.readouterr().err
