"""What the manual of `grow` shows runs: its examples, its command, its script."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from weightwise.command_line import main

load_file = pytest.importorskip("safetensors.torch").load_file
PAGE = Path(__file__).parents[2] / "book" / "grow.md"


@pytest.mark.slow
def test_the_manual_pages_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.failed == 0 and found.attempted >= 20
    (line,) = re.findall("`python -m verified_transformer (.*?)`", PAGE.read_text("utf-8"))
    assert main(line.replace(" wide ", " wider ").split()) == 0
    ours, theirs = (
        {key: value for path in sorted((tmp_path / folder).glob("*.safetensors"))
         for key, value in load_file(path).items()} for folder in ("wider", "wide")
    )  # fmt: skip
    assert ours and ours.keys() == theirs.keys()
    assert all(torch.equal(value, theirs[key]) for key, value in ours.items())
    one, other = (tmp_path / folder / "config.json" for folder in ("wider", "wide"))
    assert one.read_text("utf-8") == other.read_text("utf-8")


@pytest.mark.nightly
def test_the_manuals_script_runs_in_two_processes(tmp_path: Path) -> None:
    (script,) = re.findall(r"```python\n(# sharded\.py.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "sharded.py").write_text(script, encoding="utf-8")
    (command,) = re.findall(r"`(torchrun .*?)`", PAGE.read_text("utf-8"))
    words = ["-m", "torch.distributed.run", "--standalone", *command.split()[1:]]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("the same loss: True") == 2
