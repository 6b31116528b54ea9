"""Keys of what a notebook runs: of the lines behind one check, and of all its cells."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..hashing import hash_of
from .cells import Line
from .key import key_of
from .meaning import meaning
from .modules import Package, library

# what judges, and what states: they have tests of their own
_BY_NAME = tuple(f"engine/{wing}/" for wing in ("account", "checks", "commands", "exact"))


def how_made(lines: Sequence[Line]) -> str | None:
    """Return a key of how evidence was made, read and not run.

    The lines count by what they mean, so that a literal in one of them moves the key, and a comment
    or another name does not; what they use of the library by the key of its definition, which
    covers all that it reaches. By its name counts what judges and states (the engine but for
    `sampling`), and what is of another package.

    Args:
        lines: of the notebook, that made what a check was given (`cells.made_by`), its own
            among them.

    Returns:
        Eight hexadecimal digits; None outside a notebook, where there are no lines.

    Raises:
        CodeFault: a name of the library leads nowhere.
    """
    package = library()
    face = package.module(package.folder / "__init__.py")
    imports = dict(pair for line in lines for pair in face.imported(line.statement))
    bound = {name for line in lines for name in line.binds} - set(imports)
    numbers: dict[str, int] = {}

    def resolve(name: str, attributes: list[str]) -> Any:
        if name in bound:
            return ["line", numbers.setdefault(name, len(numbers)), *attributes]
        dotted = ".".join([imports.get(name, name), *attributes])
        definition, rest = package.named(dotted, face)
        if definition is None:
            return dotted
        if definition.module.label.startswith(_BY_NAME):
            return [definition.name, *rest]
        return [key_of(definition, package), *rest]

    found = [
        meaning([line.statement], line.binds | line.changes | line.loads, resolve)
        + [body for *_, body in line.within]
        for line in lines
    ]
    return hash_of(found) if found else None


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
