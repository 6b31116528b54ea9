"""Which files of the library something reaches: by name, from definition to definition.

A test or a notebook imports names; each leads through faces and their stubs to the statement that
defines it, that to others, and so on. What the engine defines ends the way: where it changes, all
runs. Annotations lead nowhere. Nothing is executed.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from verifiedbook.account.code.modules import ENGINE, CodeFault, Definition, Module, Package

# What finds modules by a text, or starts a process that does: it may reach anything.
BY_TEXT = re.compile(
    r"\bsubprocess\b|\bimportlib\b|\b(?:run|exec)_module\b|__import__|-m weightwise"
)


class _Names(ast.NodeVisitor):
    """The dotted names that are used, each whole."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            dotted, base = [base.attr, *dotted], base.value
        if isinstance(base, ast.Name):
            self.found.add(".".join([base.id, *dotted]))
        else:
            self.visit(base)

    def visit_Name(self, node: ast.Name) -> None:
        self.found.add(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        """Without its annotation."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)


def _used(nodes: Iterable[ast.AST]) -> set[str]:
    names = _Names()
    for node in nodes:
        names.visit(node)
    return names.found


@cache
def _named(definition: Definition, package: Package) -> list[Definition]:
    """The definitions that one names, and what runs when its module is imported."""
    module = definition.module
    statements = definition.statements
    here = dict(pair for statement in statements for pair in module.imported(statement))
    found = [*package.run_with(module)]
    if definition.name == "*":
        found += [other for _, other in package.every(module)]
    for dotted in _used(statements):
        name, _, attributes = dotted.partition(".")
        if name in module.bindings and name not in here:
            found.append(Definition(module, name))
        elif onward := (module.imports | here).get(name):
            found += _followed(onward, attributes, module, package)
    return found


def _followed(name: str, attributes: str, via: Module, package: Package) -> list[Definition]:
    """Where a name leads; a variable of the same name may be asked for what is not there."""
    dotted = f"{name}.{attributes}" if attributes else name
    try:
        target, _, through = package.followed(dotted, via)
    except CodeFault:
        if not attributes:
            raise
        return _followed(name, attributes.rpartition(".")[0], via, package)
    return [*through, target] if target else []


def files(trees: Iterable[ast.Module], package: Package) -> set[Path]:
    """Return the files that define what some programs reach.

    Raises:
        CodeFault: a name that one of them imports is not there.
    """
    home = package.module(package.folder / "__init__.py")
    waiting, seen = list[Definition](), set[Definition]()
    for tree in trees:
        imports = dict(home.imported(tree))
        for dotted in _used([tree]) | set(imports):
            name, _, attributes = dotted.partition(".")
            if onward := imports.get(name):
                waiting += _followed(onward, attributes, home, package)
    while waiting:
        definition = waiting.pop()
        if definition not in seen and definition.module.package != ENGINE:
            seen.add(definition)
            waiting += _named(definition, package)
    return {definition.module.file for definition in seen}


def program(notebook: Path) -> ast.Module:
    """The code of a notebook; its magic lines are left out."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return ast.parse(re.sub(r"(?m)^([ \t]*)[%!].*$", r"\1pass", text))


def with_helpers(test: Path, folders: Iterable[Path]) -> list[Path]:
    """A file of tests and the modules beside the tests that it imports, and that those do."""
    found = [test]
    for file in found:  # which grows
        for name in _imported(file):
            beside = (folder / f"{name}.py" for folder in (file.parent, *folders))
            found += [path for path in beside if path.is_file() and path not in found]
    return found


@cache
def _imported(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.replace(".", "/") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            base = node.module.replace(".", "/")
            found |= {base, *(f"{base}/{alias.name}" for alias in node.names)}
    return found


__all__ = ["BY_TEXT", "CodeFault", "files", "program", "with_helpers"]
