"""Cells run with faults in them: the notebook runs once, and forks before each cell to be tried.

A trial is a process of its own. It starts with all that the cells before have made, runs the
changed cell and those behind it, and stops at the first output that is not the stored one. None is
left out: a record is keyed by the lines of all cells that made what it was given. Run as
``python -m mutation.forked NOTEBOOK TRIALS``, which reads the trials as JSON and prints one line of
JSON for each.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from verifiedbook.account import registry
from verifiedbook.commands.notebooks import comparing
from verifiedbook.pytest_plugin.near_claims import claims_near

LONGEST = 300  # seconds of a trial, as of a cell in the whole run
ROOT = Path(__file__).parents[2]

Trial = Mapping[str, Any]
Outputs = list[dict[str, Any]]
_outputs: Outputs = []


class _Shown(DisplayPublisher):
    """What a cell displays, kept."""

    def publish(self, data: Any, metadata: Any = None, **_: Any) -> None:
        """Keep an output."""
        _outputs.append(
            {"output_type": "display_data", "data": dict(data), "metadata": dict(metadata or {})}
        )


class _Result(DisplayHook):
    """What a cell ends with, kept."""

    def write_output_prompt(self) -> None:
        """Write none."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Keep the output."""
        kept = {"data": dict(format_dict), "metadata": dict(md_dict or {})}
        _outputs.append({"output_type": "execute_result", **kept})


class _Shell(InteractiveShell):
    display_pub_class = Type(_Shown)
    displayhook_class = Type(_Result)


class _Stream(io.TextIOBase):
    def __init__(self, name: str) -> None:
        self.name = name

    def write(self, text: str) -> int:
        begun = [output for output in _outputs if output.get("name") == self.name]
        if begun:  # one stream a cell, as the refresh stores it
            begun[0]["text"] += text
        else:
            _outputs.append({"output_type": "stream", "name": self.name, "text": text})
        return len(text)


class Runner:
    """A notebook in this process, run cell by cell."""

    def __init__(self, notebook: Path) -> None:
        """Read it, and make a shell that keeps what cells show.

        Args:
            notebook: path of the ``.ipynb`` file.
        """
        self.stored = nbformat.read(notebook, as_version=4)
        self.sources = {
            place: cell.source
            for place, cell in enumerate(self.stored.cells)
            if cell.cell_type == "code"
        }
        self._written = [cell.source for cell in self.stored.cells]
        self._shell = _Shell.instance(config=Config(HistoryManager={"enabled": False}))

    def run(self, source: str) -> tuple[str, Outputs]:
        """Run a cell; return the error it ends with, or nothing, and its outputs."""
        _outputs.clear()
        with (
            contextlib.redirect_stdout(_Stream("stdout")),
            contextlib.redirect_stderr(_Stream("stderr")),
        ):
            done = self._shell.run_cell(source, store_history=False)
        error = done.error_before_exec or done.error_in_exec
        said = f"{type(error).__name__}: {error}" if error else ""
        return said, json.loads(json.dumps(_outputs, default=str))

    def different(self, place: int, source: str) -> tuple[str, str] | None:
        """Run a cell instead of a stored one: what differs, if anything does."""
        error, outputs = self.run(source)
        near = " ".join(claims_near(self._written, place))  # as a red cell says in the whole run
        if error:
            return "run", f"{near}\n{source}\n{error}"
        old = self.stored.cells[place]
        new = {"cell_type": "code", "source": source, "outputs": outputs}
        pair = (nbformat.from_dict({"cells": [one]}) for one in (old, new))
        changes = list(comparing.differences(*pair))
        return ("outputs", "\n".join([near, source, *changes])) if changes else None

    def same_outcomes(self, place: int) -> tuple[str, str] | None:
        """Run a stored cell under another registry: an error, or another outcome of a check."""
        error, outputs = self.run(self.sources[place])
        if error:
            return "run", f"{self.sources[place]}\n{error}"
        new = nbformat.from_dict({"cells": [{"outputs": outputs}]})
        old = nbformat.from_dict({"cells": [self.stored.cells[place]]})
        changes = list(comparing.beside(comparing.outcome_lines(old), comparing.outcome_lines(new)))
        return ("outcomes", "\n".join(changes)) if changes else None

    def tried(self, trial: Trial) -> tuple[str, str] | None:
        """Run what a trial changes, and what depends on it."""
        place = int(trial["cell"])
        if "text" in trial:
            registry.load.cache_clear()
            return self.same_outcomes(place)
        if found := self.different(place, trial["source"]):
            return found
        for later, source in self.sources.items():
            if later > place and (found := self.different(later, source)):
                return found
        return None


def trials(runner: Runner, waiting: Sequence[Trial]) -> Iterator[dict[str, Any]]:
    """Run what the trials need of the notebook once, and each trial before the cell it changes.

    Yields:
        For each trial its number, what turned red, what that said, and the processor's seconds.
    """
    tried = {int(trial["cell"]) for trial in waiting}
    for place, source in runner.sources.items():
        yield from (in_a_fork(trial, runner.tried) for trial in waiting if trial["cell"] == place)
        tried.discard(place)
        if not tried:
            return
        if found := runner.different(place, source):
            raise RuntimeError(f"cell {place}, unchanged, is not as stored:\n{found[1]}")


def in_a_fork(trial: Trial, judged: Callable[[Trial], tuple[str, str] | None]) -> dict[str, Any]:
    """Judge a trial in a process of its own, which starts with all that this one has.

    Args:
        trial: with the file that it changes, if it does, and the text that it puts there.
        judged: says what turned red, and with which words.
    """
    path = Path(trial["file"]) if "file" in trial else None
    before = path.read_bytes() if path else b""
    if path:
        path.write_text(trial["text"], encoding="utf-8")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(LONGEST)
        try:
            found = judged(trial)
        except BaseException as error:  # a cell may end the process in any way
            found = ("run", f"{type(error).__name__}: {error}")
        with os.fdopen(writing, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    _, status, used = os.wait4(child, 0)
    if path:
        path.write_bytes(before)
    by, why = (json.loads(said) or ("", "")) if said else ("run", f"ended by signal {status}")
    return {"number": trial.get("number"), "by": by, "said": why, "seconds": used.ru_utime}


def main(notebook: str, file: str) -> int:
    """Print what became of each trial."""
    waiting = json.loads(Path(file).read_text(encoding="utf-8"))
    path = Path(notebook).resolve()
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as a kernel has it
    os.chdir(path.parent)
    out = os.fdopen(os.dup(1), "w")  # cells may write to the terminal
    for found in trials(Runner(path), waiting):
        print(json.dumps(found), file=out, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
