"""``pytest --nbval`` in a book: numbers in bands, and a cell that is not as stored speaks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

SOURCES = Path(__file__).parents[1] / "src"
PLUGIN = "verifiedbook.pytest_plugin"
SAYS = "LOSS-14 after 20 steps {}"
BANDS = {"bands": {"stdout": {"3": "2"}}}  # three units, of the number after 14 and 20
BOOK = '[tool.verifiedbook]\nclaims = "claims"\n'

pytestmark = pytest.mark.slow


def tried(folder: Path, settings: str, *cells: nbformat.NotebookNode) -> str:
    """What pytest prints of a notebook, in a folder with these settings."""
    (folder / "pyproject.toml").write_text(settings + "[tool.pytest.ini_options]\n", "utf-8")
    nbformat.write(new_notebook(cells=cells), folder / "a.ipynb")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-p", "no:cacheprovider", "--nbval"],
        cwd=folder, capture_output=True, encoding="utf-8", check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCES), "PYTEST_ADDOPTS": ""},
    )  # fmt: skip
    return run.stdout + run.stderr


def cell(said: str, stored: str, count: int, **metadata: object) -> nbformat.NotebookNode:
    """A cell that says something else than is stored."""
    outputs = [new_output("stream", name="stdout", text=SAYS.format(stored) + "\n")]
    code = f"print({SAYS.format(said)!r})"
    return new_code_cell(code, outputs=outputs, execution_count=count, metadata=metadata)


@pytest.mark.canary
def test_a_red_cell_speaks(tmp_path: Path) -> None:
    cells = cell("3.66", "3.60", 1), cell("3.66", "3.60", 2, **BANDS), new_code_cell("1 / 0")
    told = tried(tmp_path, BOOK, *cells)
    assert (
        "\nLOSS-14: not as stored\n  3.60 -> 3.66 in LOSS-14 after 20 steps 3.66\nto run: " in told
    )
    assert "  2.0 times its band: 3.60 -> 3.66, of ± 0.03 in LOSS-14 after 20 steps 3.66\n" in told
    ours = "python -m verifiedbook"
    assert f"to run: {ours} verify LOSS-14, or {ours} refresh a.ipynb" in told
    assert "\nLOSS-14\n" in told.partition("ZeroDivisionError")[0] and "3 failed" in told


def test_a_number_in_its_band_is_as_stored_in_a_book_alone(tmp_path: Path) -> None:
    moved = cell("3.62", "3.60", 1, **BANDS)
    assert "1 passed" in tried(tmp_path, BOOK, moved)
    told = tried(tmp_path, "", moved)
    assert "1 failed" in told and "not as stored" not in told
