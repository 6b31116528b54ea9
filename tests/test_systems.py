"""Other machines: without make, in another encoding, with a HOME that cannot be written."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import html_gates
import pytest
import yaml
from test_promises import README, ROOT, shell
from test_requirements import PYTHONS

LINES = shell(README)
(BUILD,) = [line for line in LINES if line.startswith("jupyter-book ")]
(TEST,) = [line for line in LINES if line.startswith("python -m pytest ")]
INSTALL = "python -m pip install -r requirements.txt"
SMALL = "notebooks/2-tied-head/4-who-ties.ipynb::Cell 0"


# ------------------------------------------------------------------ the same two commands, no make


@pytest.mark.make
def test_the_readmes_lines_have_the_arguments_of_make() -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    for line, words in ((BUILD, ["book", "ALL=1"]), (TEST, ["test", "WORKERS=2"])):
        command = ["make", "-n", "-o", "lint", "-o", "browser", *words]
        done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, check=True)
        told = done.stdout.decode().replace("\\\n", " ")
        made = [shlex.split(m.replace(".venv/test/bin/", "")) for m in told.splitlines()]
        assert shlex.split(line) in made
    assert shlex.split(BUILD)[3:] == html_gates.AS_PUBLISHED  # what other tests build with


def test_the_workflow_tries_the_readmes_lines_on_every_system_and_python() -> None:
    (job,) = yaml.safe_load((ROOT / ".github/workflows/systems.yml").read_text("utf-8"))[
        "jobs"
    ].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [INSTALL, BUILD, TEST]
    assert INSTALL in LINES
    systems = ["ubuntu-latest", "ubuntu-24.04-arm", "macos-latest", "windows-latest"]
    pythons = [python.removesuffix(".0") for python in PYTHONS]
    assert job["strategy"] == {
        "fail-fast": False, "matrix": {"system": systems, "python": pythons}
    }  # fmt: skip
    kept = job["steps"][-1]
    assert kept["if"] == "always()" and "_build/tests.xml" in kept["with"]["path"]
    assert job["env"] == {"PYTEST_ADDOPTS": "--junitxml=_build/tests.xml"}


@pytest.mark.slow
def test_the_line_needs_nothing_of_its_surroundings(tmp_path: Path) -> None:
    """It is run on a module and the head of a notebook, without make's variables, HOME a file."""
    home = tmp_path / "home"
    home.touch()
    all_of_it = "src/verified_transformer experiments packages book/_ext tests notebooks"
    assert TEST.endswith(all_of_it)
    small = TEST.replace(all_of_it, f"packages/verifiedbook/src/verifiedbook/seeds.py '{SMALL}'")
    dropped = ("PYTHONPATH", "OMP_NUM_THREADS", "IPYTHONDIR", "MPLCONFIGDIR", "JUPYTER_RUNTIME_DIR")
    kept = {k: v for k, v in os.environ.items() if k not in dropped and not k.startswith("PYTEST")}
    run = subprocess.run(
        [sys.executable, *shlex.split(small)[1:]], cwd=ROOT, env=kept | {"HOME": str(home)},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    assert "2 passed" in run.stdout


# ------------------------------------------------------------------ encodings

NOT_TEXT = {"os.open", "tarfile.open"}


def unsaid(source: str) -> Iterator[str]:
    """Calls that read or write text in whatever encoding the machine has."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called, keys = ast.unparse(node.func), {word.arg for word in node.keywords}
        modes = [a.value for a in node.args if isinstance(a, ast.Constant) and type(a.value) is str]
        name, given = called.rpartition(".")[2], len(node.args)
        if "encoding" in keys:
            continue
        if (name == "read_text" and not given) or (name == "write_text" and given < 2):
            yield called
        elif name == "open" and called not in NOT_TEXT and not any("b" in m for m in modes):
            yield called
        elif keys & {"text", "universal_newlines"} and "subprocess" in called:
            yield called


def test_text_is_read_and_written_as_utf8_everywhere() -> None:
    for folder in ("src", "experiments", "packages", "tests", "book/_ext", "bench"):
        for path in (ROOT / folder).rglob("*.py"):
            assert list(unsaid(path.read_text(encoding="utf-8"))) == [], path
    assert list(unsaid((ROOT / "conftest.py").read_text(encoding="utf-8"))) == []


@pytest.mark.canary
@pytest.mark.parametrize(
    "source",
    [
        "p.read_text()",
        "p.write_text('σ')",
        "open(p)",
        "p.open('w')",
        "subprocess.run(c, text=True)",
    ],
)
def test_an_encoding_that_is_left_to_the_machine_is_found(source: str) -> None:
    assert list(unsaid(source))


@pytest.mark.slow
def test_the_ledger_is_read_where_the_machine_speaks_ascii() -> None:
    """Registry, notebooks and lock."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = (
        "import sys; from pathlib import Path; assert sys.flags.utf8_mode == 0;"
        "from verifiedbook.account import ledger;"
        "print(len(ledger.collect(Path.cwd()).claims))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | plain,
        capture_output=True,
        check=True,
    )
    assert int(run.stdout) > 300
