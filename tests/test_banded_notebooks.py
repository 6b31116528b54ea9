"""A cell that is not as stored says which claim, what moved and how far, and what to run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

ROOT = Path(__file__).parent.parent
COMMAND = (
    sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider",
    "--nbval", "--nbval-sanitize-with=nbval_sanitize.cfg",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.canary
def test_a_red_cell_speaks() -> None:
    code = "print('LOSS-14', 'after 20 steps', 3.66)"
    stored = [new_output("stream", name="stdout", text="LOSS-14 after 20 steps 3.60\n")]
    band = {"bands": {"stdout": {"3": "2"}}}  # of the number after 14 and 20
    cells = [
        new_code_cell(code, outputs=stored, execution_count=1),
        new_code_cell(code, outputs=stored, execution_count=2, metadata=band),
        new_code_cell("1 / 0", execution_count=3),
    ]
    with tempfile.TemporaryDirectory(dir=ROOT / "_build") as folder:
        notebook = Path(folder) / "a.ipynb"
        nbformat.write(new_notebook(cells=cells), notebook)
        told = subprocess.run(
            [*COMMAND, notebook], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
        ).stdout
    assert (
        "\nLOSS-14: not as stored\n  3.60 -> 3.66 in LOSS-14 after 20 steps 3.66\nto run: " in told
    )
    assert "  2.0 times its band: 3.60 -> 3.66, of ± 0.03 in LOSS-14 after 20 steps 3.66\n" in told
    assert "to run: make verify CLAIM=LOSS-14, or make refresh NOTEBOOK=_build/" in told
    assert "\nLOSS-14\n" in told.partition("ZeroDivisionError")[0] and "3 failed" in told
