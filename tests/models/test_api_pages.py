"""The examples on the book's API pages and in its manuals run, and show what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "book"


@pytest.mark.filterwarnings("ignore:IProgress")
@pytest.mark.parametrize("page", sorted(PAGES.glob("api*.md")), ids=lambda page: page.stem)
def test_examples_of_a_page_run(page: Path) -> None:
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried or page.stem != "api"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:IProgress")
@pytest.mark.parametrize(("manual", "least"), [("factorised-tables", 15), ("initial-loss", 9)])
def test_examples_of_a_manual_run(manual: str, least: int) -> None:
    page = str(PAGES / f"{manual}.md")
    failed, tried = doctest.testfile(page, module_relative=False, encoding="utf-8")
    assert failed == 0 and tried >= least


@pytest.mark.canary
def test_an_example_that_shows_another_result_is_seen(tmp_path: Path) -> None:
    text = (PAGES / "api.md").read_text(encoding="utf-8").replace("15.368", "15.367")
    (tmp_path / "api.md").write_text(text, encoding="utf-8")
    assert doctest.testfile(str(tmp_path / "api.md"), module_relative=False, report=False).failed
