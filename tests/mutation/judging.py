"""What would see a mutant: the gates where they suffice, a run of the notebook where they do not.

Code runs cell by cell beside the stored outputs, compared and masked as nbval does with the book's
own rules, and stops at the first difference. A reading is judged as after an honest author's
refresh: that its fingerprint turns every record stale says nothing of whether it is right.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import html_gates
import nbformat
import notebook_gates
import page_gates
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from verified_transformer.commands.elsewhere.fresh_seeds import _outcomes
from verified_transformer.commands.notebooks import comparing
from verified_transformer.commands.notebooks.running import run

from .mutant import Mutant
from .mutants import executable

LONGEST_CELL = 600


@dataclass(frozen=True)
class Judgement:
    """What became of a mutant.

    Attributes:
        mutant: which.
        by: what turned red, or "" where nothing did.
        said: what it said, shortened.
        names: whether that names a claim of the place.
        seconds: that the judgement took.
    """

    mutant: Mutant
    by: str
    said: str
    names: bool
    seconds: float


class Judge:
    """Judges mutants in a scratch copy of the repository; the repository itself stays untouched."""

    def __init__(self, root: Path, scratch: Path, html: Path | None = None) -> None:
        """Copy the repository.

        Args:
            root: the repository.
            scratch: a folder to copy into.
            html: the built pages; they are built where they are needed and not given.
        """
        self.scratch = scratch / "book"
        ignored = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__", ".*_cache")
        shutil.copytree(root, self.scratch, ignore=ignored)
        self._html = html
        self._masks = comparing.masks(root)
        self._scratch = scratch

    @property
    def html(self) -> Path:
        """The folder of the built pages."""
        if self._html is None:
            code, output = html_gates.build(self.scratch, self._scratch / "pages")
            if code:
                raise RuntimeError(f"the book does not build:\n{output[-2000:]}")
            self._html = self._scratch / "pages" / "_build" / "html"
        return self._html

    def judge(self, mutant: Mutant) -> Judgement:
        """Say what turns red on a mutant."""
        started = time.perf_counter()
        ways: dict[str, Callable[[Mutant], Iterator[tuple[str, str]]]] = {
            "page": self._page, "prose": self._prose, "reading": self._reading,
        }  # fmt: skip
        by, said = next(ways.get(mutant.kind, self._code)(mutant), ("", ""))
        names = any(claim in said for claim in mutant.claims)
        taken = time.perf_counter() - started
        return Judgement(mutant, by, " ".join(said.split())[:300], names, round(taken, 1))

    @contextlib.contextmanager
    def _changed(self, path: Path, text: str) -> Iterator[Path]:
        before = path.read_bytes()
        try:
            path.write_text(text, encoding="utf-8")
            yield path
        finally:
            path.write_bytes(before)

    def _notebook(self, mutant: Mutant) -> str:
        data = json.loads((self.scratch / mutant.path).read_text(encoding="utf-8"))
        data["cells"][mutant.cell]["source"] = mutant.changed.splitlines(keepends=True)
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"

    def _prose(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        notebook = mutant.cell >= 0
        text = self._notebook(mutant) if notebook else mutant.changed
        gates = notebook_gates.GATES if notebook else notebook_gates.PROSE_GATES
        path = self.scratch / mutant.path
        gates = (*gates, notebook_gates.ownerless_prose)
        known = {gate.__name__: set(gate(path)) for gate in gates}
        with self._changed(path, text):
            for gate in gates:
                new = [fault for fault in gate(path) if fault not in known[gate.__name__]]
                if new:
                    yield gate.__name__, "\n".join(new)

    def _page(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        # the pages are linked, not copied: the one that changes is written in a file's place
        target = self._scratch / "mutated"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.html, target, copy_function=os.link)
        (target / mutant.path).unlink()
        (target / mutant.path).write_text(mutant.changed, encoding="utf-8")
        for gate in (*html_gates.GATES, *page_gates.GATES):
            try:
                found = gate(target)
            except (KeyError, ValueError, AttributeError, IndexError) as error:
                found = [f"{type(error).__name__}: {error}"]
            if found:
                yield gate.__name__, "\n".join(found)

    def _code(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        path = self.scratch / mutant.path
        with self._changed(path, self._notebook(mutant)):
            yield from self._gates(path)
            stored = nbformat.read(path, as_version=4)
        found = asyncio.run(self._first_difference(stored, path.parent))
        if found:
            yield found

    def _gates(self, path: Path) -> Iterator[tuple[str, str]]:
        for gate in notebook_gates.GATES:
            found = gate(path)
            if found:
                yield gate.__name__, "\n".join(found)

    async def _first_difference(self, stored: Any, folder: Path) -> tuple[str, str] | None:
        book = nbformat.from_dict(json.loads(json.dumps(stored)))
        client = NotebookClient(
            book, timeout=LONGEST_CELL, record_timing=False, coalesce_streams=True,
            extra_arguments=["--log-level=40"], resources={"metadata": {"path": str(folder)}},
        )  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(self.scratch / "src")}
        async with client.async_setup_kernel(env=environment):
            for index, (cell, old) in enumerate(zip(book.cells, stored.cells, strict=True)):
                if cell.cell_type != "code":
                    continue
                cell.outputs = []
                try:
                    await client.async_execute_cell(cell, index)
                except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
                    return "run", f"{cell.source}\n{error}"
                books = (nbformat.from_dict({"cells": [one]}) for one in (old, cell))
                changes = list(comparing.differences(*books, self._masks))
                if changes:  # nbval prints the cell's source and what differs
                    return "outputs", "\n".join([cell.source, *changes])
        return None

    def _reading(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        path = self.scratch / mutant.path
        data = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        inner = next(entry for entry in data["claims"] if entry["id"] == mutant.field[0])
        *way, last = mutant.field[1:]
        for key in way:
            inner = inner[int(key) if isinstance(inner, list) else key]
        inner[int(last) if isinstance(inner, list) else last] = mutant.changed
        with self._changed(path, yaml.safe_dump(data, allow_unicode=True, sort_keys=False)):
            said = self._refused(mutant)
            if said:
                yield "registry or prose", said
            elif executable(mutant.field):
                yield from self._run_anew(mutant.claims[0])

    def _refused(self, mutant: Mutant) -> str:
        """What the registry and the gates on prose say of a changed claims file."""
        folders = [str(self.scratch / "src"), str(self.scratch / "tests")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        command = [sys.executable, "-m", "mutation.refusing", mutant.chapter]
        run = subprocess.run(
            command, env=environment, cwd=self.scratch, capture_output=True, text=True, check=False
        )
        return run.stdout + run.stderr if run.returncode else ""

    def _run_anew(self, claim: str) -> Iterator[tuple[str, str]]:
        for path in sorted((self.scratch / "notebooks").glob("*/*.ipynb")):
            stored = nbformat.read(path, as_version=4)
            own = [
                index
                for index, cell in enumerate(stored.cells)
                for record in comparing.records(nbformat.from_dict({"cells": [cell]}))
                if claim in record["claims"]
            ]
            if own:
                again = run(
                    path, last=max(own), environment={"PYTHONPATH": str(self.scratch / "src")}
                )
                if again.errors:
                    yield "run", "\n".join(again.errors)
                stored.cells = stored.cells[: max(own) + 1]
                changed = list(comparing.changes(_outcomes(stored), _outcomes(again.book)))
                if changed:
                    yield "outcomes", "\n".join(changed)
