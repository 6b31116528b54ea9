"""Notebooks in Colab: the branch that a page's rocket opens, whose notebooks install the package.

Notebooks of the repository install nothing: no file can hold its own commit's hash. `publish`
writes a branch whose notebooks begin with the line that installs the commit they came from. Address
and branch stand in ``_config.yml``, and nowhere else.

A notebook that reaches transformers or python-flint, by its own imports or by what those import,
installs the extra that has it as well.
"""

from __future__ import annotations

import ast
import json
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ...account.code.modules import Definition, Module, Package, library
from ...account.rendering.held_answers import fold_answers
from ...account.rendering.withheld_solutions import withheld
from ..git import git
from . import cell_kinds

# By the extra of the book's package that installs them, what notebooks may reach beside its own.
EXTRAS = {
    "balls": {"flint"},
    "models": {"transformers", "safetensors", "huggingface_hub", "tokenizers"},
}


def publish(root: Path, served: str | None = None, solutions: bool = True) -> str:
    """Write the branch that the rocket opens: the last commit, and notebooks that install it.

    What is not committed is not published; the working tree stays as it is, and nothing is pushed.
    The branch has one commit more than what it publishes, with the same author and date, so that
    one commit is always published as one and the same.

    Args:
        served: the address of the repository that publishes, where it is known.
        solutions: whether the notebooks have the solutions of their exercises.

    Raises:
        ValueError: another repository publishes than ``_config.yml`` names, the branch is the one
            that is checked out, or git fails.
    """
    config = yaml.safe_load(git(root, "show", "HEAD:_config.yml"))["repository"]
    url, branch = config["url"], config["branch"]
    if served and served != url:
        raise ValueError(
            f"served: got {served}, but notebooks would install from {url}; accepted: the address "
            "in _config.yml"
        )
    if branch == git(root, "rev-parse", "--abbrev-ref", "HEAD"):
        raise ValueError(f"branch: {branch} is checked out; accepted: another, in _config.yml")
    commit, *who = git(root, "log", "-1", "--format=%H%n%an%n%ae%n%aI").splitlines()
    project = tomllib.loads(git(root, "show", "HEAD:pyproject.toml"))["project"]["name"]
    listed = git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD", "notebooks").split("\0")
    names = [name for name in listed if name.endswith(".ipynb")]
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        git(root, "read-tree", "HEAD", **index)
        for name in names:
            text = git(root, "show", f"HEAD:{name}")
            book = json.loads(text if solutions else withheld(text))
            wanted = f"[{','.join(found)}]" if (found := extras(book)) else ""
            text = _installing(book, f"{project}{wanted} @ git+{url}@{commit}")
            blob = git(root, "hash-object", "-w", "--stdin", given=text)
            git(root, "update-index", "--cacheinfo", f"100644,{blob},{name}", **index)
        tree = git(root, "write-tree", **index)
    parts = ("NAME", "EMAIL", "DATE")
    signed = {f"GIT_{role}_{part}": said for role in ("AUTHOR", "COMMITTER")
              for part, said in zip(parts, who, strict=True)}  # fmt: skip
    message = f"Notebooks that install {commit}"
    made = git(root, "commit-tree", tree, "-p", commit, "-m", message, **signed)
    git(root, "update-ref", f"refs/heads/{branch}", made)
    return f"branch {branch}: {len(names)} notebooks that install {commit}"


def _installing(book: dict[str, Any], wanted: str) -> str:
    """A notebook's JSON, its first code cell beginning with the line that installs something.

    What a dare or a guess comes to is folded.
    """
    first = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
    title, *code = "".join(first["source"]).splitlines(keepends=True)
    first["source"] = [title, f'%pip install -q "{wanted}"\n', *code]
    for cell in book["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = fold_answers("".join(cell["source"])).splitlines(keepends=True)
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def extras(book: dict[str, Any]) -> list[str]:
    """Return the extras that a notebook reaches, itself or through a module that it imports."""
    reached = third_parties(imports(book))
    return [extra for extra, names in EXTRAS.items() if names & reached]


def third_parties(names: Iterable[str]) -> set[str]:
    """Return the packages of others that dotted names reach, through modules of ours as well.

    Args:
        names: such as ``verifiedbook.exact.laws``.
    """
    package, _ = _library()
    waiting, seen, found = [*names], set[Module](), set[str]()
    while waiting:
        definition, rest = _led_to(waiting.pop())
        if definition is None:
            found.add(rest[0])
            continue
        own = definition.module
        for module in {own, package.module(own.file.with_name("__init__.py"))} - seen:
            seen.add(module)
            waiting += _imported_by(module)
    return found


def imports(book: dict[str, Any]) -> list[str]:
    """Return what the cells of a notebook import, as dotted names."""
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    return [name for code in cells for name in _imports(cell_kinds.parsed(code), _library()[1])]


@cache
def _library() -> tuple[Package, Module]:
    package = library()
    return package, package.module(package.folder / "__init__.py")


@cache
def _led_to(dotted: str) -> tuple[Definition | None, list[str]]:
    package, face = _library()
    return package.named(dotted, face)


@cache
def _imported_by(module: Module) -> tuple[str, ...]:
    return tuple(_imports(module.tree, module))


def _imports(tree: ast.AST, module: Module) -> Iterator[str]:
    """Yield what a syntax tree imports, dotted, also by ``import_module``."""
    yield from (dotted for _, dotted in module.imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(a.value) for a in node.args if isinstance(a, ast.Constant))
