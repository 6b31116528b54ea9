"""A key of all that a notebook runs: its own cells, and what they reach of the library."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from ..hashing import hash_of
from .key import key_of
from .modules import Package


def notebook_key(notebook: Path, package: Package) -> str:
    """Return a key that changes when a notebook's cells do, or what they reach of the library.

    Comments and layout are free in cells; in the library all that `code.key` says is.

    Args:
        notebook: its file; nothing is executed.
        package: the library, which keeps what it has read, for the next notebook.

    Raises:
        CodeFault: a name that it imports from the library is not there.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    home = package.module(package.folder / "__init__.py")
    trees = [ast.parse(source) for source in sources]
    names = sorted({dotted for tree in trees for _, dotted in home.imported(tree)})
    found = {name: package.named(name, home)[0] for name in names}
    reached = {name: key_of(found[name], package) for name in names if found[name]}
    return hash_of(json.dumps([[ast.dump(tree) for tree in trees], reached]))
