"""The stored notebooks: run to the end, compared in earnest, stating nothing that no claim owns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import notebook_gates as gates
import pytest

from verifiedbook.account import ledger

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ledger.notebooks(ROOT)


@pytest.mark.parametrize("gate", gates.GATES, ids=lambda gate: gate.__name__)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_passes(notebook: Path, gate: Callable[[Path], list[str]]) -> None:
    assert gate(notebook) == []


@pytest.mark.parametrize("gate", gates.PROSE_GATES, ids=lambda gate: gate.__name__)
@pytest.mark.parametrize("page", sorted((ROOT / "book").glob("*.md")), ids=lambda path: path.stem)
def test_page_passes(page: Path, gate: Callable[[Path], list[str]]) -> None:
    assert gate(page) == []


def test_every_notebook_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    for notebook in NOTEBOOKS:
        assert f"notebooks/{notebook.parent.name}/{notebook.stem}" in contents
