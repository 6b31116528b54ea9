"""Rule 3: a predicate that draws is `sampled`, never `exact`; seen in the notebooks' own words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*/*.ipynb"))
_DRAWS = re.compile(r"generator\(|\brand(n|int|perm)?\(|\.normal_\(|dense_weights\(|randomised\(")
_EXACT = re.compile(r"\bcheck_that\(")


def drawn_as_exact(sources: Sequence[str]) -> list[str]:
    """Say which exact checks call a function of their notebook that draws.

    Args:
        sources: of the code cells.
    """
    found = re.findall(r"^(def (\w+)\(.*?)(?=^\S|\Z)", "\n\n".join(sources), re.S | re.M)
    bodies = {name: body for body, name in found}
    faults = []
    for source in sources:
        for start in _EXACT.finditer(source):
            call = source[start.start() : _end(source, start.end())]
            text, names = call, set(re.findall(r"\w+", call))
            for name in (todo := sorted(names & set(bodies))):
                text += bodies[name]
                todo += sorted(set(re.findall(r"\w+", bodies[name])) & set(bodies) - set(todo))
            if found := _DRAWS.search(text):
                faults.append(f"{' '.join(call.split())[:60]}… draws by {found.group()}…)")
    return faults


def _end(source: str, at: int) -> int:
    """Where the bracket ends that was opened before a place."""
    depth = 1
    while depth and at < len(source):
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return at


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_exact_check_draws(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert drawn_as_exact(sources) == [], "accepted: sampled_that, or all cases enumerated"


@pytest.mark.canary
@pytest.mark.parametrize(
    "helper",
    [
        'def rows():\n    return torch.randn(3, generator=generator("rows"))\n',
        "def rows():\n    return torch.rand(3)\n",
        "def rows():\n    return more()\n\n\ndef more():\n    return torch.randint(3, (2,))\n",
    ],
)
def test_an_exact_check_that_draws_is_found(helper: str) -> None:
    held = "def holds(turned):\n    return bool((turned(rows()) == 0).all())\n"
    cell = 'claim("LOSS-14").check_that(\n    "so", holds, on=rotated, not_on=lambda w: w,\n)'
    (fault,) = drawn_as_exact([helper, f"{held}\n\n{cell}"])
    assert fault.startswith('check_that( "so", holds, on=rotated') and " draws by " in fault


def test_an_exact_check_that_draws_nothing_is_left_alone() -> None:
    other = "def drawn():\n    return torch.rand(3)\n"
    assert (
        drawn_as_exact([other, 'claim("LOSS-14").check_that("so", bool, on=[1], not_on=[])']) == []
    )
