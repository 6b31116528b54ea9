"""Shared by the tests: the built book, and how much of the notebooks is compared."""

from __future__ import annotations

from pathlib import Path

import html_gates
import notebook_gates
import pytest
from filelock import FileLock

from verified_transformer.account import ledger

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def html(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the book's HTML, built once per run with warnings as errors."""
    shared = tmp_path_factory.getbasetemp()
    shared = (shared if worker_id == "master" else shared.parent) / "book"
    with FileLock(f"{shared}.lock"):
        log = shared / "build.log"
        if not log.exists():
            code, output = html_gates.build(ROOT, shared)
            log.write_text(f"exit code {code}\n{output}", encoding="utf-8")
    return shared / "_build" / "html"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how much of the outputs is really compared."""
    counts = [notebook_gates.compared(path) for path in ledger.notebooks(ROOT)]
    good, outputs = (sum(column) for column in zip(*counts, strict=True))
    terminalreporter.write_line(f"outputs compared: {good}/{outputs} ({good / outputs:.1%})")
