"""Notebooks run afresh and compared: a small repository with a notebook that draws and decides."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from time_spent import Account

from verifiedbook.commands import orders, reruns, status
from verifiedbook.commands.command_line import main
from verifiedbook.commands.notebooks import comparing
from verifiedbook.commands.notebooks.formatting import format_cells
from verifiedbook.commands.notebooks.other_processor import VARIABLE
from verifiedbook.commands.notebooks.refreshing import refresh
from verifiedbook.commands.notebooks.running import run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
FINER = "os.environ.get('VERIFIED_FINER')"
SECONDS = """
from IPython.display import display
import random
record = {"claims": ["LOSS-14"], "kind": "proof", "outcome": OUTCOME, "case": None,
          "volatile": {"seconds": random.random()}}
html = f'<p>proved <span class="vt-volatile">{random.random()} s</span></p>'
display({"text/plain": TEXT, "text/html": html}, raw=True,
        metadata={"verified_transformer": record})
"""


@pytest.fixture(autouse=True)
def quick(forked: None) -> None:
    """Fork the kernels."""


def repository(folder: Path, *cells: str) -> Path:
    """Make a repository with one notebook, run once and stored; return the notebook."""
    notebook = unrun(folder, *cells)
    assert refresh([notebook], folder) == 0
    return notebook


def unrun(folder: Path, *cells: str) -> Path:
    """Make a repository with one notebook that has no outputs; return the notebook."""
    notebook = folder / "notebooks" / "1-one" / "1-page.ipynb"
    notebook.parent.mkdir(parents=True)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, notebook)
    return notebook


def changed(notebook: Path, source: str) -> None:
    """Give the first cell of a notebook another source."""
    book = nbformat.read(notebook, as_version=4)
    book.cells[0].source = source
    nbformat.write(book, notebook)


def deciding(text: str, outcome: str = "'supports'") -> str:
    return f"import os\nTEXT, OUTCOME = {text}, {outcome}\n{SECONDS}"


def test_a_refresh_shows_what_changed_and_stores_what_did_not_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = repository(tmp_path, "1 / 3", deciding("'LOSS-14 proof'"))
    before = notebook.read_bytes()
    capsys.readouterr()
    assert refresh([notebook], tmp_path) == 0
    assert notebook.read_bytes() == before
    assert len(capsys.readouterr().out.splitlines()) == 1
    changed(notebook, "print('b' * 300)")
    assert refresh([notebook], tmp_path) == 0
    out = capsys.readouterr().out
    assert "    cell 0: gone: 0.3333333333333333\n" in out and f"new: {'b' * 300}\n" in out
    assert "b" * 300 in notebook.read_text(encoding="utf-8")
    changed(notebook, "1 / 0")
    before = notebook.read_bytes()
    assert refresh([notebook], tmp_path) == 1
    assert notebook.read_bytes() == before
    assert "not stored; cell 0: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no Ctrl-C to one process alone")
def test_an_interrupted_command_ends_in_a_line_at_once(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    waiting = f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(999)"
    notebook = unrun(tmp_path, waiting)
    before = notebook.read_bytes()
    command = [sys.executable, "-m", "verified_transformer", "refresh", "--root", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        while not begun.exists() and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.communicate()[0].split() == [b"interrupted"]
    assert running.returncode == 130
    assert notebook.read_bytes() == before


def test_a_run_takes_variables_and_may_go_on_after_an_error(tmp_path: Path) -> None:
    notebook = unrun(tmp_path, "import os", "os.environ.get('SOME')")
    again = run(notebook, environment={"SOME": "thing"})
    assert again.book.cells[1].outputs[0].data["text/plain"] == "'thing'"
    assert run(notebook, last=0).book.cells[-1].source == "import os"
    changed(notebook, "1 / 0\n")
    assert len(run(notebook).errors) == 1
    assert len(run(notebook, through=True).errors) == 2


@pytest.mark.canary
@pytest.mark.parametrize(
    ("cell", "finding"),
    [
        ("'LOSS-14 ' + os.environ.get('OMP_NUM_THREADS', '')", "cell 0, LOSS-14: 3 -> 1 in LOSS-1"),
        ("'LOSS-14 ' + str(hash('a word'))", "cell 0, LOSS-14: "),
    ],
    ids=["threads", "hash seed"],
)
def test_portable_catches(
    cell: str,
    finding: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    notebook = repository(tmp_path, deciding(cell))
    monkeypatch.setattr(reruns, "PROCESSORS", {"default/1": reruns.processor("default", 1)})
    if "hash" in cell:  # whether this machine plays it is asked with the threads
        monkeypatch.setattr(reruns, "can_be_had", lambda _: True)
    assert reruns.portable([notebook], tmp_path, 1) == 1
    out = capsys.readouterr().out
    assert finding in out and "1 runs, 1 differ from what is stored" in out
    kept = json.loads(status.path(tmp_path, "portable").read_text(encoding="utf-8"))
    (entry,) = kept["notebooks"].values()
    assert entry["differences"]["default/1"] >= 1


@pytest.mark.canary
def test_runs_in_other_orders_are_kept_for_the_same_notebook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "environment", lambda draw, loud: {VARIABLE: str(draw)})
    monkeypatch.delenv(VARIABLE, raising=False)  # `make elsewhere` is such a processor itself
    cell = "import os, torch\nx = torch.linspace(1, 2, 7).exp()\n"
    order = f"'abc'[int(os.environ.get('{VARIABLE}', 0)) % 3]"
    notebook = repository(tmp_path, f"{cell}print({order}, x.tolist())")
    for draws in (1, 2):  # one of them is known then
        assert orders.other_orders([notebook], tmp_path, draws, 1) == 1
        assert f"{draws} runs in other orders, {draws} not as stored" in capsys.readouterr().out
    monkeypatch.setattr(reruns, "PROCESSORS", {})
    assert reruns.portable([notebook], tmp_path, 1) == 0  # which leaves alone what is kept of them
    (entry,) = status.kept(tmp_path, "portable").values()
    first, second = (it["lines"][0] for it in entry["orders"]["draws"].values())
    assert first.startswith("cell 0: stored: a [2.71") and second == first
    changed(notebook, "print(1)")
    refresh([notebook], tmp_path)
    assert orders.other_orders([notebook], tmp_path, 1, 1) == 0
    assert len(status.kept(tmp_path, "portable").popitem()[1]["orders"]["draws"]) == 1


@pytest.mark.canary
def test_evidence_is_kept_once_and_says_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = "{'rows': [{'measured': '2.1'}], 'estimates': [{'z': 0.5, 'n': 9, 'device': 'cpu'}]}"
    cell = SECONDS.replace('{"seconds": random.random()}', row)
    text = f"TEXT, OUTCOME = 'LOSS-14', 'no' if {FINER} else 'supports'\n{cell}"
    notebook = repository(tmp_path, f"import os\n{text}", f"{FINER} or print(1)")
    name = notebook.relative_to(tmp_path).as_posix()
    assert reruns.evidence([notebook], tmp_path, "cpu") == 0
    assert f"{name}: as stored\n1 of 1" in capsys.readouterr().out
    entry = status.kept(tmp_path, "evidence")[name]
    (found,) = entry["claims"]
    assert (found["claims"], found["measured"], found["z"]) == (["LOSS-14"], "2.1", 0.5)
    assert entry["device"] == "cpu" and entry["versions"]["torch"] and entry["key"]
    assert reruns.evidence([notebook], tmp_path, "cpu") == 0
    assert "as stored\n" not in capsys.readouterr().out  # not run again
    assert reruns.evidence([notebook], tmp_path, "cpu", finer=10) == 1
    assert (
        "stored: LOSS-14  proof supports; outcome    now: LOSS-14  proof no"
        in capsys.readouterr().out
    )


@pytest.mark.canary
def test_evidence_stops_at_its_budget_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = repository(tmp_path, "1")
    with monkeypatch.context() as patched:
        patched.setattr(reruns, "_one", lambda *given: None)  # as at the end of a budget
        assert reruns.evidence([notebook], tmp_path, "cpu") == 1
    assert "1 are still to be run" in capsys.readouterr().out
    assert reruns.evidence([notebook], tmp_path, "cpu") == 0


@pytest.mark.canary
def test_evidence_refuses_what_is_not_there(tmp_path: Path) -> None:
    for given, said in (
        ({"device": "cuda:99"}, "device: got 'cuda:99', which is not there"),
        ({"device": "cpu", "finer": 0.5}, "finer: got 0.5; accepted: a number of at least 1"),
        ({"device": "cpu", "budget": 0}, "budget: got 0; accepted: a number of at least 1"),
    ):
        with pytest.raises(ValueError, match=said):
            reruns.evidence([], tmp_path, **given)


def test_a_processor_that_no_machine_has_is_not_played() -> None:
    """That this machine plays its own is what `portable` begins with, above."""
    assert not reruns.can_be_had(reruns.processor("default", 1) | {"ATEN_CPU_CAPABILITY": "none"})


@pytest.mark.canary
@pytest.mark.parametrize(
    ("text", "outcome", "finding"),
    [
        ("'LOSS-14'", "'contradicts' if 'VERIFIED_SALT' in os.environ else 'supports'", "outcome"),
        ("'LOSS-14' if 'VERIFIED_SALT' not in os.environ else 1 / 0", "'supports'", "ZeroDivision"),
    ],
    ids=["another outcome", "a check that fails"],
)
def test_fresh_seeds_catch(
    text: str, outcome: str, finding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = repository(tmp_path, deciding(text, outcome))
    assert reruns.fresh_seeds([notebook], tmp_path, 2, 1) == 1
    kept = json.loads(status.path(tmp_path, "fresh-seeds").read_text(encoding="utf-8"))
    (entry,) = kept["notebooks"].values()
    assert (entry["runs"], entry["failed"]) == (2, 2)
    assert finding in entry["failures"][0]["what"]
    assert {"when", "commit", "versions", "processor"} <= set(entry)


@pytest.mark.canary
def test_runs_with_other_salts_are_added_and_the_same_salt_counts_once(tmp_path: Path) -> None:
    odd = "'supports' if int(os.environ.get('VERIFIED_SALT', 0)) % 2 == 0 else 'contradicts'"
    notebook = repository(tmp_path, deciding("'LOSS-14'", odd))
    for first, runs, failed, mended in ((1, 1, 1, 0), (2, 2, 1, 0), (2, 2, 1, 0)):
        reruns.fresh_seeds([notebook], tmp_path, 1, 1, first=first)
        (entry,) = status.kept(tmp_path, "fresh-seeds").values()
        found = (entry["runs"], entry["failed"], len(entry["mended"]))
        assert found == (runs, failed, mended)
    changed(notebook, deciding("'LOSS-14'"))
    assert reruns.fresh_seeds([notebook], tmp_path, 1, 1) == 0
    (entry,) = status.kept(tmp_path, "fresh-seeds").values()
    assert (entry["runs"], entry["failed"]) == (2, 0) and list(entry["salts"]) == ["1", "2"]
    assert [failure["salt"] for failure in entry["mended"]] == ["1", "1"]


def test_what_is_kept_of_a_notebook_is_its_last_run(tmp_path: Path) -> None:
    for name in ("1.ipynb", "2.ipynb"):
        (tmp_path / name).touch()
    status.keep(tmp_path, "portable", {"1.ipynb": {"failed": 1}, "2.ipynb": {"failed": 2}})
    status.keep(tmp_path, "portable", {"2.ipynb": {"failed": 0}, "gone.ipynb": {"failed": 3}})
    kept = json.loads(status.path(tmp_path, "portable").read_text(encoding="utf-8"))["notebooks"]
    assert {name: entry["failed"] for name, entry in kept.items()} == {"1.ipynb": 1, "2.ipynb": 0}


def test_the_times_of_a_whole_run_only_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unrun(tmp_path, "1")
    assert main(["times", "--root", str(tmp_path)]) == 1
    assert "_build/times.json: got None; accepted: a run of `make test`" in capsys.readouterr().err
    account = Account()
    account.add("tests/test_x.py", 2.0, 1.0)
    account.write(tmp_path, ["tests/test_x.py"])
    assert main(["times", "--root", str(tmp_path)]) == 1
    account.write(tmp_path, ["-n", "2", "tests", "notebooks"])
    assert main(["times", "--root", str(tmp_path)]) == 0
    kept = json.loads(status.path(tmp_path, "times").read_text(encoding="utf-8"))
    assert kept["files"] == {"tests/test_x.py": {"clock": 2.0, "processor": 1.0}}


def test_fresh_seeds_compare_no_text(tmp_path: Path) -> None:
    notebook = repository(tmp_path, deciding("str(os.environ.get('VERIFIED_SALT'))"))
    assert reruns.fresh_seeds([notebook], tmp_path, 1, 1) == 0


@pytest.mark.canary
def test_verify_catches_what_is_not_as_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYS", "it is a plan")
    aside = 'claim("INIT-30").set_aside("plan", because=os.environ["SAYS"])'
    repository(tmp_path, f"import os\nfrom verified_transformer import claim\n{aside}")
    assert main(["verify", "INIT-30", "--root", str(tmp_path)]) == 0
    assert "INIT-30: what came out is what is stored" in capsys.readouterr().out
    monkeypatch.setenv("SAYS", "it is unsettled")
    assert main(["verify", "INIT-30", "--root", str(tmp_path)]) == 1
    found = capsys.readouterr().err
    assert "it is a plan" in found and "it is unsettled" in found
    monkeypatch.delenv("SAYS")
    assert main(["verify", "INIT-30", "--root", str(tmp_path)]) == 1
    assert "cell 0: KeyError" in capsys.readouterr().err


def cell(**data: Any) -> Any:
    output = nbformat.v4.new_output("display_data", data)
    return nbformat.v4.new_code_cell("x", outputs=[output])


def test_what_moved_is_shown_beside_what_is_stored_and_no_coordinates() -> None:
    def book(plain: str, drawn: str) -> nbformat.NotebookNode:
        data = {
            "text/plain": plain,
            "text/html": f"<svg><path d='{drawn}'/><text>{drawn[0]}</text>",
        }
        cell = nbformat.v4.new_code_cell('claim("LOSS-14")')
        cell.outputs = [nbformat.v4.new_output("display_data", data)]
        return nbformat.v4.new_notebook(cells=[cell])

    def shown(*new: str) -> list[str]:
        return [*comparing.differences(book("BERT: 5.4\n#ab12cd", "1 2"), book(*new))]

    assert shown("BERT: 5.6\n#ab12cd", "1 3") == ["cell 0, LOSS-14: 5.4 -> 5.6 in BERT: 5.6"]
    assert shown("BERT: 5.4\n#ab12cd", "1 3") == ["cell 0, LOSS-14: its drawing is another"]
    assert shown("BERT: 5.4\n#ab12cd", "2 3") == ["cell 0, LOSS-14: 1 -> 2 in 2"]
    assert shown("BERT: none\n#ab12cd", "1 2") == [
        "cell 0, LOSS-14: stored: BERT: 5.4", "cell 0, LOSS-14:    now: BERT: none",
    ]  # fmt: skip
    assert shown("BERT: 5.4\n#ab12cd", "1 2") == []


def test_masked_numbers_do_not_count() -> None:
    one, two, other = (
        cell(**{"text/html": f'<p>{word}<span class="vt-volatile">{n}</span></p>'})
        for word, n in (("a", 1), ("a", 2), ("b", 2))
    )
    assert comparing.lines(one) == comparing.lines(two)
    assert comparing.lines(one) != comparing.lines(other)


def test_cells_are_formatted_and_outputs_stay(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path = tmp_path / "1-page.ipynb"
    book = nbformat.v4.new_notebook(cells=[cell(**{"text/plain": "1"})])
    book.cells[0].source, book.cells[0].outputs[0].metadata["n"] = "x=( 1 )", 1e-07
    path.write_text(json.dumps(book, indent=1).replace("1e-07", "0.0000001"), encoding="utf-8")
    assert format_cells([path], tmp_path) == 0
    after = json.loads(path.read_text(encoding="utf-8"))
    assert "".join(after["cells"][0]["source"]) == "x = 1"
    assert after["cells"][0]["outputs"][0]["metadata"]["n"] == 1e-07
    before = path.read_bytes()
    assert format_cells([path], tmp_path) == 0 and path.read_bytes() == before
