"""The first cell of every notebook: in Colab it installs the package, pinned to a tag.

A notebook that reaches transformers, by its own imports or by what those import, installs the
extra ``models`` as well.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PACKAGE = Path(__file__).parents[2]
EXTRA = {"transformers", "safetensors", "huggingface_hub", "tokenizers"}
_HEAD = re.compile(
    r"\A(?:try:\n    import verified_transformer.*\n.*\n    %pip install .*(?:\n|\Z))*"
)


def head(root: Path, notebook: Path) -> str:
    """Return the lines with which a notebook's first code cell must begin.

    Args:
        root: the repository, whose address stands in ``_config.yml`` and whose version in
            ``pyproject.toml``.
        notebook: path of the ``.ipynb`` file.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = "[models]" if needs_transformers(notebook) else ""
    source = f"git+{config['repository']['url']}@v{project['version']}"
    return (
        "try:\n    import verified_transformer  # noqa: F401\n"
        "except ImportError:  # in Colab, say\n"
        f'    %pip install -q "{project["name"]}{extra} @ {source}"\n'
    )


def with_head(code: str, head: str) -> str:
    """Return the code of a notebook's first cell with the head that it must have.

    Args:
        code: as it is; an older head is replaced.
        head: see `head`.
    """
    rest = _HEAD.sub("", code, count=1)
    return head + rest if rest else head.rstrip("\n")


def needs_transformers(notebook: Path) -> bool:
    """Whether a notebook reaches transformers, itself or through a module that it imports.

    Args:
        notebook: path of the ``.ipynb`` file.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    waiting = [name for cell in cells for name in _imports_of_cell(cell)]
    seen: set[Path] = set()
    while waiting:
        name = waiting.pop()
        if name.split(".")[0] in EXTRA:
            return True
        file = _file(name)
        if file and file not in seen:
            seen.add(file)
            waiting += _imports_of_file(file)
    return False


def _imports_of_cell(cell: dict[str, Any]) -> list[str]:
    if cell["cell_type"] != "code":
        return []
    code = re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", "".join(cell["source"]))
    return list(_imports(ast.parse(code), None))


@cache
def _imports_of_file(file: Path) -> tuple[str, ...]:
    return tuple(_imports(ast.parse(file.read_text(encoding="utf-8")), file))


def _imports(tree: ast.AST, file: Path | None) -> Iterator[str]:
    """Yield what a syntax tree imports, dotted, relative names made absolute."""
    home = file.relative_to(PACKAGE.parent).parent.parts if file else ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = home[: len(home) - node.level + 1] if node.level else ()
            module = ".".join([*start, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(a.value) for a in node.args if isinstance(a, ast.Constant))


@cache
def _file(name: str) -> Path | None:
    """The module of ours in which a dotted name is defined, or None."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return None
    path = PACKAGE
    for part in parts[1:]:
        if (path / f"{part}.py").exists():
            return path / f"{part}.py"
        if (path / part).is_dir():
            path = path / part
            continue
        stub = path / "__init__.pyi"  # the lazily loaded names of a folder
        for origin in _imports_of_file(stub) if stub.exists() else ():
            if origin.rpartition(".")[2] == part:
                return _file(origin)
    return path / "__init__.py" if (path / "__init__.py").exists() else None
