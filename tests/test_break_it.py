"""Every dare of a page is taken up: a line is changed, and the cell says what was promised."""

from __future__ import annotations

import ast
import json
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

from verified_transformer import ClaimFailed
from verifiedbook.account.code.cells import lines_before, made_by, names_of
from verifiedbook.account.registry import contents
from verifiedbook.commands.notebooks import cell_kinds
from verifiedbook.commands.notebooks.in_page import DERIVES, holding

ROOT = Path(__file__).parents[1]
DARES = contents(ROOT / "tests" / "break_it.yaml")
pytestmark = pytest.mark.slow  # it runs cells of notebooks


def cells(notebook: str, kind: str) -> list[dict[str, Any]]:
    """Cells of a kind, each with its source in one text."""
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    every = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [c | {"source": "".join(c["source"])} for c in every if c["cell_type"] == kind]


@cache
def names(code: str) -> tuple[set[str], set[str]]:
    """The names that a cell binds, and those that it uses."""
    told = [names_of(statement) for statement in cell_kinds.parsed(code).body]
    return {n for binds, _, _ in told for n in binds}, {n for _, _, uses in told for n in uses}


@cache
def rebound(code: str) -> set[str]:
    """The names that a cell binds, but for imports and symbols: they are the same everywhere."""
    tree = cell_kinds.parsed(code)
    kept = [part for part in tree.body if not _is_the_same(part)]
    return {name for part in kept for name in names_of(part)[0]}


def _is_the_same(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.value).startswith("symbols(")
    return isinstance(statement, ast.Import | ast.ImportFrom)


def place(dare: dict[str, Any], prose: str, every: list[dict[str, Any]]) -> int:
    """The cell that a dare changes; the page asks for the change, and a later run sees the same."""
    old, new = dare["change"]
    assert f"`{old}`" in prose and f"`{new}`" in prose, "the page does not ask for this change"
    stand_open = [
        n for n, c in enumerate(every) if "hide-input" not in c["metadata"].get("tags", ())
    ]
    (index,) = [n for n in stand_open if old in every[n]["source"]]
    codes = [cell["source"] for cell in every]
    assert codes[index].count(old) == 1
    binds, uses = names(codes[index])
    taken = {name for code in codes[index + 1 :] for name in rebound(code)} & (uses - binds)
    assert not taken, f"after a run of all cells these are something else: {sorted(taken)}"
    return index


@contextmanager
def apart() -> Iterator[None]:
    """What runs here leaves no draw, no setting of torch and no cell behind."""
    with torch.random.fork_rng(), torch.set_grad_enabled(True), patch.dict(linecache.cache):
        yield


def shown(number: int, code: str) -> str:
    """Let a cell be read as those that a notebook has run; return its name."""
    name = f"dares/{number}"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    return name


def needed(codes: list[str]) -> set[tuple[int, int]]:
    """The statements that the last cell rests on, and its own: the cell and last line of each."""
    with apart():
        numbers = {shown(number, code): number for number, code in enumerate(codes)}
        *_, last = numbers
        own = [line for line in lines_before((last, len(codes[-1]))) if line.file == last]
        lines = [before for line in own for before in made_by((last, line.first), {})]
    return {(numbers[line.file], line.outer[1]) for line in lines}


def run(number: int, code: str, some: set[tuple[int, int]], scope: dict[str, Any]) -> None:
    """Run some statements of a cell as a notebook does."""
    tree = cell_kinds.parsed(code)
    tree.body = [part for part in tree.body if (number, part.end_lineno) in some]
    exec(compile(tree, shown(number, code), "exec"), scope)


@pytest.mark.parametrize("notebook", list(dict.fromkeys(dare["notebook"] for dare in DARES)))
def test_changed_lines_say_what_the_page_promises(
    notebook: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the changed cells rest on runs once; in the place of each, it runs with each change.

    What a page says of a number that is printed first and of the red below it is held to both.

    The names that it binds end with it.
    """
    prose = "\n".join(cell["source"] for cell in cells(notebook, "markdown"))
    every = cells(notebook, "code")
    codes = [cell["source"] for cell in every]
    changes = []
    for dare in [dare for dare in DARES if dare["notebook"] == notebook]:
        index = place(dare, prose, every)
        changed = codes[index].replace(*dare["change"])
        if DERIVES in every[index]["metadata"].get("tags", ()):  # its reader runs both
            changed = f"{changed}\n\n\n{holding(codes[index + 1])}"
        changes.append((index, changed, needed([*codes[:index], changed]), dare))
    scope: dict[str, Any] = {"__name__": "__main__"}
    with apart():
        for number, code in enumerate(codes[: max(index for index, *_ in changes) + 1]):
            for _, changed, some, dare in [change for change in changes if change[0] == number]:
                before = scope.copy()
                capsys.readouterr()
                with apart():
                    try:
                        run(number, changed, some, scope)
                    except (ClaimFailed, TypeError, ValueError) as error:
                        assert dare["says"] in str(error)
                    else:
                        assert "says" not in dare and dare["prints"]
                    assert dare.get("prints", "") in capsys.readouterr().out
                scope.clear()
                scope.update(before)
            rest_on = [some for index, _, some, _ in changes if index > number]
            run(number, code, set().union(*rest_on), scope)
