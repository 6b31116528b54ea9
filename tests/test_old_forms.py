"""Forms that notebooks still use and that are on their way out; their number may only fall.

`experiment` takes two arms and subtracts itself. A notebook that subtracts, and gives the
difference, could as well add: nothing sees it. When a notebook has moved, its row goes.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
DIFFERENCES: dict[str, int] = {}


def differences(notebook: Path) -> int:
    """How many experiments of a notebook are given as a difference, not as two arms."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    calls = [
        node
        for source in sources
        if ".experiment(" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr == "experiment"
    ]
    given = [{keyword.arg for keyword in call.keywords} for call in calls]
    return sum(not {"arms", None} & names for names in given)  # None: **leg, which has its arms


def test_no_further_experiment_is_given_as_a_difference() -> None:
    found = {
        path.relative_to(NOTEBOOKS).as_posix(): differences(path)
        for path in sorted(NOTEBOOKS.glob("*/*.ipynb"))
    }
    more = {name: n for name, n in found.items() if n > DIFFERENCES.get(name, 0)}
    assert more == {}, "give arms, and let the library subtract"


@pytest.mark.canary
def test_a_difference_is_found(tmp_path: Path) -> None:
    code = [
        "c.experiment(by_seed(a - b), predicts='positive', unit='x')",
        "c.experiment(arms={'a': a, 'b': b}, compares=('a', 'b'), predicts='positive', unit='x')",
    ]
    cells = [{"cell_type": "code", "source": [source]} for source in code]
    (tmp_path / "x.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert differences(tmp_path / "x.ipynb") == 1
