"""Every dare of a page is taken up: a line is changed, and the cell says what was promised."""

from __future__ import annotations

import json
import linecache
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

from verified_transformer import ClaimFailed
from verified_transformer.engine.account.code.cells import names_of
from verified_transformer.engine.account.registry import contents
from verified_transformer.engine.commands.notebooks import cell_kinds

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


def needed(codes: list[str], last: int) -> list[str]:
    """The cells that one rests on by its names, and that one."""
    bound, used = zip(*map(names, codes[: last + 1]), strict=True)
    loads, found = used[last], [codes[last]]
    for n in reversed(range(last)):
        if bound[n] & loads:
            found.append(codes[n])
            loads = loads | used[n]
    return found[::-1]


def run(codes: list[str]) -> None:
    """Run cells one after the other as a notebook does; what they set in torch ends with them."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    kept = patch.dict(linecache.cache)
    with torch.random.fork_rng(), torch.set_grad_enabled(True), kept:
        for number, code in enumerate(codes):
            tree, name = cell_kinds.parsed(code), f"<dare {number}>"
            linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
            exec(compile(tree, name, "exec"), scope)


@pytest.mark.parametrize("dare", DARES, ids=[f"{d['notebook']}: {d['change'][1]}" for d in DARES])
def test_a_changed_line_says_what_the_page_promises(
    dare: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = dare["change"]
    prose = "\n".join(cell["source"] for cell in cells(dare["notebook"], "markdown"))
    assert f"`{old}`" in prose and f"`{new}`" in prose, "the page does not ask for this change"
    every = cells(dare["notebook"], "code")
    stand_open = [
        n for n, c in enumerate(every) if "hide-input" not in c["metadata"].get("tags", ())
    ]
    (index,) = [n for n in stand_open if old in every[n]["source"]]
    codes = [cell["source"] for cell in every]
    assert codes[index].count(old) == 1
    binds, uses = names(codes[index])
    taken = {name for code in codes[index + 1 :] for name in names(code)[0]} & (uses - binds)
    assert not taken, f"after a run of all cells these are something else: {sorted(taken)}"
    codes[index] = codes[index].replace(old, new)
    try:
        run(needed(codes, index))
    except (ClaimFailed, TypeError, ValueError) as error:
        assert dare["says"] in str(error)
    else:
        assert dare.get("prints") and dare["prints"] in capsys.readouterr().out
