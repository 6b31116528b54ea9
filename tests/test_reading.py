"""Findings and stored figures of the front page, and the state of the book, as data has them."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
import sympy
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from mutation.__main__ import keep_score

from verifiedbook.account import registry
from verifiedbook.account.code import library, notebook_key
from verifiedbook.account.records.record import (
    METADATA_KEY,
    Estimate,
    Record,
    Score,
    Volatile,
    to_json,
)
from verifiedbook.commands.status import keep_trial, tree_key
from verifiedbook.exact.formulas.notation import TABLE, parse, symbols

ROOT = Path(__file__).parent.parent


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    yield importlib.import_module("reading.state")


def test_the_front_page_has_findings_and_a_figure(html: Path) -> None:
    page = BeautifulSoup((html / "book/welcome.html").read_text("utf-8"), "html.parser")
    findings = page.select(".vt-finding")
    assert len(findings) == 6
    for finding in findings:
        section, claim, *_ = (a["href"] for a in finding.select(".vt-finding-way a"))
        assert section.startswith("../notebooks/") and claim.startswith("../claims/")
        assert finding.select(".vt-badge")
    assert len(page.select("vt-live")) == 1
    assert page.select('script[src*="live.js"]') and not page.select(".vt-live-script")


def test_the_state_says_what_the_files_say(html: Path) -> None:
    page = BeautifulSoup((html / "book/status.html").read_text("utf-8"), "html.parser")
    said = page.get_text(" ")
    lines = (ROOT / "tests/canaries/counts.txt").read_text("utf-8").splitlines()
    canaries = sum(int(line.split()[0]) for line in lines)
    row = next(tr for tr in page.select("table.vt-state tr") if "Canaries" in tr.get_text())
    assert row.td.get_text() == str(canaries)
    pins = (ROOT / "requirements.txt").read_text("utf-8")
    assert f"torch=={said.split('torch ', 1)[1].split()[0]}" in pins


def test_the_state_lists_what_is_not_judged(state: ModuleType, tmp_path: Path) -> None:
    said = BeautifulSoup(state.PARTS["clauses"](tmp_path), "html.parser")
    rows = {tuple(cell.get_text() for cell in row.select("th, td")) for row in said.select("tr")}
    assert ("TIE-12", "a considerable saving", "a matter of taste") in rows
    assert said.p.get_text().endswith(f" {len(rows) - 1} clauses are not judged:")


def test_what_was_not_run_is_said_to_be_missing(state: ModuleType, tmp_path: Path) -> None:
    for part in ("times", "mutants"):
        assert state.PARTS[part](tmp_path) == state.NOTHING
    assert state.PARTS["elsewhere"](tmp_path).count(state.NOTHING) == 2


def test_a_failed_run_is_shown(state: ModuleType, tmp_path: Path) -> None:
    entry = {
        "runs": 10, "failed": 1, "failures": [{"salt": "6", "what": "cell 8: <off> by 6"}],
        "when": "2026-11-22", "commit": "ea91b69e28ee", "versions": {"torch": "2.13.0"},
        "processor": "AMD",
    }  # fmt: skip
    data = {"notebooks": {"notebooks/2-tied-head/3-what-it-does.ipynb": entry}}
    (tmp_path / "tests/status").mkdir(parents=True)
    (tmp_path / "tests/status/fresh-seeds.json").write_text(json.dumps(data), "utf-8")
    said = state.PARTS["elsewhere"](tmp_path)
    assert "9 of 10" in said and "2.3 what it does: 6 cell 8: &lt;off&gt; by 6" in said


@pytest.mark.canary
def test_what_was_tried_before_a_change_says_so(state: ModuleType, tmp_path: Path) -> None:
    assert state.PARTS["machines"](tmp_path) == state.NOTHING
    (tmp_path / "cell.py").write_text("1", "utf-8")
    trial = {
        "where": "no network", "ran": "make test", "green": False, "result": "1 failed",
        "key": tree_key(tmp_path), "when": "2026-11-29", "commit": "ea91b69e28ee",
        "versions": {"torch": "2.13.0"}, "processor": "AMD", "python": "3.14.8", "cores": 2,
    }  # fmt: skip
    keep_trial(tmp_path, trial | {"result": "2 failed"})
    keep_trial(tmp_path, trial)
    said = state.PARTS["machines"](tmp_path)
    assert "<td>red: 1 failed</td><td>yes</td>" in said and "2 failed" not in said
    (tmp_path / "cell.py").write_text("2", "utf-8")
    assert "<td>no, not since something changed</td>" in state.PARTS["machines"](tmp_path)


@pytest.mark.canary
def test_a_run_on_a_gpu_is_dated_and_goes_stale(state: ModuleType, tmp_path: Path) -> None:
    notebook = tmp_path / "notebooks/2-tied-head/3-what-it-does.ipynb"
    notebook.parent.mkdir(parents=True)
    cell = nbformat.v4.new_code_cell("from verified_transformer import seed_of\nseed_of('a')")
    book = nbformat.v4.new_notebook(cells=[cell])
    nbformat.write(book, notebook)
    (tmp_path / "tests/status").mkdir(parents=True)
    told = state.PARTS["devices"](tmp_path)
    assert told.endswith("<p>No section has run on a GPU yet.</p>")
    entry = {
        "key": notebook_key(notebook, library()), "finer": 10.0, "differences": [],
        "finer differences": [], "device": "NVIDIA H100", "cuda": "13.0", "when": "2026-11-25",
        "commit": "ea91b69e28ee", "versions": {"torch": "2.11.0"}, "processor": "AMD",
    }  # fmt: skip
    target = tmp_path / "tests/status/evidence.json"

    def said() -> str:
        data = {"notebooks": {notebook.relative_to(tmp_path).as_posix(): entry}}
        target.write_text(json.dumps(data), "utf-8")
        return state.PARTS["devices"](tmp_path)

    assert (
        "2.3</th><td>as stored, measured 10 times finer</td><td>NVIDIA H100, CUDA 13.0, 2026-11-25"
        in said()
    )
    entry["differences"] = ["cell 0: 1 -> 2"]
    assert "<td>1 differ</td>" in said()
    cell.source += "  # a comment is free"
    nbformat.write(book, notebook)
    assert "<td>1 differ</td>" in said()
    cell.source = cell.source.replace("'a'", "'b'")
    nbformat.write(book, notebook)
    assert "not yet; its code has changed since" in said()
    del entry["cuda"]
    assert "<td>not yet</td>" in said()


def test_the_state_says_how_many_failures_chance_explains(
    state: ModuleType, tmp_path: Path
) -> None:
    """A measurement with fifty mutants at 1e-6, in a thousand runs; an experiment has no level."""
    tried = Record(("LOSS-48",), ("a",), "experiment", "supports", "loss: positive", "8 runs")
    measured = Record(
        ("LOSS-14",), ("abc",), "measurement", "supports", "Var = 2*d", "d=3",
        mutants=Score(50, 50, 0), volatile=Volatile(estimates=(Estimate(0.5, 100, "cpu"),)),
    )  # fmt: skip
    notebook = "notebooks/2-tied-head/3-what-it-does.ipynb"
    (tmp_path / notebook).parent.mkdir(parents=True)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x")])
    for record in (tried, measured):
        meta = {METADATA_KEY: to_json(record)}
        data = {"text/plain": record.line}
        book.cells[0].outputs.append(nbformat.v4.new_output("display_data", data, metadata=meta))
    nbformat.write(book, tmp_path / notebook)
    mended = {"salt": "6", "what": "cell 8: off", "at": "ea91b69e28ee"}
    entry = {
        "runs": 1000, "failed": 0, "failures": [], "mended": [mended], "when": "2026-11-22",
        "commit": "ea91b69e28ee", "versions": {"torch": "2.13.0"}, "processor": "AMD",
    }  # fmt: skip
    (tmp_path / "tests/status").mkdir(parents=True)
    target = tmp_path / "tests/status/fresh-seeds.json"
    target.write_text(json.dumps({"notebooks": {notebook: entry}}), "utf-8")
    said = state.PARTS["elsewhere"](tmp_path)
    assert "1000 runs of 1 sections; 0 failed, and 1 failed until their checks were mended" in said
    assert "By chance, at most 0.05 failures" in said
    assert "is mended:</p><ul><li>2.3 what it does: 6 cell 8: off" in said


def test_scores_of_mutants_are_kept_by_kind(state: ModuleType, tmp_path: Path) -> None:
    for kind, red in (("prose", 50), ("page", 60), ("prose", 55)):
        part = {"3": {"total": 60, "red": red, "locked": 5}}
        found = {
            "total": 60, "red": red, "locked": 5, "argued": 7, "naming": 40, "ways": {},
            "chapters": part,
        }  # fmt: skip
        keep_score({"salt": "2026-W47", "kinds": {kind: found}}, tmp_path)
    said = state.PARTS["mutants"](tmp_path)
    assert "3: 55/60" in said and "55 of 60" in said and "60 of 60" in said
    assert "50 of 60" not in said and "<td>7</td>" in said


def _page(words: int) -> nodes.document:
    page = new_document("notebooks/1/a")
    section = nodes.section(ids=["a"])
    section += nodes.title("", "A")
    needs = nodes.paragraph("", "", nodes.emphasis("", "Needs: a pencil."))
    section += [needs, nodes.paragraph("", "word " * words)]
    folded = nodes.container(classes=["cell", "tag_check"])
    folded += nodes.literal_block("", "x = 1\n" * 400)
    quote = nodes.block_quote()
    quote += nodes.paragraph("", "", nodes.Text(""), nodes.strong("", "Remember."))
    section += [folded, quote, nodes.raw("", '<div class="vt-exercise">', format="html")]
    page += section
    return page


def test_a_section_says_its_time_and_what_to_remember(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    heads, head = (importlib.import_module(name) for name in ("reading.heads", "around.head"))
    page = _page(1000)
    heads.dress(None, page, "notebooks/1/a")
    said = next(page.findall(nodes.raw)).astext()
    assert said == '<p class="vt-minutes">5 minutes to read · 1 exercise</p>'
    (quote,) = page.findall(nodes.block_quote)
    assert quote["classes"] == ["vt-remember"]
    assert head.description(page, "").startswith("word word")
    longer = _page(2000)
    assert heads.minutes(longer) == 10


def test_every_section_has_its_time(html: Path) -> None:
    pages = sorted(html.glob("notebooks/*/*.html"))
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    without = [name for name, text in texts.items() if '<p class="vt-minutes">' not in text]
    assert pages and not without


def test_the_page_of_symbols_is_the_table_that_formulas_are_read_with(
    html: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    printed = importlib.import_module("reading.notation")
    entries = printed.rows((ROOT / printed.SOURCE).read_text("utf-8"))
    assert entries == [(e.name, e.kind, e.meaning) for e in TABLE]
    for name, kind, _ in entries:
        assert printed.symbol(name) == sympy.latex(symbols(name))
        assert symbols(name).is_integer is (True if kind == "size" else None)
    page = BeautifulSoup((html / "book/notation.html").read_text("utf-8"), "html.parser")
    (shown,) = page.select("table.vt-state")
    found = [
        (row.select_one("math")["alttext"], row.select("th, td")[3].get_text())
        for row in shown.select("tbody tr")
    ]
    assert found == [(printed.symbol(name), meaning) for name, _, meaning in entries]


def test_every_symbol_of_the_table_is_used() -> None:
    used: set[str] = set()
    for statement in registry.load()[1].values():
        for part in (statement.reading.parts if statement.reading else {}).values():
            for formula in (part.formula, part.truth_formula):
                used |= (
                    {symbol.name for symbol in parse(formula).free_symbols} if formula else set()
                )
    for path in ROOT.glob("notebooks/*/*.ipynb"):
        for names in re.findall(r'(?<![.\w])symbols\(\\"([\w ]+)\\"\)', path.read_text("utf-8")):
            used |= {symbols(name).name for name in names.split()}
    assert {symbols(entry.name).name for entry in TABLE} == used
