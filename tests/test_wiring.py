"""The wiring: which gate runs over which files, by which command, and that nothing swallows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import notebook_gates
import pytest
import yaml

from verifiedbook.account import ledger
from verifiedbook.account.registry import contents

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "packages/verifiedbook/src"
COUNTS = ROOT / "tests" / "canaries" / "counts.txt"
EXPECTED: dict[str, Any] = contents(ROOT / "tests" / "wiring.yaml")
NOTEBOOKS = ledger.notebooks(ROOT)
LAMING = re.compile(r"^\s*(?:\.IGNORE|MAKEFLAGS|\.?SHELL(?:FLAGS)?|-?include)\b", re.M)


# ------------------------------------------------------------------ the command


def run_by(target: str, root: Path, *more: str) -> list[str]:
    """What make would run for a target, one command a line; the browser's lines are BROWSER."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    for name in ("NOTEBOOK", "CHAPTER", "PYTHON", "CHANGED"):
        environment.pop(name, None)
    done = subprocess.run(
        ["make", "-n", target, "WORKERS=WORKERS", *more],
        cwd=root,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    text = re.sub(r"\\\n\s*", "", done.stdout)
    lines = [line for line in text.splitlines() if line.strip()]
    named = " ".join(path.relative_to(ROOT).as_posix() for path in sorted(NOTEBOOKS))
    lines = [line.replace(named, "NOTEBOOKS") for line in lines]
    return ["BROWSER" if line.startswith("if { command -v chromium") else line for line in lines]


def recipes(makefile: str) -> dict[str, list[str]]:
    """The recipe lines of each target, as written."""
    found: dict[str, list[str]] = {}
    for target, body in re.findall(r"^([\w -]+):[^=\n]*\n((?:\t.*\n)*)", makefile, re.M):
        for name in target.split():
            found.setdefault(name, []).extend(line[1:] for line in body.splitlines())
    return found


def swallowed(makefile: str) -> list[str]:
    """Lines of a Makefile by which make itself would pass over a failure; it does not print them.

    What a line does, a shell's ``|| true`` among it, is compared with `wiring.yaml`.
    """
    found = [f"Makefile: {line.strip()}" for line in LAMING.findall(makefile)]
    for target in ("test", "lint", "check"):
        lines = recipes(makefile).get(target, [])
        found += [f"{target}: {line}" for line in lines if line.lstrip("@+ ").startswith("-")]
    return found


@pytest.mark.make
@pytest.mark.parametrize("target", ["test", "check"])
def test_make_runs_exactly_what_it_should(target: str) -> None:
    assert run_by(target, ROOT) == EXPECTED[f"make_{target}"]


@pytest.mark.make
def test_a_part_is_chosen_by_pytest_alone() -> None:
    *others, last = EXPECTED["make_test"]
    assert run_by("test", ROOT, "CHANGED=1") == [*others, f"{last} --changed"]


def test_nothing_swallows_a_failure() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"test", "lint", "check"} <= recipes(makefile).keys()
    assert swallowed(makefile) == []


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\t$(PYTEST) -m", "\t-$(PYTEST) -m"),
        (".DEFAULT_GOAL", ".IGNORE:\n.DEFAULT_GOAL"),
        (".DEFAULT_GOAL", "MAKEFLAGS += -i\n.DEFAULT_GOAL"),
        ("\t$(TEST)/bin/mypy", "\t-$(TEST)/bin/mypy"),
    ],
)
def test_a_swallowed_failure_is_found(old: str, new: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert old in makefile
    assert len(swallowed(makefile.replace(old, new))) in (1, 2)


def test_ci_runs_make_test_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert [lines[0], *(x for x in lines[1:] if not x.startswith("#"))] == EXPECTED["ci"]


def commands(workflow: str) -> list[str]:
    """Every command of a workflow, each once."""
    jobs = yaml.safe_load(workflow)["jobs"].values()
    steps = [step for job in jobs for step in job.get("steps", ())]
    return list(dict.fromkeys(step["run"] for step in steps if "run" in step))


def test_workflows_run_make_and_swallow_nothing() -> None:
    found = {}
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"continue-on-error|\|\| *true", text), path.name
        found[path.name] = commands(text)
    assert found == EXPECTED["workflows"]
    weekly = yaml.safe_load((ROOT / ".github/workflows/weekly.yml").read_text(encoding="utf-8"))
    assert weekly["jobs"]["run"]["strategy"]["matrix"]["target"] == EXPECTED["weekly"]


def loose(workflow: str) -> list[str]:
    """Actions of a workflow that are named by something that can be moved, and no commit."""
    used = re.findall(r"uses: *(.*)", workflow)
    pinned = re.compile(r"actions/[\w/-]+@[0-9a-f]{40} # v[0-9.]+(?:;.*)?|\./\.github/[\w/.-]+")
    return [action for action in used if not pinned.fullmatch(action)]


def rights(name: str, workflow: dict[str, Any]) -> dict[str, Any]:
    """What the jobs of a workflow may beyond reading, and a job that publishes untested."""
    found = {} if workflow["permissions"] == {"contents": "read"} else {name: "all"}
    jobs = workflow["jobs"]
    for title, job in jobs.items():
        if "permissions" in job:
            found[f"{name} {title}"] = job["permissions"]
            before = title
            while "needs" in jobs[before]:
                before = jobs[before]["needs"]
            if jobs[before].get("uses") != "./.github/workflows/test.yml":
                found[f"{name} {title}"] = "untested"
    return found


