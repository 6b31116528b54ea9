"""The API pages show every public name, read from sources; their examples and the manuals' run."""

from __future__ import annotations

import doctest
import importlib
import sys
from pathlib import Path

import pytest

import verified_transformer

pytest.importorskip("sphinx")
sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "_ext"))
api_pages = importlib.import_module("api_pages")
sys.path.pop(0)
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


def shown(dotted: str) -> str:
    return "\n".join(line for _, line in api_pages.described(dotted))


@pytest.mark.parametrize("face", ["verified_transformer", "weightwise"])
def test_every_public_function_and_class_is_shown(face: str) -> None:
    text = shown(face)
    module = importlib.import_module(face)
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing) and thing.__doc__:
            assert f":: {name}" in text, name


def test_signatures_formulas_and_methods_are_those_of_the_source() -> None:
    text = shown("weightwise")
    assert ".. py:function:: normalised(hidden: torch.Tensor, kind: str='rms', *," in text
    assert ":math:`d\\sigma^2`" in text
    assert "   .. py:method:: attend(hidden: torch.Tensor) -> torch.Tensor" in shown(
        "weightwise.factorised.base.FactorisedEmbedding"
    )
    assert verified_transformer.__version__


@pytest.mark.canary
def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"asks weightwise/__init__.py for no_such"):
        shown("weightwise.no_such")
