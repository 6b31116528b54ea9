"""A plugin of pytest: ``pytest --nbval`` runs a book's notebooks as the book's own commands do.

What a cell gives is compared by `verifiedbook.commands.notebooks.comparing`, words exactly and
numbers in their bands, and a cell that is not as stored names its claims and says how far it moved;
kernels are forked from one that has loaded its libraries, and time limits follow the machine. It
does nothing where the folder that pytest runs in has no book (``[tool.verifiedbook]`` in its
``pyproject.toml``), or where notebooks are not asked for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from . import machine

LONGEST_CELL, LONGEST_START = 300, 60  # seconds on the reference machine
FEW = 2  # notebooks, whose kernels load what they need faster than one that loads everything


def in_a_book(config: pytest.Config) -> bool:
    """Return whether notebooks are asked for, and are a book's."""
    settings = config.rootpath / "pyproject.toml"
    if not getattr(config.option, "nbval", False) or not settings.is_file():
        return False
    tools = tomllib.loads(settings.read_text(encoding="utf-8")).get("tool", {})
    return "verifiedbook" in tools


def pytest_configure(config: pytest.Config) -> None:
    """Let the time limits of cells and kernels follow the machine."""
    if in_a_book(config):
        patience = machine.calibrate(getattr(config.option, "numprocesses", None) or 1)
        config.option.nbval_cell_timeout = LONGEST_CELL * patience
        config.option.nbval_kernel_startup_timeout = LONGEST_START * patience


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Put a notebook whose numbers have bands in place of nbval's."""
    found = yield
    if file_path.suffix == ".ipynb" and in_a_book(parent.config):
        from .banded_notebooks import banded  # nbval's, and whatever it imports

        return [banded(one) for one in found]
    return found


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fork the kernels of many notebooks; what the processor does from here on is for tests."""
    notebooks = {item.path for item in session.items if item.path.suffix == ".ipynb"}
    if in_a_book(session.config) and len(notebooks) > FEW:
        from nbval.kernel import NbvalKernelspecManager

        from ..commands.notebooks import warm_kernels

        warm_kernels.install(NbvalKernelspecManager)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave no process behind."""
    if in_a_book(config):
        from ..commands.notebooks import warm_kernels

        warm_kernels.end()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say by how much time limits follow the machine."""
    if not in_a_book(config):
        return None
    return f"time limits: {machine.calibrate():.1f} times those of the reference machine"
