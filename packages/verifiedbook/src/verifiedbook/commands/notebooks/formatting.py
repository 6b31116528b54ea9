"""`format-cells`: ruff on the code of the notebooks, outputs left as they are.

`ruff format x.ipynb` would write the whole file anew, floats in the records' metadata included.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ...writing import write_whole


def format_cells(notebooks: Sequence[Path], root: Path) -> int:
    """Format the code cells of notebooks and name those that changed."""
    settings = ["--config", str(root / "pyproject.toml"), "--no-cache", "--quiet"]
    settings += ["--stdin-filename", "cells.ipynb", "-"]
    status = 0
    for path in notebooks:
        book = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        bare = {**book, "cells": [{**cell, "outputs": []} for cell in code]}
        done = subprocess.run(
            [sys.executable, "-m", "ruff", "format", *settings], input=json.dumps(bare),
            stdout=subprocess.PIPE, encoding="utf-8", check=False,
        )  # fmt: skip
        status |= done.returncode
        formatted = json.loads(done.stdout)["cells"] if not done.returncode else code
        new = [cell["source"] for cell in formatted]
        if ["".join(cell["source"]) for cell in code] == list(map("".join, new)):
            continue
        for cell, source in zip(code, new, strict=True):
            if "".join(cell["source"]) != "".join(source):
                cell["source"] = source
        write_whole(path, json.dumps(book, ensure_ascii=False, indent=1) + "\n")
        print(path.relative_to(root))
    return status
