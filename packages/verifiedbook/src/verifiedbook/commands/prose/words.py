"""The words of the book as somebody last took them up: a signature, no proof.

A number or a formula has an owner that a machine asks. A word has none: no machine knows that
"smaller" should be "larger". So the lock keeps a hash of every file that readers see, and of what
was recorded. One that says
something else is red, its lines beside those of before, until ``lock`` takes it up.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...account.hashing import hash_of
from ...serving import LOCK, served
from ..git import git
from ..notebooks.comparing import beside

_TOLD = (ast.Module, ast.ClassDef, ast.FunctionDef)


def words(whole: str, suffix: str) -> str:
    """Return what a file says: of a module its docstrings, of a recording its parts.

    Of a notebook it is the source of each cell, and captions: what is drawn, and how finely a
    check looks, no other gate holds once all is run afresh.

    Args:
        whole: the file.
        suffix: of its name.
    """
    if suffix == ".py":
        nodes = (node for node in ast.walk(ast.parse(whole)) if isinstance(node, _TOLD))
        return "\n".join(filter(None, map(ast.get_docstring, nodes)))
    if suffix == ".json":
        return json.dumps(json.loads(whole)["parts"], indent=1)
    if suffix != ".ipynb":
        return whole
    parts = []
    for cell in json.loads(whole)["cells"]:
        captions = cell.get("metadata", {}).get("mystnb")
        parts.append("".join(cell["source"]))
        parts += [json.dumps(captions, ensure_ascii=False)] if captions else []
    return "\n".join(parts)


def hash_of_file(path: Path) -> str:
    """Return the hash of what a file says; how its lines break takes no part."""
    said = words(path.read_text(encoding="utf-8"), path.suffix)
    return hash_of(" ".join(said.split()), 16)


def said_otherwise(root: Path, name: str, locked: str | None) -> list[str]:
    """Say what a file says otherwise than when somebody took it up.

    Args:
        locked: its hash in the lock; None where nobody did.
    """
    path = root / name
    if locked is None:
        return [f"{name}: nobody took up what it says"]
    if hash_of_file(path) == locked:
        return []
    before = ""
    with suppress(ValueError):  # no commit, or none that has the file
        taken_up = git(root, "log", "-1", "--format=%H", "--", f"{served().place}/{LOCK}")
        before = git(root, "show", f"{taken_up}:./{name}")
    both = (words(text, path.suffix) if text else "" for text in (before, path.read_text("utf-8")))
    told = [f"{name}: {line}" for line in beside(*map(str.splitlines, both))] if before else []
    return told or [f"{name}: does not say what was taken up"]


def files(root: Path) -> list[str]:
    """Return the names of the files whose words are locked."""
    found = {path for pattern in served().words for path in root.glob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in found)


def renewed(root: Path, locked: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Take up every file as it stands.

    Returns:
        What the lock is to hold of each, and in words what was said otherwise before.
    """
    names = files(root)
    changed = [line for name in names for line in said_otherwise(root, name, locked.get(name))]
    return {name: hash_of_file(root / name) for name in names}, changed
