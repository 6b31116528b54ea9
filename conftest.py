"""What holds for tests and notebooks alike: their order, and an account of the time."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from time_spent import Account

from verifiedbook.commands.notebooks import warm_kernels

ROOT = Path(__file__).parent
SOURCES = (ROOT / "src", ROOT / "experiments", *sorted(ROOT.glob("packages/*/src")))
CACHED = "verified_transformer/seconds"  # of each file, in its last run
KEPT = ROOT / "tests" / "status" / "times.json"  # of a whole run, where the cache has none
UNKNOWN = 30.0  # seconds of a file of tests that is new, or has a new name: not left to the end
PARSING = ("tests/test_book.py", "tests/test_pages.py")  # all pages
WORKERS = 4  # at most
# the only reasons for a canary not to be tried
NO_BROWSER, NO_MAKE = EXCUSES = "no chromium on this machine", "no make on this machine"
SLOW_FIXTURES = {"html", "broken_build", "browser"}  # the built book, chromium

# What a run needs of its surroundings, and make gives it otherwise: our sources, one thread to a
# process. And what a person's own folder would do to it: settings of IPython, or a HOME that
# cannot be written.
KEPT_APART = ROOT / "_build" / "home"
os.environ["PYTHONPATH"] = os.pathsep.join(
    dict.fromkeys([*map(str, SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])])
)
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["PYTHONUTF8"] = "1"  # of what tests start; nothing else makes Windows speak UTF-8
# Each worker, and whatever tests start, would compile all our sources again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
    (KEPT_APART / variable.lower()).mkdir(parents=True, exist_ok=True)
    os.environ[variable] = str(KEPT_APART / variable.lower())

pytest_plugins = ["verifiedbook.pytest_plugin", "changed"]
collect_ignore_glob = ["*/conftest.py"]  # which --doctest-modules would import by one name

gc.disable()  # while tests are collected: what is loaded then stays

_account = Account()
_cold: set[str] = set()  # why kernels started cold in this run


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow by its fixtures; put the files that take longest first."""
    for item in items:
        if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
        if item.get_closest_marker("make") and shutil.which("make") is None:
            item.add_marker(pytest.mark.skip(reason=NO_MAKE))
    cache = getattr(config, "cache", None)  # absent under -p no:cacheprovider
    last = cache.get(CACHED, {}) if cache else {}
    before = _kept_seconds() | last
    cost = {
        path: before[name] if (name := _name(path)) in before else _stored_seconds(path)
        for path in {item.path for item in items}
    }
    order = sorted(cost, key=lambda path: (-cost[path], str(path)))
    # the book is built once: whoever wants it beside the first who does waits for it
    waiting = {item.path for item in items if "html" in getattr(item, "fixturenames", ())}
    beside = [path for path in order[1:] if path not in waiting][: WORKERS - 1]
    order = [*order[:1], *beside, *(path for path in order[1:] if path not in beside)]
    place = {path: number for number, path in enumerate(order)}
    items.sort(key=lambda item: place[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give tests that parse all pages to one worker, which then parses them once."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return PARSING[0] if file in PARSING else file

    return Together(config, log) if config.option.dist == "loadfile" else None


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _kept_seconds() -> dict[str, float]:
    """What each file took by the clock in the whole run that was kept last."""
    if not KEPT.exists():
        return {}
    files = json.loads(KEPT.read_text(encoding="utf-8"))["files"]
    return {name: taken["clock"] for name, taken in files.items()}


def _stored_seconds(path: Path) -> float:
    """What the checks of a notebook took when it was stored; of another file nothing is known."""
    if path.suffix != ".ipynb":
        return UNKNOWN
    return sum(map(float, re.findall(r'"seconds": ([\d.]+)', path.read_text(encoding="utf-8"))))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """From here on what the processor does is for tests."""
    gc.collect()
    gc.freeze()  # what was loaded need not be looked through again and again
    gc.set_threshold(100_000, 20, 20)  # pages as trees, and whatever else is large and soon gone
    gc.enable()
    _account.since()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note what a phase of a test took of the processor."""
    report = yield
    report.processor = _account.since()
    report.cold = warm_kernels.cold()
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each file takes."""
    name = report.nodeid.split("::")[0]
    _account.add(name, report.duration, getattr(report, "processor", 0.0))
    if ".ipynb" in name:
        _cold.update(getattr(report, "cold", ()))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print where the time went, and how many known-bad inputs turned their gate red."""
    if getattr(config, "cache", None):
        taken = {name: round(seconds, 1) for name, seconds in _account.clock.items()}
        config.cache.set(CACHED, {**config.cache.get(CACHED, {}), **taken})
    _account.write(ROOT, list(config.invocation_params.args))
    for line in _account.lines():
        terminalreporter.write_line(line)
    for reason in sorted(_cold):
        terminalreporter.write_line(f"kernels started cold: {reason}")
    nodes = _canaries(terminalreporter)
    if nodes:
        caught = sum(outcome == "passed" for outcome in nodes.values())
        terminalreporter.write_line(f"canaries caught {caught}/{len(nodes)}")


def _canaries(reporter: pytest.TerminalReporter) -> dict[str, str]:
    """The known-bad inputs of this run by name, with what became of each."""
    from changed import UNTOUCHED

    found: dict[str, str] = {}
    for outcome in ("passed", "skipped", "xfailed", "xpassed", "failed", "error"):
        for report in reporter.stats.get(outcome, []):
            if "canary" in getattr(report, "keywords", ()):
                why = str(report.longrepr)
                reasons = (*EXCUSES, UNTOUCHED)
                excused = outcome == "skipped" and any(reason in why for reason in reasons)
                found[report.nodeid] = "excused" if excused else outcome
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a run fail in which a known-bad input was skipped, or expected to fail, and so not tried.

    Only those of the browser and of make may be, where there is none, and those of a page of the
    book that is as it passed, where a part is run.
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    untried = {
        name: outcome
        for name, outcome in (_canaries(reporter) if reporter else {}).items()
        if outcome in ("skipped", "xfailed", "xpassed")
    }
    for name, outcome in untried.items():
        reporter.write_line(f"canary {outcome}: {name}")
    if untried and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
