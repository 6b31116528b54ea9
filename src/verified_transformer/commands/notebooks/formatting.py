"""`format-cells`: ruff on the code of the notebooks, outputs left as they are.

`ruff format x.ipynb` would write the whole file anew, floats in the records' metadata included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


def format_cells(notebooks: Sequence[Path], root: Path) -> int:
    """Format the code cells of notebooks and name those that changed."""
    with tempfile.TemporaryDirectory() as folder:
        bare = [Path(folder) / f"{number}.ipynb" for number in range(len(notebooks))]
        for path, copy in zip(notebooks, bare, strict=True):
            book = json.loads(path.read_text(encoding="utf-8"))
            for cell in book["cells"]:
                if cell["cell_type"] == "code":
                    cell["outputs"] = []
            copy.write_text(json.dumps(book), encoding="utf-8")
        settings = ["--config", str(root / "pyproject.toml"), "--no-cache", "--quiet"]
        ruff = [sys.executable, "-m", "ruff", "format", *settings, *map(str, bare)]
        status = subprocess.run(ruff, check=False).returncode
        if status == 0:
            for path, copy in zip(notebooks, bare, strict=True):
                if _take_sources(path, copy):
                    print(path.relative_to(root))
    return status


def _take_sources(path: Path, copy: Path) -> bool:
    book, formatted = (json.loads(file.read_text(encoding="utf-8")) for file in (path, copy))
    changed = False
    for cell, other in zip(book["cells"], formatted["cells"], strict=True):
        if cell["cell_type"] == "code" and "".join(cell["source"]) != "".join(other["source"]):
            cell["source"], changed = other["source"], True
    if changed:
        path.write_text(json.dumps(book, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return changed