def test_workflows_use_pinned_actions_and_the_least_rights() -> None:
    found: dict[str, Any] = {}
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        assert loose(text) == [], path.name
        found |= rights(path.name, yaml.safe_load(text))
    assert found == EXPECTED["rights"]


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("permissions:\n  contents: read", "permissions:\n  contents: write"),
        ("    needs: test\n", ""),
        ("uses: ./.github/workflows/test.yml", "uses: ./.github/workflows/links.yml"),
        ("@11d5960a326750d5838078e36cf38b85af677262 #", "@v4 #"),
        ("actions/deploy-pages", "somebody/deploy-pages"),
    ],
)
def test_a_workflow_that_may_too_much_is_found(old: str, new: str) -> None:
    text = (ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8")
    assert old in text
    other = text.replace(old, new)
    found = rights("pages.yml", yaml.safe_load(other))
    assert loose(other) or found != EXPECTED["rights"]


def test_pytest_has_exactly_these_options() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    assert {key: options[key] for key in options if key != "markers"} == EXPECTED["pytest"]
    # pytest imports each by its bare name: where modules are collected for doctests, two collide
    assert sorted(ROOT.glob("tests/*/**/conftest.py")) == []
    others = ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg")
    assert not [name for name in others if (ROOT / name).exists()]


# ------------------------------------------------------------------ the matrix


def counts() -> dict[str, int]:
    """How many known-bad inputs each file of tests has, at least."""
    lines = (line.split() for line in COUNTS.read_text(encoding="utf-8").splitlines())
    return {file: int(number) for number, file in lines}


def expected() -> set[str]:
    """The tests that a whole run must hold: every gate on every file, every cell."""
    names = set(EXPECTED["others"])
    for path in NOTEBOOKS:
        names |= {
            f"tests/test_notebooks.py::test_notebook_passes[{path.stem}-{gate}]"
            for gate in EXPECTED["notebook_gates"]
        }
        count = len(notebook_gates.cells(path, "code"))
        file = path.relative_to(ROOT).as_posix()
        names |= {f"{file}::Cell {number}" for number in range(count)}
    names |= {
        f"tests/test_notebooks.py::test_page_passes[{page.stem}-{gate}]"
        for page in (ROOT / "book").glob("*.md")
        for gate in EXPECTED["prose_gates"]
    }
    names |= {f"tests/test_pages.py::test_pages_pass[{gate}]" for gate in EXPECTED["page_gates"]}
    return names


@pytest.mark.slow
def test_every_gate_runs_over_every_file_and_no_canary_is_gone(
    request: pytest.FixtureRequest,
) -> None:
    if not {"tests", "notebooks"} <= set(request.config.args) or request.config.option.changed:
        pytest.skip("only a whole run collects everything")
    items = request.session.items
    collected = {item.nodeid for item in items}
    canaries = Counter(
        item.nodeid.split("::")[0] for item in items if item.get_closest_marker("canary")
    )
    assert sorted(expected() - collected) == []
    gone = {file: f"{canaries[file]} of {n}" for file, n in counts().items() if canaries[file] < n}
    assert gone == {}, "known-bad inputs gone; on purpose: `make canaries`"


def test_no_list_of_gates_is_empty() -> None:
    import html_gates
    import page_gates

    gates = notebook_gates.GATES, notebook_gates.PROSE_GATES, html_gates.GATES + page_gates.GATES
    wanted = EXPECTED["notebook_gates"], EXPECTED["prose_gates"], EXPECTED["page_gates"]
    assert tuple([gate.__name__ for gate in some] for some in gates) == wanted
    assert len(NOTEBOOKS) == len(list((ROOT / "notebooks").rglob("*.ipynb"))) > 30
    assert sum(counts().values()) > 1000


UNTRIED = """
import pytest
pytestmark = pytest.mark.canary
def test_caught(): pass
def test_skipped(): pytest.skip({reason!r})
@pytest.mark.xfail
def test_expected_to_fail(): assert {fails}
"""


@pytest.mark.slow
@pytest.mark.canary
@pytest.mark.parametrize(
    ("reason", "fails", "code"),
    [
        ("no time", "True", 1),
        ("no chromium on this machine", "False", 1),
        ("no chromium on this machine", "True", 1),
    ],
)
def test_a_canary_that_is_not_tried_fails_the_run(
    reason: str, fails: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "tests").mkdir()
    for name in (
        "conftest.py",
        "pyproject.toml",
        "tests/time_spent.py",
        "tests/changed.py",
        "tests/reach.py",
        "tests/since.py",
    ):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    test = tmp_path / "tests" / "test_small.py"
    test.write_text(UNTRIED.format(reason=reason, fails=fails), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "tests"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "experiments", ENGINE)))
    }
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert run.returncode == code, run.stdout + run.stderr
    assert "canaries caught 1/3" in run.stdout
    assert ("canary skipped" in run.stdout) == (reason == "no time")
