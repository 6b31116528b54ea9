"""Notebooks run afresh, each in a kernel and an environment of its own."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...serving import served
from . import comparing

_SOURCE = Path(__file__).parents[3]
LONGEST_CELL = 3600  # seconds; a cell that takes longer hangs
Environment = Mapping[str, str | None]


@dataclass(frozen=True)
class Run:
    """A notebook as it came out of one run.

    Attributes:
        stored: the notebook as it is stored.
        book: the notebook with its new outputs.
        errors: one line for each cell that failed.
        seconds: that the run took.
    """

    stored: Any
    book: Any
    errors: tuple[str, ...]
    seconds: float

    def differences(self) -> list[str]:
        """Say which cells failed, or else what came out otherwise than it is stored."""
        return [*self.errors] or [*comparing.differences(self.stored, self.book)]

    def other_outcomes(self) -> list[str]:
        """Say which cells failed, or else which records have another outcome; texts are free."""
        before, after = comparing.outcome_lines(self.stored), comparing.outcome_lines(self.book)
        changes = (f"outcome {change}" for change in comparing.beside(before, after))
        return [*self.errors] or [*changes]


def run(
    notebook: Path,
    *,
    last: int | None = None,
    environment: Environment | None = None,
    through: bool = False,
    longest: float = LONGEST_CELL,
) -> Run:
    """Run a notebook in a fresh kernel; its file stays as it is.

    Args:
        last: index of the last cell to run; all by default.
        environment: variables to set, or to remove where the value is None.
        through: whether to go on after a cell that failed.
        longest: seconds that a cell may take.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    stored, book = (nbformat.read(notebook, as_version=4) for _ in range(2))
    book.cells = book.cells if last is None else book.cells[: last + 1]
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        book,
        timeout=max(1, round(longest)),
        allow_errors=through,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=40"],  # its notice of TCP is not ours
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    started = time.perf_counter()
    errors: list[str] = []
    try:
        with ThreadPoolExecutor(1) as aside:  # in the main thread nbclient takes Ctrl-C for itself
            work = client.async_execute(env=_environment(environment or {}))
            aside.submit(asyncio.run, work).result()
    except CellExecutionError:
        pass  # the error stands in the cell's outputs
    except (CellTimeoutError, DeadKernelError) as error:
        errors.append(f"{type(error).__name__}: {error}")
    errors += [line for index, cell in enumerate(book.cells) for line in _errors(index, cell)]
    return Run(stored, book, tuple(errors), time.perf_counter() - started)


def _environment(changes: Environment) -> dict[str, str]:
    # a kernel runs in the notebook's folder, where a relative PYTHONPATH leads nowhere
    given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    own = [_SOURCE, *([package.parent] if (package := served().package) else [])]
    paths = [*map(str, own), *map(os.path.abspath, given)]
    changed = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **changes}
    return {name: value for name, value in changed.items() if value is not None}


def _errors(index: int, cell: Any) -> list[str]:
    return [
        f"cell {index}: {output.ename}: {output.evalue}"
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
