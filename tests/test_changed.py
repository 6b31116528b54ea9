"""`make test CHANGED=1`: what a change can reach is chosen, and what nobody knows has all run."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import changed
import pytest
import reach
import since

from verifiedbook.account.code import library

ROOT = Path(__file__).parent.parent
SECTION = "notebooks/3-first-loss/3-norm-variance"
MODELS = "packages/weightwise/src/weightwise"
FOLDERS = [ROOT / "tests", *sorted(ROOT.glob("packages/*/tests"))]
SURE = {
    "a claim": "src/verified_transformer/book/claims/tied-loss.yaml",
    "an exercise": "src/verified_transformer/book/claims/exercises/*.yaml",
    "a lock": "src/verified_transformer/book/claims/verdicts.lock",
    "a recording": "experiments/long_runs/recordings/*.json",
    "a face": "packages/weightwise/src/weightwise/__init__.pyi",
    "another face": "src/verified_transformer/book/__init__.py",
    "the engine": "packages/verifiedbook/src/verifiedbook/account/ledger.py",
    "a template": "packages/verifiedbook/src/verifiedbook/sphinx/templates/*.html",
    "an extension": "book/_ext/around/head.py",
    "a style sheet": "book/_static/*.css",
    "a script": "book/_static/*.js",
    "a figure": "book/figures/norm_density.py",
    "a bibliography": "book/references.bib",
    "a table of a page": "book/initial-loss-table.txt",
    "the contents": "_toc.yml",
    "the settings": "_config.yml",
    "pins": "requirements.txt",
    "the package": "pyproject.toml",
    "make": "Makefile",
    "the workflow": ".github/workflows/test.yml",
    "a conftest": "conftest.py",
    "another conftest": "packages/weightwise/tests/conftest.py",
    "a gate": "tests/page_gates.py",
    "a canary": "tests/canaries/book/*/*.html",
    "a bad page": "tests/canaries/pages/*.md",
    "a table of tests": "tests/wiring.yaml",
    "what chooses": "tests/changed.py",
    "a bench": "bench/side_by_side.py",
}


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    """The tree as it is, as if it had passed."""
    return since.state()


def planned(before: dict[str, Any], *names: str, cells: bool = False) -> since.Plan:
    """The plan where files are others than before, of notebooks more than the words."""
    now = json.loads(json.dumps(before))
    now["files"] |= {name: "another" for name in names}
    now["notebooks"] |= {name: "another" for name in names if cells}
    return since.plan(before, now)


@pytest.mark.canary
@pytest.mark.parametrize("name", SURE.values(), ids=[*SURE])
def test_what_no_rule_knows_has_all_run(name: str, before: dict[str, Any]) -> None:
    file = min(path.relative_to(ROOT).as_posix() for path in ROOT.glob(name))
    assert file in before["files"]
    assert planned(before, f"{SECTION}.ipynb", file).everything.startswith(f"{file} changed")


@pytest.mark.canary
def test_what_is_new_or_gone_or_runs_elsewhere_has_all_run(before: dict[str, Any]) -> None:
    assert "no whole run has passed" in since.plan({}, before).everything
    assert planned(before, "notebooks/3-first-loss/new.ipynb").everything.endswith("any test")
    fewer = {**before, "files": {**before["files"], f"{SECTION}.ipynb": None}}
    del fewer["files"][f"{SECTION}.ipynb"]
    assert "norm-variance.ipynb is gone" in since.plan(before, fewer).everything
    other = {**before, "surroundings": ["3.14.0", "test-3.14.0-1"]}
    assert since.plan(other, before).everything == "it passed with 3.14.0 test-3.14.0-1"


def test_words_and_cells_are_told_apart(before: dict[str, Any]) -> None:
    words = planned(before, f"{SECTION}.ipynb", "book/grow.owners")
    assert words.facets == {"words"} and words.words == {SECTION, "book/grow"}
    cells = planned(before, f"{SECTION}.ipynb", cells=True)
    assert cells.cells == {SECTION}
    cited = "notebooks/4-growth/7-grow-real-models.ipynb"
    assert "book/welcome" in planned(before, cited, cells=True).words  # says what it prints


def test_only_a_change_of_markdown_is_a_change_of_words(tmp_path: Path) -> None:
    book = json.loads((ROOT / f"{SECTION}.ipynb").read_text(encoding="utf-8"))
    file = tmp_path / "x.ipynb"
    for kind, same in (("markdown", True), ("code", False)):
        for part in ("source", "metadata", "outputs")[: 1 if same else 3]:
            file.write_text(json.dumps(book), encoding="utf-8")
            key = since.beside_words(file)
            cell = next(c for c in book["cells"][1:] if c["cell_type"] == kind and c[part])
            cell[part] = {"a": 1} if part == "metadata" else []
            file.write_text(json.dumps(book), encoding="utf-8")
            assert (since.beside_words(file) == key) is same, part


def chooses(plan: since.Plan, test: str) -> bool:
    """Whether a file of tests runs."""
    return not since._left_out(ROOT / test, plan, FOLDERS, library())


@pytest.mark.parametrize(
    ("name", "cells", "run", "left"),
    [
        (f"{SECTION}.ipynb", False,
         "notebooks prose break_it pages browser reading", "colab ledger machine"),
        (f"{SECTION}.ipynb", True,
         "notebooks colab ledger exercises", "systems recording runs"),
        ("book/welcome.md", False, "promises pages notebooks", "systems mutation"),
        (f"{MODELS}/mup.py", False, "wiring promises", "examples moments"),
    ],
)  # fmt: skip
def test_readers_of_what_changed_run(
    name: str, cells: bool, run: str, left: str, before: dict[str, Any]
) -> None:
    plan = planned(before, name, cells=cells)
    for words, wanted in ((run, True), (left, False)):
        for test in words.split():
            (file,) = [path for folder in FOLDERS for path in folder.rglob(f"test_{test}.py")]
            assert chooses(plan, file.relative_to(ROOT).as_posix()) is wanted, test


def test_a_module_is_reached_by_names_and_not_by_its_package(before: dict[str, Any]) -> None:
    plan = planned(before, f"{MODELS}/growth/axes.py")
    tests = "packages/weightwise/tests/test_"
    for name in ("growth_axes", "growth_classes", "bad_input"):
        assert chooses(plan, f"{tests}{name}.py"), name
    for name in ("counting", "factorised", "mup", "first_loss"):
        assert not chooses(plan, f"{tests}{name}.py"), name
    notebooks = "notebooks/4-growth/7-grow-real-models", "notebooks/1-initialisation/4-selu"
    reached = [
        reach.files([reach.program(ROOT / f"{name}.ipynb")], library()) for name in notebooks
    ]
    assert [ROOT / MODELS / "growth/axes.py" in files for files in reached] == [True, False]


@pytest.mark.canary
def test_a_name_in_the_words_of_a_refusal_is_reached() -> None:
    """The seal leaves those out, for they change no result; a test may read them."""
    files = reach.files([ast.parse("from weightwise import grow\ngrow")], library())
    assert ROOT / MODELS / "accepted.py" in files


def test_the_table_of_what_tests_do_not_read_names_files_that_are_there() -> None:
    there = {path.stem for folder in FOLDERS for path in folder.rglob("test_*.py")}
    named = [name for _, names in since.BLIND.values() for name in names.split()]
    assert len(named) == len({*named}) and {f"test_{name}" for name in named} <= there


# ------------------------------------------------------------------ pages of the built book


def one_page(html: Path) -> bool:
    return (html / "book/ledger.html").exists()


def any_page(html: Path) -> list[Path]:
    return sorted(html.glob("book/ledger.html"))


def section(html: Path) -> str:
    return f"{html}/{SECTION}.html"


@pytest.mark.parametrize(
    ("function", "named"), [(one_page, {"book/ledger.html"}), (any_page, set()), (section, set())]
)
def test_a_test_is_left_out_by_the_pages_that_it_names(function: Any, named: set[str]) -> None:
    item: Any = SimpleNamespace(function=function, fixturenames=["html"])
    assert changed.named_pages(item) == named
    item.fixturenames.append("something_else")  # which may look anywhere
    assert changed.named_pages(item) == set()


@pytest.mark.parametrize(
    ("value", "page"),
    [
        (ROOT / f"{SECTION}.ipynb", SECTION),
        (ROOT / "book/welcome.md", "book/welcome"),
        ("3-first-loss/3-norm-variance", SECTION),
        ("(" * 5000, ""),  # what a parser is given may be too long for the name of a file
        (Path("book/welcome.md"), ""),
        (3, ""),
    ],
)
def test_a_test_is_of_the_page_that_its_parameter_says(value: Any, page: str) -> None:
    item: Any = SimpleNamespace(callspec=SimpleNamespace(params={"value": value}))
    assert changed.of_one_page(item) == page


def test_a_page_is_new_where_it_differs_and_all_are_where_what_they_load_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "partly", lambda: True)
    for number, (name, new) in enumerate({"b.html": "b", "_static/a.css": "all"}.items()):
        old, now = tmp_path / f"{number}/old/_build/html", tmp_path / f"{number}/now"
        for folder in (old, now):
            (folder / "_static").mkdir(parents=True)
            for file in ("a.html", "b.html", "_static/a.css"):
                (folder / file).write_text("x", encoding="utf-8")
        (now / name).write_text("y", encoding="utf-8")
        assert changed.fresh(now, old.parents[1]) == {name}
        monkeypatch.setattr(changed, "fresh", lambda html, name=name: {name})
        assert changed.is_new(now, "b.html") and changed.is_new(now, "a.html") is (new == "all")
        monkeypatch.undo()
        monkeypatch.setattr(changed, "partly", lambda: True)


def test_a_whole_run_is_told_from_any_other() -> None:
    option = SimpleNamespace(
        keyword="", lf=False, collectonly=False, deselect=None, markexpr="not nightly", nbval=True
    )
    config: Any = SimpleNamespace(option=option, args=sorted(changed.WHOLE))
    assert changed.whole(config)
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {*re.search(r"DOCTESTS := --doctest-modules (.*)", make)[1].split()} < changed.WHOLE
    for name, value in (("keyword", "a"), ("lf", True), ("nbval", False), ("markexpr", "")):
        other = SimpleNamespace(**{**vars(option), name: value})
        assert not changed.whole(SimpleNamespace(option=other, args=config.args)), name
