"""What the README shows runs, and prints what it says."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_its_example_runs() -> None:
    page = Path(__file__).parents[1] / "README.md"
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.failed == 0 and found.attempted >= 5
