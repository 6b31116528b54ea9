"""What would see a mutant: the gates where they suffice, a run of the notebook where they do not.

A changed cell runs beside the stored outputs, compared and masked as nbval does with the book's own
rules, then what depends on it; it stops at the first difference. A reading is judged as after an
honest author's refresh: that its fingerprint turns every record stale says nothing of whether it is
right. What no gate sees, the lock on words may; it is named apart, for it knows that a sentence is
another one, and not that it is false.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import html_gates
import nbformat
import notebook_gates
import page_gates
import yaml

from verifiedbook.commands.notebooks import comparing
from verifiedbook.commands.prose import words

from .forked import Trial
from .mutant import PARTS, Mutant
from .mutants import executable

LOCKED = "the lock on words"
LONGEST = 600  # seconds for the tests of a module that is changed, by the clock
ASKED = 4  # notebooks that come to a changed line of the library
RECORDED = "tests/experiments/test_recording.py"  # runs each experiment that is recorded
Answer = tuple[int, str, str, float]  # of which mutant, by what, in which words, seconds


@dataclass(frozen=True)
class Judgement:
    """What became of a mutant.

    Attributes:
        mutant: which.
        by: what turned red, or "" where nothing did.
        said: what it said, shortened.
        names: whether that names a claim of the place.
        seconds: of the processor that the judgement took.
    """

    mutant: Mutant
    by: str
    said: str
    names: bool
    seconds: float

    @property
    def red(self) -> bool:
        """Whether something saw that it is false; the lock sees that it is another text."""
        return self.by not in ("", LOCKED)


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
        self._locked, _ = words.renewed(self.scratch, {})  # as after an honest author's last word
        self._html = html
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

    def judge(self, mutants: Sequence[Mutant]) -> Iterator[Judgement]:
        """Say what turns red on each mutant.

        Pages and prose are asked one at a time; what must run is run by notebook, so that a
        notebook's own cells are paid once.
        """
        waiting: dict[str, list[Trial]] = {}  # by notebook
        readings = {n: m for n, m in enumerate(mutants) if m.kind == "reading"}
        answers = [*self._refused(readings, waiting)]
        for number, mutant in enumerate(mutants):
            if mutant.kind != "reading":
                started = sum(os.times()[:4])  # of the tests that it runs as well
                ways = {"page": self._page, "prose": self._prose, "library": self._library}
                found = next(ways.get(mutant.kind, self._gates)(mutant), None)
                if found or mutant.kind in ways:
                    spent = sum(os.times()[:4]) - started
                    yield _judgement(mutant, *(found or ("", "")), spent)
                else:
                    trial = {"number": number, "cell": mutant.cell, "source": mutant.changed}
                    waiting.setdefault(mutant.path, []).append(trial)
        for notebook, trials in waiting.items():
            answers += self._asked("mutation.forked", trials, str(self.scratch / notebook))
        for number in dict.fromkeys(number for number, *_ in answers):
            own = [rest for other, *rest in answers if other == number]
            spent = sum(seconds for *_, seconds in own)
            by, said = next(((by, said) for by, said, _ in own if by), ("", ""))
            if not by and number in readings:
                by, said = self._words(readings[number], self._claims_file(readings[number]))
            yield _judgement(mutants[number], by, said, spent)

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
        of = data["cells"][mutant.cell]
        for key in mutant.field[:-1]:  # of a caption, which stands in the cell's metadata
            of = of[key]
        if mutant.field:
            of[mutant.field[-1]] = mutant.changed
        else:
            of["source"] = mutant.changed.splitlines(keepends=True)
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"

    def _prose(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        notebook = mutant.cell >= 0
        text = self._notebook(mutant) if notebook else mutant.changed
        gates = notebook_gates.GATES if notebook else notebook_gates.PROSE_GATES
        path = self.scratch / mutant.path
        known = {gate.__name__: set(gate(path)) for gate in gates}
        with self._changed(path, text):
            for gate in gates:
                new = [fault for fault in gate(path) if fault not in known[gate.__name__]]
                if new:
                    yield gate.__name__, "\n".join(new)
        yield self._words(mutant, text)

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

    def _library(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        """Run the tests that import the module, then notebooks that come to what is changed."""
        path = self.scratch / mutant.path
        tests = importers(self.scratch, mutant.path)
        notebooks = readers(self.scratch, mutant.path, mutant.site.start, ASKED)
        tries = [("tests", tests, ()), *(("notebook", [one], ("--nbval",)) for one in notebooks)]
        with self._changed(path, mutant.changed):
            for by, files, more in tries:
                if files and (said := self._failed(files, more)):
                    yield by, said

    def _failed(self, files: Sequence[str], more: Sequence[str]) -> str:
        """The first test of these files that fails, or "" where none does."""
        command = [sys.executable, "-m", "pytest", "-n", "0", "-xq", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, *more, *files], cwd=self.scratch, capture_output=True,
                encoding="utf-8", check=False, timeout=LONGEST,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, _sources(self.scratch)))},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"longer than {LONGEST} s"
        found = [x for x in done.stdout.splitlines() if x.startswith(("FAILED", "ERROR"))]
        return "\n".join(found or [done.stdout[-200:]]) if done.returncode else ""

    def _gates(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        path = self.scratch / mutant.path
        with self._changed(path, self._notebook(mutant)):
            for gate in notebook_gates.GATES:
                if found := gate(path):
                    yield gate.__name__, "\n".join(found)

    def _refused(
        self, readings: Mapping[int, Mutant], waiting: dict[str, list[Trial]]
    ) -> Iterator[Answer]:
        """Ask registry and prose; what passes and is executed waits for its claim's cells."""
        trials = [
            {"number": number, "claim": mutant.claims[0], "file": str(self.scratch / mutant.path),
             "text": self._claims_file(mutant)}
            for number, mutant in readings.items()
        ]  # fmt: skip
        for trial, answer in zip(trials, self._asked("mutation.refusing", trials), strict=True):
            yield answer
            mutant = readings[answer[0]]
            if not answer[1] and executable(mutant.field):
                for notebook, cell in self._cells_of.get(mutant.claims[0], ()):
                    waiting.setdefault(notebook, []).append({**trial, "cell": cell})

    def _claims_file(self, mutant: Mutant) -> str:
        data = yaml.load((self.scratch / mutant.path).read_text(encoding="utf-8"), yaml.CSafeLoader)
        inner = next(entry for entry in data["claims"] if entry["id"] == mutant.field[0])
        *way, last = mutant.field[1:]
        for key in way:
            inner = inner[int(key) if isinstance(inner, list) else key]
        inner[int(last) if isinstance(inner, list) else last] = mutant.changed
        return yaml.safe_dump(data, allow_unicode=True, sort_keys=False)

    @cached_property
    def _cells_of(self) -> dict[str, list[tuple[str, int]]]:
        """By claim, the notebooks and cells whose records decide it."""
        found: dict[str, list[tuple[str, int]]] = {}
        for path in sorted((self.scratch / "notebooks").glob("*/*.ipynb")):
            for index, cell in enumerate(nbformat.read(path, as_version=4).cells):
                records = comparing.records(nbformat.from_dict({"cells": [cell]}))
                place = path.relative_to(self.scratch).as_posix(), index
                for claim in {claim for record in records for claim in record["claims"]}:
                    found.setdefault(claim, []).append(place)
        return found

    def _words(self, mutant: Mutant, text: str) -> tuple[str, str]:
        """What the lock on words says of a changed file."""
        path = self.scratch / mutant.path
        with self._changed(path, text):
            found = words.said_otherwise(self.scratch, mutant.path, self._locked[mutant.path])
        return (LOCKED, "\n".join(found)) if found else ("", "")

    def _asked(self, module: str, trials: Sequence[Trial], *names: str) -> Iterator[Answer]:
        """Let a process of its own judge trials; what it does not come to is an error of ours."""
        if not trials:
            return
        file = self._scratch / "trials.json"
        file.write_text(json.dumps(trials), encoding="utf-8")
        folders = [*map(str, _sources(self.scratch)), str(self.scratch / "tests")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        command = [sys.executable, "-m", module, *names, str(file)]
        done = subprocess.run(
            command,
            env=environment,
            cwd=self.scratch,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(trials):
            raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
        for answer in answers:
            yield answer["number"], answer["by"], answer["said"], answer["seconds"]


def importers(root: Path, module: str) -> list[str]:
    """The unit tests, smallest first, that import a module of the library.

    Where none does, those that import what imports it, and so on; an experiment is run by the
    test of all that are recorded.

    Args:
        root: the repository.
        module: path of the module, from the root.
    """
    modules = {_dotted(path, root): path for home in _sources(root) for path in home.rglob("*.py")}
    imported = {name: _imports(path, name) for name, path in modules.items()}
    homes = dict.fromkeys((*(tests for _, tests in PARTS.values()), "tests/models", "tests/engine"))
    paths = [path for home in homes for path in (root / home).rglob("test_*.py")]
    tests = {path: _imports(path) for path in paths}
    reached = {_dotted(root / module, root)}
    while True:
        found = {path for path, names in tests.items() if names & reached}
        wider = reached | {name for name, names in imported.items() if names & reached}
        if found or wider == reached:
            break
        reached = wider
    if module.startswith("experiments/"):
        found.add(root / RECORDED)
    ordered = sorted(found, key=lambda path: (path.stat().st_size, path.name))
    return [path.relative_to(root).as_posix() for path in ordered]


def readers(root: Path, module: str, place: int, n: int) -> list[str]:
    """Notebooks that come to what a module defines at a place, by the names that they say.

    A name that a notebook says is enough, or that of a definition that says the name, and so on:
    some may not come there after all. The nearest come first, of those the smallest.

    Args:
        root: the repository.
        module: path of the module, from the root.
        place: a character of its text.
        n: how many, where there are so many.
    """
    text = (root / module).read_text(encoding="utf-8")
    line = text.count("\n", 0, place) + 1
    own = [node for node in ast.parse(text).body if node.lineno <= line <= (node.end_lineno or 0)]
    reached = {name for node in own for name in _defined(node)}
    definitions, notebooks = _says(root)
    found: list[Path] = []
    while len(found) < n:
        near = [p for p, names in notebooks.items() if names & reached and p not in found]
        found += sorted(near, key=lambda path: (path.stat().st_size, path.name))
        wider = reached | {name for name, names in definitions if names & reached}
        if wider == reached:
            break
        reached = wider
    return [path.relative_to(root).as_posix() for path in found[:n]]


@cache
def _says(root: Path) -> tuple[list[tuple[str, set[str]]], dict[Path, set[str]]]:
    """Which names each definition of the library says, and each notebook."""
    definitions = [
        (name, _names(node))
        for home in _sources(root)
        for path in home.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        for name in _defined(node)
    ]
    notebooks = root.glob("notebooks/*/*.ipynb")
    return definitions, {path: _names(ast.parse(_program(path))) for path in notebooks}


def _defined(node: ast.stmt) -> list[str]:
    """What a statement of a module gives a name."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)]
    return []


def _names(tree: ast.AST) -> set[str]:
    return {getattr(node, "id", "") or getattr(node, "attr", "") for node in ast.walk(tree)} - {""}


def _program(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return re.sub(r"(?m)^[%!].*$", "", text)


def _sources(root: Path) -> list[Path]:
    """The folders that hold what is imported."""
    return [root / "src", root / "experiments", *sorted(root.glob("packages/*/src"))]


def _dotted(path: Path, root: Path) -> str:
    home = next(home for home in _sources(root) if path.is_relative_to(home))
    name = path.relative_to(home).with_suffix("").as_posix().replace("/", ".")
    return name.removesuffix(".__init__")


def _imports(path: Path, name: str = "") -> set[str]:
    """What a module or a test imports; relative names made whole."""
    text = path.read_text(encoding="utf-8")
    package = name.split(".") + ["__init__"] * (path.name == "__init__.py")
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            above = package[: -node.level] if node.level else []
            base = ".".join([*above, *(node.module or "").split(".")]).rstrip(".")
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def _judgement(mutant: Mutant, by: str, said: str, seconds: float) -> Judgement:
    names = any(claim in said for claim in mutant.claims)
    return Judgement(mutant, by, " ".join(said.split())[:300], names, round(seconds, 1))
