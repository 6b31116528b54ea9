"""Each open derivation, pasted alone into an empty notebook: it runs, and shows what it has found.

What only the checker needs stands in the folded cell below it.
"""

from __future__ import annotations

import ast
import json
import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from verifiedbook.account import ledger
from verifiedbook.commands.notebooks.in_page import DERIVES, holding

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "notebooks/3-first-loss/3-norm-variance.ipynb"
LIBRARIES = {"sympy": None, "verified_transformer": {"symbols"}}  # and the names taken from each
Cell = dict[str, Any]


def code_cells(notebook: Path) -> list[Cell]:
    """The code cells, each with its source in one text."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [c | {"source": "".join(c["source"])} for c in cells if c["cell_type"] == "code"]


def faults(notebook: Path) -> Iterator[str]:
    """What is wrong with a notebook's open derivations."""
    cells = code_cells(notebook)
    for place, cell in enumerate(cells):
        held = functions_held(holding(cell["source"]))
        above = cells[place - 1]
        tags = above["metadata"].get("tags", ())
        if "open" in cell["metadata"].get("tags", ()) and held:
            yield f"{cell['id']} holds lines to a claim; that goes into the folded cell below"
        if held & functions_of(above["source"]) and "open" in tags and DERIVES not in tags:
            yield f"{above['id']} derives, and has no tag {DERIVES!r}"
    for cell, below in zip(cells, [*cells[1:], None], strict=True):
        if DERIVES in cell["metadata"].get("tags", ()):
            told = [*foreign(cell["source"]), *unheld(cell["source"], below), *alone(cell)]
            yield from (f"{cell['id']}: {line}" for line in told)


def functions_of(source: str) -> set[str]:
    """Names of the functions that a cell defines."""
    return {part.name for part in ast.walk(ast.parse(source)) if isinstance(part, ast.FunctionDef)}


def functions_held(source: str) -> set[str]:
    """Names of the functions that a cell holds to claims."""
    return {
        part.args[0].id
        for part in ast.walk(ast.parse(source))
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
        if part.func.attr == "derive" and part.args and isinstance(part.args[0], ast.Name)
    }  # fmt: skip


def foreign(source: str) -> Iterator[str]:
    """What a cell takes from elsewhere than SymPy, but for the book's symbols."""
    for part in ast.walk(ast.parse(source)):
        if isinstance(part, ast.Import | ast.ImportFrom):
            home = part.module if isinstance(part, ast.ImportFrom) else part.names[0].name
            names = {alias.name for alias in part.names}
            if home not in LIBRARIES or not names <= (LIBRARIES[home] or names):
                yield f"imports {', '.join(sorted(names))} from {home}"


def unheld(source: str, below: Cell | None) -> Iterator[str]:
    """A derivation that the next cell does not hold to a claim, or holds before all eyes."""
    if below is None or not functions_of(source) & functions_held(holding(below["source"])):
        yield "the cell below holds none of its functions to a claim"
    elif "hide-input" not in below["metadata"].get("tags", ()):
        yield "the cell below, which the checker alone needs, stands open"


def alone(cell: Cell) -> Iterator[str]:
    """How a cell fails in an empty notebook, or that it shows nothing at its end."""
    source = cell["source"]
    *lines, last = ast.parse(source).body
    name = f"alone/{cell['id']}"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(ast.Module(lines, []), name, "exec"), scope)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), name, "eval"), scope)
        else:
            exec(compile(ast.Module([last], []), name, "exec"), scope)
            shown = True if isinstance(last, ast.Assert) else None
    except Exception as error:  # whatever it is, the reader has met it
        yield f"alone it is a {type(error).__name__}: {error}"
    else:
        if shown is None:
            yield "ends without an assert or a result that is displayed"
    finally:
        del linecache.cache[name]


@pytest.mark.slow  # SymPy derives each
def test_every_open_derivation_runs_alone() -> None:
    found = {
        str(notebook.relative_to(ROOT)): told
        for notebook in ledger.notebooks(ROOT)
        if (told := [*faults(notebook)])
    }
    assert not found


def spoiled(change: Callable[[Cell, Cell], None], folder: Path) -> Path:
    """A copy of a notebook with its first derivation changed, or the cell below."""
    book = json.loads(SAMPLE.read_text(encoding="utf-8"))
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    place = next(n for n, c in enumerate(cells) if DERIVES in c["metadata"].get("tags", ()))
    change(cells[place], cells[place + 1])
    copy = folder / SAMPLE.name
    copy.write_text(json.dumps(book), encoding="utf-8")
    return copy


def without(words: str) -> Callable[[Cell, Cell], None]:
    """The derivation without the lines that have these words."""
    return lambda cell, _: cell.update(source=[x for x in cell["source"] if words not in x])


@pytest.mark.canary
@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (without("symbols("), "NameError: name"),
        (without("squared_length()"), "without an assert or a result"),
        (lambda cell, _: cell["source"].insert(0, "import torch\n"), "imports torch"),
        (lambda cell, _: cell["metadata"].update(tags=["open"]), "has no tag 'derives'"),
        (lambda _, below: below["metadata"].update(tags=["open"]), "into the folded cell below"),
        (lambda _, below: below.update(source="claim('LOSS-14')"), "holds none of its functions"),
    ],
    ids=["no symbols", "no end", "torch", "no tag", "open check", "no check"],
)  # fmt: skip
def test_a_derivation_that_needs_more_is_found(
    change: Callable[[Cell, Cell], None], finding: str, tmp_path: Path
) -> None:
    found = [*faults(spoiled(change, tmp_path))]
    assert any(finding in line for line in found), found
