"""The faults made at random: they change what they should, can be found again, and are judged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mutation import sites
from mutation.__main__ import as_json, equivalent, left, table
from mutation.judging import LOCKED, RECORDED, Judge, Judgement, importers, readers
from mutation.mutant import KINDS, PARTS, Mutant
from mutation.mutants import UNITS, draw
from mutation.sites import Site

from verifiedbook.pytest_plugin.near_claims import claims_near

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
NOTEBOOK = "notebooks/3-first-loss/3-norm-variance.ipynb"


def changes(found: list[Site], text: str) -> set[str]:
    return {site.apply(text) for site in found}


def test_prose_changes_in_numbers_words_negations_and_formulas() -> None:
    text = "Of 3 laws two grow with $d$: $2d\\sigma^4$ is not a bound."
    found = changes(list(sites.in_prose(text)), text)
    assert text.replace("3 laws", "4 laws") in found
    assert text.replace("two grow", "three grow") in found
    assert text.replace("is not", "is ") in found
    assert text.replace("^4", "^5") in found
    assert text.replace("$d$", "$n$") in found


def test_what_prose_quotes_is_left_alone() -> None:
    text = "`f(2)` {claim}`LOSS-14` [two](page2.md) GROW-22"
    assert changes(list(sites.in_prose(text)), text) == {text.replace("[two]", "[three]")}


def test_code_changes_in_operators_constants_and_order() -> None:
    text = "%pip install x2\nµ = f(a, b) ** 2 - 1 if d < 3 else -h"
    found = changes(list(sites.in_code(text)), text)
    for old, new in (
        ("f(a, b)", "f(b, a)"), ("** 2", "* 2"), ("** 2", "** 3"), ("- 1", "+ 1"), ("<", ">="),
        ("-h", "h"),
    ):  # fmt: skip
        assert text.replace(old, new, 1) in found, new
    assert not any("x3" in change for change in found)


def test_changed_code_is_code() -> None:
    text = "ends = cut * exp(-(cut**2) / 2) if not (a or b) else f((a), -b, [x for x in (1, 2)])"
    found = changes(list(sites.in_code(text)), text)
    assert {text.replace("-(", "("), text.replace("not (", "(")} < found
    for change in found:
        compile(change, "a cell", "exec")


def test_text_within_an_f_string_is_no_label_of_its_own() -> None:
    text = 'print(f"{a} of {b}", "c")'
    assert changes(list(sites.in_code(text, words=True)), text) == {
        text.replace('"c"', "'not c'"),
        'print("c", f"{a} of {b}")',
    }


def test_a_draw_is_the_same_again_and_another_under_another_salt() -> None:
    first, again, other = (
        [m.description for m in draw("prose", ROOT, 5, salt, "3")] for salt in ("a", "a", "b")
    )
    assert first == again != other
    assert len(set(first)) == 5 and all("3-first-loss" in d or "chapter-3" in d for d in first)
    assert UNITS.keys() == set(KINDS)


def test_a_reading_is_red_where_the_registry_refuses_it_and_a_word_of_it_is_locked(
    tmp_path: Path,
) -> None:
    judge = Judge(ROOT, tmp_path)
    path = "src/verified_transformer/book/claims/tied-loss.yaml"

    def judged(text: str, new: str) -> Judgement:
        site = Site(0, len(text), new, "whole")
        field = ("LOSS-03", "reading", "cases", "share", "false_if")
        mutant = Mutant("reading", path, -1, "whole", text, site, ("LOSS-03",), field)
        return next(judge.judge([mutant]))

    assert judged("the share", "the $share").by == "registry"
    assert judged("the share", "the share of a head").by == LOCKED


@pytest.mark.canary
def test_a_flipped_sign_in_prose_is_red_and_the_file_is_put_back(tmp_path: Path) -> None:
    judge = Judge(ROOT, tmp_path)
    before = (judge.scratch / NOTEBOOK).read_bytes()
    site = Site(0, 4, "$a = b + 71$", "whole")
    (found,) = judge.judge([Mutant("prose", NOTEBOOK, 3, "whole", "text", site, ("LOSS-10",))])
    assert found.by == "ownerless_prose" and "a = b + 71" in found.said
    assert (judge.scratch / NOTEBOOK).read_bytes() == before


@pytest.mark.canary
def test_a_changed_cell_is_red_where_it_or_one_behind_it_differs(tmp_path: Path) -> None:
    def cell(source: str, printed: str = "") -> dict[str, object]:
        out = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
        made = {"cell_type": "code", "source": source, "outputs": out, "id": source[:1]}
        return {**made, "metadata": {}, "execution_count": None}

    cells = [cell("a = 1"), cell("b = 2"), cell("print(a + b)", "3\n"), cell("c = b")]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "n.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    sources = {0: "a = 2", 1: "b = 2.0 - 0", 2: "print(a - b)", 3: "c = nowhere"}
    trials = [{"number": n, "cell": n, "source": source} for n, source in sources.items()]
    (tmp_path / "trials.json").write_text(json.dumps(trials), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mutation.forked", tmp_path / "n.ipynb", tmp_path / "trials.json"],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{os.environ['PYTHONPATH']}"},
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["by"] for one in found] == ["outputs", "outputs", "outputs", "run"], done.stderr
    assert "3 -> 4 in 4" in found[0]["said"]
    assert "3 -> 3.0 in 3.0" in found[1]["said"]


def test_a_module_is_tried_by_what_imports_it_or_by_what_imports_its_importers() -> None:
    models, tested = PARTS["models"]
    assert f"{tested}/test_heads.py" in importers(ROOT, f"{models}/heads.py")
    tests = importers(ROOT, f"{models}/factorised/scoring.py")  # no test imports it
    assert f"{tested}/test_factorised.py" in tests and f"{tested}/test_heads.py" not in tests
    experiments = "experiments/long_runs"
    assert RECORDED in importers(ROOT, f"{experiments}/tying_on_few_data.py")


def test_a_notebook_is_asked_about_a_line_that_it_comes_to() -> None:
    path = "packages/verifiedbook/src/verifiedbook/drawings/charts/rows.py"
    text = (ROOT / path).read_text(encoding="utf-8")
    asked = readers(ROOT, path, text.index("def bars"), 4)
    assert len(asked) == 4 and "bars(" in (ROOT / asked[0]).read_text(encoding="utf-8")


@pytest.mark.canary
@pytest.mark.nightly  # it runs the tests of a module, as `make mutants` does
def test_a_changed_line_of_the_library_is_red_by_its_tests(tmp_path: Path) -> None:
    path = "packages/verifiedbook/src/verifiedbook/account/records/chances.py"
    text = (ROOT / path).read_text(encoding="utf-8")
    start = text.index("FALSE_ALARM**2")
    site = Site(start, start + len("FALSE_ALARM"), "MISS", "name")
    (found,) = Judge(ROOT, tmp_path).judge([Mutant("library", path, -1, "name", text, site)])
    assert found.by == "tests" and "tests/engine/account/test_records.py" in found.said
    assert found.mutant.chapter == "engine"


@pytest.mark.canary
def test_a_mutant_is_not_argued_away_without_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "equivalent.yaml"
    file.write_text("- mutant: prose x.ipynb\n  reason: ' '\n", encoding="utf-8")
    with pytest.raises(ValueError, match="accepted: a mutant and a reason"):
        equivalent(file)


@pytest.mark.canary
def test_a_reason_that_takes_many_is_too_wide() -> None:
    site = Site(0, 1, "n", "number")
    drawn = [Mutant("code", NOTEBOOK, cell, "number", "1 + x", site) for cell in range(100)]
    with pytest.raises(ValueError, match="argues 100 of 100 away; accepted: a twentieth"):
        left(drawn, [re.compile(r"\[1 -> ")])
    assert left(drawn, [re.compile("no such")]) == drawn


def test_a_class_of_mutants_is_argued_away_and_no_neighbour_of_it() -> None:
    known = equivalent()
    places = ("[a, b -> b, a]", "[0.3 -> 0.6] * a, b", "[a, c -> b, a]")
    lines = [f"code notebooks/x.ipynb: allclose({place}, atol=1e-9)" for place in places]
    assert [any(way.search(line) for way in known) for line in lines] == [True, False, False]


def test_a_cell_belongs_to_the_claims_that_it_names_or_to_the_next() -> None:
    sources = ["LOSS-10 and LOSS-11", "plot()", "claim('BOOK-04')", "print()"]
    near = [claims_near(sources, index) for index in range(4)]
    assert near == [("LOSS-10", "LOSS-11"), ("BOOK-04",), ("BOOK-04",), ("BOOK-04",)]
    assert claims_near(["plot()"], 0) == ()


def test_the_score_is_by_kind_and_chapter_and_survivors_by_claim() -> None:
    def one(by: str, names: bool = False) -> Judgement:
        site = Site(4, 5, "n", "formula: symbol")
        mutant = Mutant("prose", NOTEBOOK, 2, site.way, "the d of", site, ("LOSS-10",))
        return Judgement(mutant, by, "", names, 0.1)

    results = [one("ownerless_prose", True), one("")]
    assert "| prose | 1/2 | 1/2 | 1 of 1 red | 0 more |" in table(results)
    kind = as_json(results, "salt")["kinds"]["prose"]
    assert (kind["total"], kind["red"], kind["naming"]) == (2, 1, 1)
    locked = as_json([one(LOCKED)], "salt")["kinds"]["prose"]
    assert (locked["total"], locked["red"], locked["locked"]) == (1, 0, 1)
    assert as_json(results, "salt")["survivors"][0]["claims"] == ("LOSS-10",)
