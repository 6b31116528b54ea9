"""`make test CHANGED=1`: what a change can reach runs; what is left out is named, with the reason.

A whole run that is green leaves ``_build/passed.json``, the hash of each file that it passed, and
beside it the book that it built. The working tree is compared with that, and never with what a
part has passed. `since` chooses files of tests; here those are left out that are about another
page, or that name pages of the built book none of which is another than before. The continuous
integration leaves nothing out.
"""

from __future__ import annotations

import filecmp
import inspect
import json
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import since
from since import ROOT, Plan, blind_to, page_of

KEPT = ROOT / "_build" / "passed.json"
BOOK = ROOT / "_build" / "passed"  # as `make test` built it: pages, and what Sphinx read
WHOLE = {"src/verified_transformer", "experiments", "packages", "book/_ext", "tests", "notebooks"}
UNTOUCHED = "the pages that it names are as they passed"
_NAMES = re.compile(r"[\w./-]+\.(?:html|json|xml)|_static/[\w./-]+")
_PLAIN = {"html", "browser", "phone", "tmp_path", "monkeypatch", "request", "fault"}


def of_one_page(item: pytest.Item) -> str:
    """The page that a test is about alone, as its parameter says; empty where it says none."""
    params = getattr(getattr(item, "callspec", None), "params", {}).values()
    for value in params:
        if isinstance(value, Path) and value.suffix in (".ipynb", ".md") and ROOT in value.parents:
            return page_of(value)
        if isinstance(value, str) and re.fullmatch(r"\d-[\w-]{,80}/\d+-[\w-]{,80}", value):
            return f"notebooks/{value}"
    return ""


# ------------------------------------------------------------------ pages of the built book


@cache
def fresh(html: Path, before: Path = BOOK) -> set[str]:
    """The files of a built book that are others than when it passed."""
    old = before / "_build" / "html"
    names = [path.relative_to(html) for path in html.rglob("*") if path.is_file()]
    return {
        name.as_posix()
        for name in names
        if not (old / name).is_file() or not filecmp.cmp(html / name, old / name, shallow=False)
    }


def named_pages(item: pytest.Item) -> set[str]:
    """The files of the built book that a test names; none where it may look at any."""
    told = inspect.getsource(item.function)  # type: ignore[attr-defined]
    if "glob" in told or set(getattr(item, "fixturenames", ())) - _PLAIN - _given(item):
        return set()
    used = item.function.__code__.co_names  # type: ignore[attr-defined]
    told += repr([item.function.__globals__.get(name) for name in used])  # type: ignore[attr-defined]
    told += repr([value for value in item.callspec.params.values()] if _given(item) else "")
    found = set(_NAMES.findall(told))
    return found | ({"searchindex.js"} if "search.html" in found else set())


def _given(item: pytest.Item) -> set[str]:
    return {*getattr(getattr(item, "callspec", None), "params", {})}


def untouched(item: pytest.Item, html: Path) -> bool:
    """Whether a part runs, and a test names pages none of which is another than before."""
    named = named_pages(item) if partly() else set()
    return bool(named) and not any(is_new(html, name) for name in named)


def is_new(html: Path, name: str) -> bool:
    """Whether a page has to be looked at: all are where all runs, or what all pages load is new."""
    new = fresh(html) if partly() else {name}
    return any(
        n.startswith("_static/") or n.partition(".")[0] == name.partition(".")[0] for n in new
    )


# ------------------------------------------------------------------ what pytest asks


_now: dict[str, Any] = {}  # what the tree was when a whole run began
_chosen: tuple[Plan, set[Path], Counter[str]] | None = None


def partly() -> bool:
    """Whether this run leaves something out."""
    return _chosen is not None and not _chosen[0].everything


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--changed", action="store_true", help="run what has changed since it passed")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Compare the tree with what passed, before workers are started: for words one process does."""
    global _chosen
    worker = hasattr(config, "workerinput")
    if config.option.changed:
        before = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        found = since.plan(before, since.state())
        _chosen = found, *(({*()}, Counter[str]()) if found.everything else since.chosen(found))
        if partly() and found.facets <= {"words", "cells"} and not worker:
            config.option.numprocesses = 0
    elif whole(config) and not worker:
        _now.update(since.state())


def whole(config: pytest.Config) -> bool:
    """Whether a run is that of `make test`."""
    option = config.option
    parts = (option.keyword, getattr(option, "lf", False), option.collectonly, option.deselect)
    as_make = option.markexpr == "not nightly" and getattr(option, "nbval", False)
    return as_make and {*config.args} >= WHOLE and not any(parts)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out whole files, so that nobody loads what they import."""
    if not partly() or collection_path.is_dir() or collection_path.name == "conftest.py":
        return None
    return None if collection_path in _chosen[1] else True  # type: ignore[index]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of other pages, and of gates over the book where only pages changed."""
    if not partly():
        return
    found, kept, left = _chosen  # type: ignore[misc]
    touched = (
        found.words | found.cells | {page_of(path) for path in kept if path.suffix == ".ipynb"}
    )
    out = []
    for item in items:
        page, built = of_one_page(item), "built" in blind_to(item.path)[1]
        if item.path in found.tests or item.path.suffix == ".ipynb":
            continue
        if page and page not in touched:
            out.append((item, "tests of one page: it is as it passed"))
        elif built and found.facets <= {"words", "cells"} and "html" not in item.fixturenames:
            out.append((item, "tests beside the built book: they read neither words nor cells"))
    items[:] = [item for item in items if item not in {one for one, _ in out}]
    left.update(why for _, why in out)
    config.hook.pytest_deselected(items=[item for item, _ in out])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say against what the tree was compared, what changed, and what was left out, why."""
    if _chosen is None:
        return
    found, _, left = _chosen
    say = terminalreporter.write_line
    if found.everything:
        say(f"all ran: {found.everything}")
        return
    named = [*found.words, *found.cells, *(path.name for path in found.modules | found.tests)]
    say(f"since {found.since[:8]}, which passed: {', '.join(sorted({*named})) or 'nothing'}")
    for why, count in left.most_common():
        say(f"left out: {count} {why}")
    say("the continuous integration leaves nothing out")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep what a whole green run passed; a file that changed meanwhile did not pass."""
    if partly() and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
    if not _now.get("files") or session.exitstatus != pytest.ExitCode.OK:
        return
    after = since.files()
    _now["files"] = {name: key for name, key in _now["files"].items() if after.get(name) == key}
    shutil.rmtree(BOOK, ignore_errors=True)
    built = session.config._tmp_path_factory.getbasetemp() / "book"  # type: ignore[attr-defined]
    if built.is_dir():
        shutil.move(built, BOOK)
    KEPT.write_text(json.dumps(_now, indent=1) + "\n", encoding="utf-8")
