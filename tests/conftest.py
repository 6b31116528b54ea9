"""Shared by the tests: the built book, a browser, readings, the share of compared outputs."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import changed
import html_gates
import notebook_gates
import pytest
from filelock import FileLock
from jupyter_client.kernelspec import KernelSpecManager

from verifiedbook.account import ledger, registry
from verifiedbook.account.registry import Reading
from verifiedbook.commands.notebooks import warm_kernels
from verifiedbook.pytest_plugin import machine

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the book's HTML, built once per run with warnings as errors."""
    return built(tmp_path_factory)


def built(folders: pytest.TempPathFactory) -> Path:
    """Build the book, whole or on top of the one that passed; once, whichever process asks."""
    shared = _shared(folders)
    with FileLock(f"{shared}.lock"):
        log = shared / "build.log"
        if not log.exists():
            options = html_gates.AS_PUBLISHED
            if changed.partly() and changed.BOOK.is_dir():
                shutil.copytree(changed.BOOK, shared, ignore=shutil.ignore_patterns(log.name))
                options = [option for option in options if option != "--all"]
            code, output = html_gates.build(ROOT, shared, options)
            log.write_text(f"exit code {code}\n{output}", encoding="utf-8")
    return shared / "_build" / "html"


def _shared(folders: pytest.TempPathFactory) -> Path:
    base = folders.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "book"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End forked kernels; leave what the book's pages were found to hold, for `CHANGED=1`."""
    warm_kernels.end()
    html = _shared(session.config._tmp_path_factory) / "_build" / "html"  # type: ignore[attr-defined]
    if html.is_dir() and not changed.partly():
        html_gates.keep_pages(html)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where a part is run, skip what looks at pages that are as they passed."""
    if changed.partly() and "html" in getattr(item, "fixturenames", ()):
        folders = item.config._tmp_path_factory  # type: ignore[attr-defined]
        if changed.untouched(item, built(folders)):
            pytest.skip(changed.UNTOUCHED)


@pytest.fixture(scope="session")
def collected() -> ledger.Ledger:
    """The ledger of the stored notebooks."""
    return ledger.collect(ROOT)


class Patient:
    """A browser whose pages have as much time as this machine needs."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser

    def new_context(self, **options: Any) -> Any:
        return self._patient(self.browser.new_context(**options))

    def new_page(self, **options: Any) -> Any:
        return self._patient(self.browser.new_page(**options))

    def _patient(self, opened: Any) -> Any:
        opened.set_default_timeout(machine.patient(30) * 1000)
        return opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser; whoever asks for it is left out where there is none."""
    from page_shares import CHROMIUM, FLAGS
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; `make browser` installs it where it can")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, timeout=machine.patient(60) * 1000
        )
        yield Patient(found)
        found.close()


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give a claim of the registry another reading for the length of a test."""
    real = registry.statement

    def give(**reading: Any) -> None:
        def statement(name: str) -> registry.Statement:
            kind = reading.get("kind", real(name).kind)
            other = Reading("read", **{k: v for k, v in reading.items() if k != "kind"})
            return dataclasses.replace(real(name), reading=other, kind=kind)

        monkeypatch.setattr(registry, "statement", statement)

    return give


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the kernels that a test starts."""
    monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", KernelSpecManager.get_kernel_spec)
    warm_kernels.install(KernelSpecManager)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how much of the outputs is really compared."""
    counts = [notebook_gates.compared(path) for path in ledger.notebooks(ROOT)]
    good, outputs = (sum(column) for column in zip(*counts, strict=True))
    terminalreporter.write_line(f"outputs compared: {good}/{outputs} ({good / outputs:.1%})")
